package providertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// mayFall are the flags that are false when they are unknown.
var mayFall = []string{"verified", "is_ad"}

// less returns an error if got, a value in an answer, has something that want lacks. It may have less: null, a shorter
// list, or other text, since a missing name is replaced by the next best one. Numbers and flags must be the same.
func less(path string, want, got any, numbers bool) error {
	switch g := got.(type) {
	case nil:
		return nil
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			return odd(path, want, got)
		}
		for name, v := range g {
			if err := less(path+"."+name, w[name], v, numbers); err != nil {
				return err
			}
		}
		return nil
	case []any:
		w, ok := want.([]any)
		if !ok {
			return odd(path, want, got)
		}
		return fewer(path, w, g, numbers)
	case json.Number:
		if numbers || want == got {
			return nil
		}
		return odd(path, want, got)
	case bool:
		if want == got || !g && slices.Contains(mayFall, path[strings.LastIndexByte(path, '.')+1:]) {
			return nil
		}
		return odd(path, want, got)
	case string:
		if strings.Contains(g, rubbish) || want != got && (strings.HasPrefix(g, "1970-01-01T") || strings.HasPrefix(g, "0001-01-01T")) {
			return odd(path, want, got)
		}
		return nil
	}
	return odd(path, want, got)
}

// fewer compares lists: each element of got must match one of want, in order.
func fewer(path string, want, got []any, numbers bool) error {
	if len(got) > len(want) {
		return fmt.Errorf("%s has %d values, want %d at most", path, len(got), len(want))
	}
	at := 0
	for i, g := range got {
		err := less(path, want[at], g, numbers)
		for err != nil && at+1 < len(want)-(len(got)-i-1) {
			at++
			err = less(path, want[at], g, numbers)
		}
		if err != nil {
			return err
		}
		at = min(at+1, len(want)-1)
	}
	return nil
}

func odd(path string, want, got any) error {
	return fmt.Errorf("%s is %v, want %v or nothing", path, got, want)
}
