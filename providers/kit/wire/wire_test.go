package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

type row struct {
	ID    wire.ID    `json:"id"`
	Name  string     `json:"name"`
	Likes wire.Count `json:"likes"`
	At    wire.Time  `json:"at"`
	Owner *row       `json:"owner"`
	Stats struct {
		Views wire.Count        `json:"views"`
		Tags  []string          `json:"tags"`
		Words map[string]string `json:"words"`
	} `json:"stats"`
	Replies wire.Rows[row] `json:"replies"`
}

type answer struct {
	Kind  string         `json:"kind"`
	Items wire.Rows[row] `json:"items"`
}

// decode decodes body into dst and returns what the trace was told: paths, with an x after those of rows left out.
func decode(t *testing.T, body string, dst any) (told []string, err error) {
	t.Helper()
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(d callctx.Drift) {
		s := strings.Join(d.Paths, " ")
		if d.LeftOut {
			s += " x"
		}
		told = append(told, s)
	}})
	err = wire.Decode(ctx, []byte(body), dst)
	return told, err
}

func TestPickReadsOnlyTheMembersOfItsStruct(t *testing.T) {
	t.Parallel()
	type refusal struct {
		Message string `json:"message"`
		Code    *int   `json:"code"`
	}
	for in, want := range map[string]refusal{
		`{}`: {},
		` {"items":[{"message":"\"}"}], "message":"no", "code" : 7 } `: {Message: "no", Code: new(7)},
		`{"other":{"code":1},"code":null}`:                             {},
	} {
		var got refusal
		if err := wire.Pick([]byte(in), &got); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	for _, in := range []string{``, `[]`, `null`, `{"message":"no"`, `{"message":7}`, `{"message":"no"}}`, `<html>`} {
		if err := wire.Pick([]byte(in), new(refusal)); err == nil {
			t.Errorf("%s was read", in)
		}
	}
}

func TestOneOddRowCostsOneRow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		items string
		names string
		told  []string
	}{
		{"all is well", `[{"name":"a","likes":1},{"name":"b"}]`, "a b", nil},
		{"a row of another kind", `[{"name":"a"},"x",{"name":"b"}]`, "a b", []string{"items[] x"}},
		{"a null row", `[null,{"name":"b"}]`, "b", []string{"items[] x"}},
		{"a field of another kind", `[{"name":5},{"name":"b"}]`, " b", []string{"items[].name"}},
		{"a count of another kind", `[{"name":"a","likes":{}},{"name":"b","likes":-3}]`, "a b", []string{"items[].likes", "items[].likes"}},
		{"a struct of another kind", `[{"name":"a","stats":"x"}]`, "a", []string{"items[].stats"}},
		{"within a struct", `[{"name":"a","stats":{"views":[]}}]`, "a", []string{"items[].stats.views"}},
		{"within a list of a struct", `[{"name":"a","stats":{"tags":[1]}}]`, "a", []string{"items[].stats.tags"}},
		{"within a map of a struct", `[{"name":"a","stats":{"words":{"an.upstream's key":1}}}]`, "a", []string{"items[].stats.words"}},
		{"a field with another case", `[{"name":"a","STATS":{"Tags":7}}]`, "a", []string{"items[].stats.tags"}},
		{"a pointer of another kind", `[{"name":"a","owner":"x"}]`, "a", []string{"items[].owner"}},
		{"within rows of rows", `[{"name":"a","replies":[{"likes":"x"},7]}]`, "a", []string{"items[].replies[] x", "items[].replies[].likes"}},
		{"brackets and quotes in text", `[ {"name":"]},\"[{\\"} , {"name":"b"} ]`, `]},"[{\ b`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a answer
			told, err := decode(t, `{"kind":"k","items":`+tt.items+`,"more":1}`, &a)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, o := range a.Items.All() {
				names = append(names, o.V.Name)
				if o.V.Owner != nil {
					t.Error("a pointer to what could not be decoded is not nil")
				}
			}
			if got := strings.Join(names, " "); got != tt.names {
				t.Errorf("rows %q, want %q", got, tt.names)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

type Promoted struct {
	Items wire.Rows[row] `json:"items"`
	Count int            `json:"count"`
}

// itself decodes itself.
type itself struct {
	Items wire.Rows[row] `json:"items"`
	JSON  string         `json:"-"`
}

func (i *itself) UnmarshalJSON(b []byte) error {
	i.JSON = string(b)
	return nil
}

func TestFieldsAreFoundAsInEncodingJSON(t *testing.T) {
	t.Parallel()
	var shadowed struct {
		Promoted

		Items []string `json:"items"`
	}
	if told, err := decode(t, `{"items":["a"],"count":1}`, &shadowed); err != nil || told != nil || len(shadowed.Items) != 1 ||
		shadowed.Count != 1 || shadowed.Promoted.Items.Here() {
		t.Errorf("a list around a promoted one: %+v, told %v: %v", shadowed, told, err)
	}
	var embedded struct {
		*Promoted

		COUNT string `json:"COUNT"`
		Next  string `json:"next.page"`
	}
	if told, err := decode(t, `{"count":"x","COUNT":"y"}`, &embedded); err != nil || embedded.COUNT != "y" ||
		!slices.Equal(told, []string{"count"}) {
		t.Errorf("a count of another kind, in an embedded struct: %+v, told %v: %v", embedded, told, err)
	}
	if told, err := decode(t, `{"next.page":7}`, &embedded); err != nil || !slices.Equal(told, []string{"?"}) {
		t.Errorf("a name with a dot: told %v: %v", told, err)
	}
	var own itself
	if _, err := decode(t, `{"items":[1]}`, &own); err != nil || own.JSON != `{"items":[1]}` {
		t.Errorf("what decodes itself got %q: %v", own.JSON, err)
	}
	for _, dst := range []any{new([]string), new(map[string]int), new(struct{})} {
		if _, err := decode(t, `7`, dst); err == nil {
			t.Errorf("a number was decoded into %T", dst)
		}
	}
}

func TestAListMustBeThere(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		ok         bool
		detail     string
	}{
		{"rows", `{"items":[{"id":1}]}`, true, ""},
		{"no rows", `{"items":[]}`, true, ""},
		{"no list", `{}`, false, "lacks items"},
		{"null", `{"items":null}`, false, "lacks items"},
		{"another kind", `{"items":{"id":1}}`, false, "lacks items"},
		{"an error object", `{"error":{"message":"x"}}`, false, "lacks items"},
		{"no row that can be read", `{"items":[1,"x"]}`, false, "no row of items"},
		{"a row that does not belong beside an odd one", `{"items":[{"id":"ad"},"x"]}`, false, "no row of items"},
		{"rows that do not belong", `{"items":[{"id":"ad"}]}`, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a answer
			if _, err := decode(t, tt.body, &a); err != nil {
				t.Fatal(err)
			}
			_, err := wire.Items(t.Context(), "items", a.Items, func(r row, _ json.RawMessage) (string, bool) {
				return string(r.ID), r.ID != "ad"
			})
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, providers.ErrUnavailable) {
				t.Fatalf("got error %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.detail) {
				t.Errorf("%v does not say %q", err, tt.detail)
			}
		})
	}
}

func TestOptionalListsMayBeAbsentButOfNoOtherKind(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{`{}`: true, `{"items":null}`: true, `{"items":[]}`: true, `{"items":"x"}`: false, `{"items":[7]}`: false} {
		var a answer
		var n struct {
			Items wire.Numbers `json:"items"`
		}
		if _, err := decode(t, body, &a); err != nil {
			t.Fatal(err)
		}
		if err := a.Items.Optional(t.Context(), "items"); (err == nil) != ok {
			t.Errorf("%s: got error %v", body, err)
		}
		body = strings.ReplaceAll(body, "7", `"x"`)
		if _, err := decode(t, body, &n); err != nil {
			t.Fatal(err)
		}
		if err := n.Items.Optional(t.Context(), "items"); (err == nil) != ok {
			t.Errorf("numbers of %s: got error %v", body, err)
		}
	}
}

func TestAnAnswerMustBeOfItsKind(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{", "null", "7", `"x"`, "[]", "<html>", "{}x"} {
		for name, dst := range map[string]any{"struct": &answer{}, "object": &wire.Object[answer]{}} {
			if _, err := decode(t, body, dst); !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%q into a %s: got error %v, want ErrUnavailable", body, name, err)
			}
		}
		if body != "[]" {
			for name, dst := range map[string]any{"rows": &wire.Rows[row]{}, "numbers": &wire.Numbers{}} {
				if _, err := decode(t, body, dst); !errors.Is(err, providers.ErrUnavailable) {
					t.Errorf("%q into %s: got error %v, want ErrUnavailable", body, name, err)
				}
			}
		}
	}
	var o wire.Object[*row]
	if _, err := decode(t, " null ", &o); err != nil || o.V != nil {
		t.Errorf("null into a pointer: %v, %v", o.V, err)
	}
}

