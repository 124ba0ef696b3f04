package providertest

import (
	"encoding/json"
	"errors"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestWhatMayComeOfAMutationOfABatch(t *testing.T) {
	t.Parallel()
	of := func(id string, followers int64) outcome {
		return outcome{item: &schema.Profile{Common: schema.Common{ID: id}, Followers: &followers}}
	}
	b := &together{suite: Suite{Drift: &Drift{Absent: []string{"errors"}}}, keys: []string{"a", "b", "none"}}
	want := map[string]outcome{"a": of("1", 5), "b": of("2", 6), "none": {absent: true}}
	with := func(key string, o outcome) map[string]outcome {
		out := map[string]outcome{"a": want["a"], "b": want["b"], "none": want["none"]}
		out[key] = o
		return out
	}
	broken := providers.Unavailable(nil, "no")
	tests := []struct {
		name string
		m    mutation
		got  map[string]outcome
		err  error
		ok   bool
	}{
		{"nothing", mutation{}, want, nil, true},
		{"a key is left open", mutation{row: true}, with("a", outcome{}), nil, true},
		{"an absent one too", mutation{row: true}, with("none", outcome{}), nil, true},
		{"two keys are lost with a row", mutation{row: true}, map[string]outcome{"none": {absent: true}}, nil, false},
		{"all keys are lost with the list", mutation{}, map[string]outcome{}, nil, true},
		{"one row fails all", mutation{row: true}, nil, broken, false},
		{"the answer fails", mutation{}, nil, broken, true},
		{"the answer says that there is nothing", mutation{}, nil, providers.ErrNotFound, false},
		{"a key is said to be absent", mutation{row: true}, with("a", outcome{absent: true}), nil, false},
		{"in the upstream's own word", mutation{path: "errors", gone: true}, with("a", outcome{absent: true}), nil, true},
		{"an absent key is there", mutation{}, with("none", of("3", 1)), nil, false},
		{"another number", mutation{}, with("a", of("1", 7)), nil, false},
		{"another's object", mutation{}, with("a", want["b"]), nil, false},
		{"a panic", mutation{}, nil, errors.New("panic: x"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := b.judge(tt.m, want, tt.got, tt.err); (err == nil) != tt.ok {
				t.Errorf("got error %v", err)
			}
		})
	}
}

func TestRowsAreMixed(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(mixed(doc(t, `{"rows":[{"id":1,"in":[{"n":1},{"n":2}]},{"id":2}],"words":["a","b"],"none":[]}`)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"none":[],"rows":[{"id":2},{"id":2},{"id":1,"in":[{"n":1},{"n":2}]},{"id":1,"in":[{"n":1},{"n":2}]}],"words":["a","b"]}`
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("mixed (-want +got):\n%s", diff)
	}
}
