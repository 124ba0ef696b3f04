package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
)

func doc(t *testing.T, s string) any {
	t.Helper()
	v, ok := parse([]byte(s))
	if !ok {
		t.Fatalf("%s is no document", s)
	}
	return v
}

func TestEveryPlaceIsChangedInEveryWay(t *testing.T) {
	t.Parallel()
	all := mutations(doc(t, `{"items":[{"id":"1","n":3},{"id":"2"}],"next":"x"}`), "", true)
	var made []string
	for _, m := range all {
		b, err := json.Marshal(m.doc)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, m.path+" "+m.kind+" "+string(b))
		if row := strings.HasPrefix(m.path, "items[]"); row != m.row {
			t.Errorf("%s: in a row is %v", m.path, m.row)
		}
	}
	for _, want := range []string{
		`$ null null`,
		`items removed {"next":"x"}`,
		`items a string {"items":"driftwood","next":"x"}`,
		`items[] null {"items":[null,{"id":"2"}],"next":"x"}`,
		`items[].id renamed {"items":[{"id_v2":"1","n":3},{"id":"2"}],"next":"x"}`,
		`items[].n negative {"items":[{"id":"1","n":-3},{"id":"2"}],"next":"x"}`,
		`items[].id an object {"items":[{"id":"1","n":3},{"id":{"drift":"driftwood"}}],"next":"x"}`,
	} {
		if !slices.Contains(made, want) {
			t.Errorf("%s is missing from\n%s", want, strings.Join(made, "\n"))
		}
	}
	if few := mutations(doc(t, `{"items":[{"id":"1","n":3},{"id":"2"}],"next":"x"}`), "", false); len(few) >= len(all) {
		t.Errorf("a few are %d, all are %d", len(few), len(all))
	}
}

func TestATupleIsNoListOfRows(t *testing.T) {
	t.Parallel()
	for _, m := range mutations(doc(t, `["tea",[["tea",0],["tea cup",0]],{"k":1}]`), "", true) {
		if row := strings.HasPrefix(m.path, "[][]"); row != m.row {
			t.Errorf("%s: in a row is %v", m.path, m.row)
		}
	}
	for _, m := range mutations(doc(t, `[{"rows":[{"id":1},{"id":2}]},{"rows":[]}]`), "", true, "$") {
		if row := strings.HasPrefix(m.path, "[].rows[]"); row != m.row {
			t.Errorf("%s: in a row is %v", m.path, m.row)
		}
	}
	for _, m := range mutations(doc(t, `[null,{"id":1},{"id":2}]`), "", true) {
		if row := m.path != "$"; row != m.row {
			t.Errorf("%s: in a row is %v", m.path, m.row)
		}
	}
}

func TestWhatAnAnswerMayHaveLess(t *testing.T) {
	t.Parallel()
	const want = `{"id":"1","likes":5,"views":null,"live":true,"verified":true,"at":"2026-01-02T00:00:00Z","tags":["a","b"],"by":{"name":"ann"}}`
	tests := []struct {
		name, got string
		ok        bool
	}{
		{"the same", want, true},
		{"no likes", `{"id":"1","likes":null}`, true},
		{"another name", `{"by":{"name":"unknown"}}`, true},
		{"a tag less", `{"tags":["b"]}`, true},
		{"no longer verified", `{"verified":false}`, true},
		{"a zero", `{"likes":0}`, false},
		{"another number", `{"likes":6}`, false},
		{"a number that was not there", `{"views":0}`, false},
		{"off air", `{"live":false}`, false},
		{"a tag more", `{"tags":["a","b","c"]}`, false},
		{"the year 1970", `{"at":"1970-01-01T00:00:00Z"}`, false},
		{"rubbish", `{"by":{"name":"driftwood"}}`, false},
		{"another kind", `{"by":[]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := less("", doc(t, want), doc(t, tt.got), false); (err == nil) != tt.ok {
				t.Errorf("got error %v", err)
			}
		})
	}
}

func TestWhatMayComeOfAMutation(t *testing.T) {
	t.Parallel()
	row := func(id string) any { return map[string]any{"id": id, "n": json.Number(id)} }
	d := &drifting{
		suite: Suite{Drift: &Drift{Absent: []string{"next", "{}"}, Scores: []string{"rows[].n"}, Trees: []string{"rows[].tree"}}}, call: Call{list: true},
		want: [][]any{{row("1"), row("2"), row("3")}},
	}
	broken := providers.Unavailable(nil, "no")
	tests := []struct {
		name string
		m    mutation
		got  [][]any
		err  error
		ok   bool
	}{
		{"nothing", mutation{}, d.want, nil, true},
		{"a row less", mutation{row: true}, [][]any{{row("1"), row("3")}}, nil, true},
		{"a failure", mutation{}, nil, broken, true},
		{"a failure for one row", mutation{row: true}, nil, broken, false},
		{"two rows less", mutation{row: true}, [][]any{{row("1")}}, nil, false},
		{"two rows less, that hang together", mutation{row: true, path: "rows[].tree"}, [][]any{{row("3")}}, nil, true},
		{"everything less, that hangs together", mutation{path: "rows[].tree"}, [][]any{{}}, nil, false},
		{"an empty page", mutation{}, [][]any{{}}, nil, false},
		{"not found, said with an empty object", mutation{path: "$", kind: emptied}, nil, providers.ErrNotFound, true},
		{"not found, because of another object", mutation{path: "$", kind: "a message"}, nil, providers.ErrNotFound, false},
		{"no page", mutation{}, nil, nil, false},
		{"not found", mutation{path: "$", gone: true}, nil, providers.ErrNotFound, false},
		{"not found, in the upstream's own word", mutation{path: "next", gone: true}, nil, providers.ErrNotFound, true},
		{"an end, in the upstream's own word", mutation{path: "next", gone: true}, nil, nil, true},
		{"an end, by a word of another kind", mutation{path: "next"}, nil, nil, false},
		{"any other error", mutation{}, nil, context.Canceled, false},
		{"a panic", mutation{}, nil, errors.New("panic: x"), false},
		{"a zero", mutation{kind: "negative"}, [][]any{{map[string]any{"id": "1", "n": json.Number("0")}, row("2"), row("3")}}, nil, false},
		{
			"a zero of a score",
			mutation{kind: "negative", path: "rows[].n"},
			[][]any{{map[string]any{"id": "1", "n": json.Number("0")}, row("2"), row("3")}},
			nil, true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := d.judge(tt.m, tt.got, tt.err); (err == nil) != tt.ok {
				t.Errorf("got error %v", err)
			}
		})
	}
}

func TestAnotherIdStandsInEveryPlaceOfTheFirst(t *testing.T) {
	t.Parallel()
	got, found := another(doc(t, `{"id":7,"x":{"id":"7","name":"Ann"},"n":8}`), "7")
	b, _ := json.Marshal(got)
	if !found || string(b) != `{"id":8,"n":8,"x":{"id":"8","name":"Ann"}}` {
		t.Errorf("got %s", b)
	}
}

func TestDocumentsOfAPage(t *testing.T) {
	t.Parallel()
	page := []byte(`<html><script>var x = 1</script><script type="application/json">{"a":[1]}</script><p>{"b":2}</p>`)
	docs := documents(page)
	if len(docs) != 1 || string(page[docs[0].from:docs[0].to]) != `{"a":[1]}` {
		t.Fatalf("got %v", docs)
	}
	if got := string(docs[0].with(page, nil)); !strings.Contains(got, `json">null</script>`) {
		t.Errorf("got %s", got)
	}
}
