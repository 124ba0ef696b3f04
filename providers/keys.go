package providers

import "errors"

// Together returns the keys that can be requested together, in their order.
func Together(keys []string, can func(key string) bool) []string {
	var out []string
	for _, key := range keys {
		if can(key) {
			out = append(out, key)
		}
	}
	return out
}

// Alone returns the error for a key that a [Batch] leaves to the operation's function, because the upstream does not
// accept such keys together with others.
func Alone() error { return Unsupported("this key is read alone") }

// PerKey builds the results of a [Batch] Read: it calls of for each key, which returns the key's result from the
// answer. err is the error of the request and applies to all keys, except for [ErrInvalid]: then the upstream has
// rejected one key without naming it, and each is left to the operation's function.
func PerKey[T any](keys []string, err error, of func(key string) (T, error)) (map[string]T, error) {
	switch {
	case errors.Is(err, ErrInvalid):
		of = func(string) (none T, _ error) { return none, Alone() }
	case err != nil:
		return nil, err
	}
	found, failed := make(map[string]T, len(keys)), KeysError{}
	for _, key := range keys {
		if v, err := of(key); err == nil {
			found[key] = v
		} else {
			failed[key] = err
		}
	}
	if len(failed) == 0 {
		return found, nil
	}
	return found, failed
}