func TestRawIsUntouched(t *testing.T) {
	t.Parallel()
	var a answer
	if _, err := decode(t, `{"items":[ {"id": 1.0, "x":"é"} ,{"id":2}]}`, &a); err != nil {
		t.Fatal(err)
	}
	var raw []string
	for _, o := range a.Items.All() {
		raw = append(raw, string(o.Raw))
	}
	if diff := cmp.Diff([]string{`{"id": 1.0, "x":"é"}`, `{"id":2}`}, raw); diff != "" {
		t.Errorf("raw (-want +got):\n%s", diff)
	}
}

func TestTheElementsOfAList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		n        int
		want     []string
	}{
		{"all", ` [1, "a,]" ,{"b":[2,3]},[ ],null] `, 9, []string{"1", `"a,]"`, `{"b":[2,3]}`, "[ ]", "null"}},
		{"the first", `[1,2,3]`, 2, []string{"1", "2"}},
		{"none", ` [ ] `, 2, nil},
		{"an object", `{"a":[1]}`, 2, nil},
		{"a text", `"[1]"`, 2, nil},
		{"nothing", ``, 2, nil},
		{"no end", `[1,[2`, 2, []string{"1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, element := range wire.First([]byte(tt.in), tt.n) {
				got = append(got, string(element))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("First (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatStandsBesidePartsIsKept decodes fields around a list that exceed their initial capacity.
func TestWhatStandsBesidePartsIsKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	var got struct {
		A, B, C string
		Rows    wire.Rows[row] `json:"rows"`
	}
	in := `{"a":"` + long + `1", "rows": [{"id":"1"}] , "b" : "` + long + `2","unknown":["` + long + `"],"c":"3"}`
	if err := wire.Decode(t.Context(), []byte(in), &got); err != nil || got.A != long+"1" || got.B != long+"2" || got.C != "3" || got.Rows.Len() != 1 {
		t.Errorf("Decode = %v, and %d bytes, %d bytes, %q, %d rows", err, len(got.A), len(got.B), got.C, got.Rows.Len())
	}
}

func TestRowsKnowTheirPlace(t *testing.T) {
	t.Parallel()
	var rows wire.Rows[struct {
		N wire.Count `json:"n"`
	}]
	if err := wire.Decode(t.Context(), []byte(`[{"n":0},null,{"n":2},"x",{"n":4}]`), &rows); err != nil {
		t.Fatal(err)
	}
	for place, row := range rows.All() {
		if row.V.N.V == nil || *row.V.N.V != int64(place) {
			t.Errorf("row %s has place %d", row.Raw, place)
		}
	}
}

func TestNullIsNotOdd(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{}`: false, `{"o":null,"r":null}`: false, `{"o":{},"r":[]}`: false, `{"o":{"n":"x"},"r":[null]}`: false,
		`{"o":"x","r":"x"}`: true, `{"o":[],"r":{}}`: true, `{"o":7,"r":7}`: true,
	} {
		var v struct {
			O wire.Object[struct {
				N wire.Count `json:"n"`
			}] `json:"o"`
			R wire.Rows[struct{}] `json:"r"`
		}
		if err := wire.Decode(t.Context(), []byte(body), &v); err != nil {
			t.Fatal(err)
		}
		if v.O.Odd() != want || v.R.Odd() != want {
			t.Errorf("%s: odd is %v and %v, want %v", body, v.O.Odd(), v.R.Odd(), want)
		}
	}
}

func TestATokenIsNeverLost(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`: "", `{"next":null}`: "", `{"next":""}`: "", `{"next":"CAUQAA"}`: "CAUQAA", `{"next":12}`: "12",
	} {
		got, err := token(t, body)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", body, got, err, want)
		}
	}
	for _, body := range []string{`{"next":{}}`, `{"next":["x"]}`, `{"next":true}`} {
		if got, err := token(t, body); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got %q, %v, want ErrUnavailable", body, got, err)
		}
	}
}

