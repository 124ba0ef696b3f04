package engine

import (
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

func TestDetailsInTheLogHaveNoValuesOfTheCall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("salma ", 40)
	tests := map[string]struct {
		detail string
		call   operation.Call
		want   string
	}{
		"a value": {
			"there is no account ann",
			operation.Call{Params: url.Values{"handle": {"ann"}}},
			"there is no account …",
		},
		"in capitals, with a sign": {
			`@Ann: "ann" is suspended`,
			operation.Call{Params: url.Values{"handle": {"@ANN"}}},
			`…: "…" is suspended`,
		},
		"not a part of a longer word": {
			"planned by anna, not Ann's",
			operation.Call{Params: url.Values{"handle": {"ann"}}},
			"planned by anna, not …'s",
		},
		"the parts of an address": {
			`no video "dQw4w9" of layla.k`,
			operation.Call{Params: url.Values{"url": {"https://a.example/@layla.k/dQw4w9?t=1"}}},
			`no video "…" of …`,
		},
		"an escaped address": {
			"no page café",
			operation.Call{Params: url.Values{"url": {"https://a.example/caf%C3%A9"}}},
			"no page …",
		},
		"keys of a batch": {
			`the keys "b" and "c d" are the same`,
			operation.Call{Params: url.Values{"handles": {"a,b,c d"}}},
			`the keys "…" and "…" are the same`,
		},
		"a long value, which is cut": {
			"query: " + problem.Quote(long),
			operation.Call{Params: url.Values{"query": {long}}},
			`query: "…"`,
		},
		"a value with quotes": {
			"query: " + problem.Quote(`a"b`),
			operation.Call{Params: url.Values{"query": {`a"b`}}},
			`query: "…"`,
		},
		"Arabic with an invisible character": {
			"لا يوجد سلمى هنا",
			operation.Call{Params: url.Values{"handle": {"سل\u200fمى"}}},
			"لا يوجد … هنا",
		},
		"the name of a parameter": {
			`parameter "handle" is missing; unknown parameter "secret_word"`,
			operation.Call{Params: url.Values{"secret_word": {""}}},
			`parameter "handle" is missing; unknown parameter "…"`,
		},
		"a raw path": {
			"GET /v1/raw/github/users/ann is not allowed",
			operation.Call{Path: "users/ann"},
			"GET /v1/raw/github/… is not allowed",
		},
		"an unknown platform": {
			`there is no platform "gitub"`,
			operation.Call{Platform: "gitub"},
			`there is no platform "…"`,
		},
		"an idempotency key": {
			`the Idempotency-Key "order 7" was used`,
			operation.Call{IdempotencyKey: "order 7"},
			`the Idempotency-Key "…" was used`,
		},
	}
	o := &operation.Operation{Params: []operation.Param{{Name: "handle"}, {Name: "handles"}, {Name: "query"}, {Name: "url"}}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := withoutValues(tt.detail, o, &tt.call, false); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
