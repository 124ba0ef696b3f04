package operation_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
)

func TestSplitKeys(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"jack":                                   {"jack"},
		"jack,@salma, zoë ":                      {"jack", "@salma", " zoë "},
		",jack,,\u200e,salma,":                   {"jack", "salma"},
		"https://a.example/x,y\n":                {"https://a.example/x,y"},
		"https://a.example/x,y\nhttps://b\n\n z": {"https://a.example/x,y", "https://b", " z"},
		" , ":                                    nil,
	} {
		if diff := cmp.Diff(want, operation.SplitKeys(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

func TestKeysThatAreJoinedCanBeParted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringMatching(`[a-z,/ \n\r]{0,5}x[a-z,]{0,3}`), 1, 5).Draw(t, "keys")
		want := make([]string, len(keys))
		for i, key := range keys {
			want[i] = strings.ReplaceAll(key, "\n", "\r")
		}
		if diff := cmp.Diff(want, operation.SplitKeys(operation.JoinKeys(keys))); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestAListOfKeysIsBounded(t *testing.T) {
	t.Parallel()
	params := []operation.Param{{Name: "handles", Required: true, Form: operation.FormKeys, Doc: "The accounts."}}
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("user%d", i))
	}
	for name, tt := range map[string]struct {
		list string
		ok   bool
	}{
		"a hundred":            {strings.Join(many[:100], ","), true},
		"too many":             {strings.Join(many, ","), false},
		"none":                 {",,", false},
		"empty":                {"", false},
		"too long":             {strings.Repeat("x", operation.MaxKeyList+1), false},
		"one key of odd bytes": {"a\xff,b\x00", true}, // which is the problem of those keys
	} {
		_, err := operation.Bind(params, url.Values{"handles": {tt.list}})
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, problem.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAListOfKeysIsMeasuredAsItWasSent: the head of a request is bounded, and escapes are a part of it.
func TestAListOfKeysIsMeasuredAsItWasSent(t *testing.T) {
	t.Parallel()
	params := []operation.Param{{Name: "handles", Required: true, Form: operation.FormKeys, Doc: "The accounts."}}
	for name, tt := range map[string]struct {
		query string
		ok    bool
	}{
		"as long as may be":    {"handles=" + strings.Repeat("x", operation.MaxKeyList), true},
		"too long":             {"handles=" + strings.Repeat("x", operation.MaxKeyList+1), false},
		"escaped, not as long": {"handles=" + strings.Repeat("%78", operation.MaxKeyList/3), true},
		"escaped, too long":    {"handles=" + strings.Repeat("%78", operation.MaxKeyList/3+1), false},
	} {
		pairs, err := operation.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pairs.Bind(params)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, problem.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		" @jack\u200e ": "@jack", "a\x00b\r": "ab", "a\xff": "a\ufffd", "zoe\u0308": "zoë",
	} {
		if got := operation.Shown(key); got != want {
			t.Errorf("%q is shown as %q, want %q", key, got, want)
		}
	}
}