func token(t *testing.T, body string) (string, error) {
	t.Helper()
	var page struct {
		Next wire.Token `json:"next"`
	}
	if err := wire.Decode(t.Context(), []byte(body), &page); err != nil {
		t.Fatal(err)
	}
	return page.Next.Next(t.Context(), "next")
}

func TestAbsentIsNotUnreadable(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{}`: true, `{"price":null}`: true, `{"price":""}`: true, `{"price":0}`: false, `{"price":"free"}`: false, `{"price":{}}`: false,
	} {
		var v struct {
			Price wire.Float `json:"price"`
		}
		if err := wire.Decode(t.Context(), []byte(body), &v); err != nil || v.Price.Absent() != want {
			t.Errorf("%s: absent is %v, %v, want %v", body, v.Price.Absent(), err, want)
		}
	}
}

func TestAnObjectMayBeLeftOutAndNothingElse(t *testing.T) {
	t.Parallel()
	type page struct {
		Next string `json:"next"`
	}
	for body, want := range map[string]struct{ here, optional bool }{
		`{}`: {false, true}, `{"albums":null}`: {false, true}, `{"albums":{}}`: {true, true},
		`{"albums":"x"}`: {false, false}, `{"albums":[]}`: {false, false}, `{"albums":7}`: {false, false},
	} {
		var v struct {
			Albums wire.Object[page] `json:"albums"`
		}
		if err := wire.Decode(t.Context(), []byte(body), &v); err != nil {
			t.Fatal(err)
		}
		err := v.Albums.Optional(t.Context(), "albums")
		if v.Albums.Here() != want.here || (err == nil) != want.optional {
			t.Errorf("%s: here is %v, %v, want %+v", body, v.Albums.Here(), err, want)
		}
	}
}

func TestSecondsAreNotNegative(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]float64{`83720`: 83.72, `"1500"`: 1.5, `0`: 0, `-1`: -1, `null`: -1, `"x"`: -1} {
		var v struct {
			MS wire.Float `json:"ms"`
		}
		if err := wire.Decode(t.Context(), []byte(`{"ms":`+body+`}`), &v); err != nil {
			t.Fatal(err)
		}
		if got := v.MS.Seconds(); (got == nil) != (want < 0) || got != nil && *got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

func TestScalars(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	tests := []struct {
		in     string
		count  *int64
		score  *int64
		id     wire.ID
		serial wire.Serial
		at     *time.Time
	}{
		{in: `12`, count: new(int64(12)), score: new(int64(12)), id: "12", serial: "12"},
		{in: `12.0`, count: new(int64(12)), score: new(int64(12))},
		{in: `1.2e3`, count: new(int64(1200)), score: new(int64(1200))},
		{in: `"12"`, count: new(int64(12)), score: new(int64(12)), id: "12", serial: "12"},
		{in: `" 12 "`, count: new(int64(12)), score: new(int64(12)), id: "12", serial: "12"},
		{in: `0`, count: new(int64(0)), score: new(int64(0))},
		{in: `"0"`, count: new(int64(0)), score: new(int64(0))},
		{in: `-3`, score: new(int64(0))},
		{in: `"-3"`, score: new(int64(0))},
		{in: `12.5`},
		{in: `1e400`},
		{in: `"abc"`, id: "abc"},
		{in: `""`},
		{in: `null`},
		{in: `true`},
		{in: `{}`},
		{in: `[1]`},
		{in: `"2026-03-04T05:06:07Z"`, id: "2026-03-04T05:06:07Z", at: &day},
		{in: `"2026-03-04T07:06:07.000+0200"`, id: "2026-03-04T07:06:07.000+0200", at: &day},
		{in: `"Wed Mar 04 05:06:07 +0000 2026"`, id: "Wed Mar 04 05:06:07 +0000 2026", at: &day},
		{in: `"0001-01-01T00:00:00Z"`, id: "0001-01-01T00:00:00Z"},
		{in: `1772600767`, count: new(int64(1772600767)), score: new(int64(1772600767)), id: "1772600767", serial: "1772600767", at: &day},
		{in: `"1772600767000"`, count: new(int64(1772600767000)), score: new(int64(1772600767000)), id: "1772600767000", serial: "1772600767000", at: &day},
	}
	for _, tt := range tests {
		var got struct {
			Count  wire.Count  `json:"count"`
			Score  wire.Score  `json:"score"`
			ID     wire.ID     `json:"id"`
			Serial wire.Serial `json:"serial"`
			At     wire.Time   `json:"at"`
		}
		body := `{"count":` + tt.in + `,"score":` + tt.in + `,"id":` + tt.in + `,"serial":` + tt.in + `,"at":` + tt.in + `}`
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Errorf("%s: %v", tt.in, err)
		}
		want := []any{tt.count, tt.score, tt.id, tt.serial, tt.at}
		if diff := cmp.Diff(want, []any{got.Count.V, got.Score.V, got.ID, got.Serial, got.At.V}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestFlagsAndFractions(t *testing.T) {
	t.Parallel()
	var got struct {
		Yes, No, None, Odd wire.Bool
		Half, Text, Bad    wire.Float
	}
	told, err := decode(t, `{"Yes":true,"No":false,"None":null,"Odd":"true","Half":0.5,"Text":"1.25","Bad":"x"}`, &got)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Yes.Is() || got.Yes.Not() || got.No.Is() || !got.No.Not() || got.None.Is() || !got.None.Not() || got.Odd.Is() || got.Odd.Not() {
		t.Errorf("flags %+v", got)
	}
	if *got.Half.V != 0.5 || *got.Text.V != 1.25 || got.Bad.V != nil {
		t.Errorf("fractions %+v", got)
	}
	if diff := cmp.Diff([]string{"Odd Bad"}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestFlagsAreBooleansWordsOrDigits(t *testing.T) {
	t.Parallel()
	var got []wire.Flag
	if err := json.Unmarshal([]byte(`[true, "True", "true", 1, false, "FALSE", 0, null, "no", 2]`), &got); err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, f := range got {
		switch {
		case f.Is():
			known = append(known, "yes")
		case f.V != nil:
			known = append(known, "no")
		case f.Not():
			known = append(known, "absent")
		default:
			known = append(known, "odd")
		}
	}
	want := []string{"yes", "yes", "yes", "yes", "no", "no", "no", "absent", "odd", "odd"}
	if diff := cmp.Diff(want, known); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

func TestNeededPartsAreNamedAndTold(t *testing.T) {
	t.Parallel()
	var told []callctx.Drift
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(d callctx.Drift) { told = append(told, d) }})
	for name, err := range map[string]error{
		"og:title":    wire.Need(ctx, "og:title", false),
		"kind":        wire.Marker(ctx, "kind", "x", "Listing", "more"),
		"another pet": wire.Same(ctx, "pet", "Ann", "ann"),
	} {
		if !errors.Is(err, providers.ErrUnavailable) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	if len(told) != 3 {
		t.Errorf("told %v", told)
	}
	for _, err := range []error{
		wire.Need(ctx, "og:title", true), wire.Marker(ctx, "kind", "more", "Listing", "more"), wire.SameFold(ctx, "pet", "Ann", "ann"),
		wire.Understood("x", 0, 0), wire.Understood("x", 1, 1),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestMoreRowsThanAnyPageHasAreNotRead(t *testing.T) {
	t.Parallel()
	var a answer
	told, err := decode(t, `{"items":[`+strings.Repeat(`{},`, 50_000)+`{}]}`, &a)
	if err != nil || a.Items.Len() != wire.MaxRows || a.Items.Lost() != 1 || len(told) != 1 {
		t.Errorf("%d rows, %d lost, told %d times, %v", a.Items.Len(), a.Items.Lost(), len(told), err)
	}
}

func TestACallerWhoLeavesEndsTheConversion(t *testing.T) {
	t.Parallel()
	var a answer
	if _, err := decode(t, `{"items":[{},{}]}`, &a); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := wire.Items(ctx, "items", a.Items, func(row, json.RawMessage) (int, bool) { n++; cancel(); return n, true })
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%d rows converted, %v", n, err)
	}
}

func TestHalfAnAnswerIsNone(t *testing.T) {
	t.Parallel()
	body := `{"kind":"k\\","items":[{"id":"1","name":"]\"}","replies":[{"id":2}]},[[]]],"more":{"a":[1,{}]}} `
	list := `[{"id":"1","name":"]\"}"},[[]],7] `
	for n := range len(body) - 1 {
		if _, err := decode(t, body[:n], &answer{}); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got error %v, want ErrUnavailable", body[:n], err)
		}
	}
	for n := range len(list) - 1 {
		if _, err := decode(t, list[:n], &wire.Rows[row]{}); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: got error %v, want ErrUnavailable", list[:n], err)
		}
	}
	for _, whole := range []error{
		func() error { _, err := decode(t, body, &answer{}); return err }(),
		func() error { _, err := decode(t, list, &wire.Rows[row]{}); return err }(),
	} {
		if whole != nil {
			t.Error(whole)
		}
	}
}

// thread is a type that contains itself.
type thread struct {
	ID   wire.ID           `json:"id"`
	Kids wire.Rows[thread] `json:"kids"`
}

func TestRowsInRowsHaveABound(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return strings.Repeat(`{"id":1,"kids":[`, levels) + strings.Repeat("]}", levels)
	}
	var honest thread
	if _, err := decode(t, nested(2000), &honest); err != nil || honest.Kids.Len() != 1 {
		t.Errorf("2,000 levels: %v, %d rows", err, honest.Kids.Len())
	}
	for _, levels := range []int{5000, 300_000} {
		if _, err := decode(t, nested(levels), new(thread)); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%d levels: got error %v, want ErrUnavailable", levels, err)
		}
	}
	// Here encoding/json reads what is around it.
	var around struct {
		List []wire.Rows[thread] `json:"list"`
	}
	if err := json.Unmarshal([]byte(`{"list":[[`+nested(4900)+`]]}`), &around); err != nil || around.List[0].Lost() != 1 {
		t.Errorf("a row that is too deep: %v, %d lost", err, around.List[0].Lost())
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"kind":"k","items":[{"id":1,"replies":[{}]}]}`))
	f.Add([]byte(`[{"id":"\\\""},`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, dst := range []any{&answer{}, &wire.Rows[row]{}, &wire.Numbers{}, &wire.Object[*row]{}} {
			wire.Decode(t.Context(), b, dst) //nolint:errcheck // it must not panic, whatever it says
		}
	})
}

// shaped has every kind of value of which only a part is decoded.
type shaped struct {
	Name   string            `json:"name"`
	Nested struct{ X *int }  `json:"nested"`
	Far    *shapedItem       `json:"far"`
	List   []shapedItem      `json:"list"`
	Lists  [][]shapedItem    `json:"lists"`
	Any    any               `json:"any"`
	Map    map[string]string `json:"map"`
	Raw    json.RawMessage   `json:"raw"`
	Time   *time.Time        `json:"time"`
	shapedPart
}

type shapedItem struct {
	ID   int
	Self *shapedItem `json:"self"`
}

type shapedPart struct {
	Below [2]shapedItem `json:"below"`
}

// FuzzShapes compares what is decoded with what encoding/json decodes.
func FuzzShapes(f *testing.F) {
	for _, s := range []string{
		`{"name":"a","other":{"b":[1,{"c":null}]},"NAME":"b","nested":{"x":1,"y":2},"n\u0061me":"c"}`,
		`{"list":[{"ID":1,"x":[]},null,{"id":2,"self":{"Id":3,"self":{"y":1}}}],"lists":[[{"id":1}],[],null],"far":{"id":4,"z":"}"}}`,
		`{"any":{"id":[1]},"map":{"x":"y"},"raw": [ 1 ] ,"time":"2026-01-02T03:04:05Z","below":[{"id":1},{"id":2},{"id":3}]}`,
		`{"list":[{"id":1} {"id":2}]}`, `{"list":[{"id":1},]}`, `{"list":[{"id":1}}`, `{"list":[1}]`, `{"list":[,1]}`, `{"list":[]]}`,
		`{"x":tru}`, `{"x":[1}}`, `{"\x":1}`, `{"list":[{"x":01}]}`, `{"nested":{"x":1,}}`, `{"nested":{"x" 1}}`, "{\"far\":\v}", "{\"x\":\"\x01\"}",
		" {\n\"name\" : \"a\" ,\"list\" : [ { \"id\" : 1 , \"w\" : 2 } , { } ] } ", `{"list":[{"id":1}]`, `{"far":{"id":1}`, `{"ſelf":1,"K":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want shaped
		err := wire.Decode(t.Context(), b, &got)
		switch wrong := json.Unmarshal(b, &want); {
		case !json.Valid(b):
			if err == nil {
				t.Errorf("%q is decoded", b)
			}
		case wrong == nil && strings.TrimSpace(string(b)) != "null":
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(shaped{})); err != nil || diff != "" {
				t.Errorf("%q: %v (-want +got):\n%s", b, err, diff)
			}
		}
	})
}

// payload is a page of a large upstream.
func payload() []byte {
	one := `{"id":"1234567890","name":"A title that is about as long as titles are","likes":"12345","at":"2026-03-04T05:06:07Z",` +
		`"owner":{"id":"UC123","name":"somebody","likes":5},"stats":{"views":123456,"tags":["one","two","three"]},` +
		`"unread":"` + strings.Repeat("some text that nobody reads, ", 30) + `"},`
	return []byte(`{"kind":"list","items":[` + strings.TrimSuffix(strings.Repeat(one, 50), ",") + `]}`)
}

// BenchmarkDecode is compared with BenchmarkUnmarshal, which reads the same with encoding/json alone.
func BenchmarkDecode(b *testing.B) {
	body, ctx := payload(), b.Context()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var a answer
		if err := wire.Decode(ctx, body, &a); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	type plain struct {
		ID    string    `json:"id"`
		Name  string    `json:"name"`
		Likes string    `json:"likes"`
		At    time.Time `json:"at"`
		Owner *struct {
			ID    string `json:"id"`
			Name  string `json:"name"`
			Likes *int64 `json:"likes"`
		} `json:"owner"`
		Stats struct {
			Views *int64   `json:"views"`
			Tags  []string `json:"tags"`
		} `json:"stats"`
	}
	body := payload()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var a struct {
			Kind  string  `json:"kind"`
			Items []plain `json:"items"`
		}
		if err := json.Unmarshal(body, &a); err != nil {
			b.Fatal(err)
		}
	}
}
