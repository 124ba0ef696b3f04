package providers

import "errors"

// Together returns those of keys that can be asked for in one request, in their order.
func Together(keys []string, can func(key string) bool) []string {
	var out []string
	for _, key := range keys {
		if can(key) {
			out = append(out, key)
		}
	}
	return out
}

// Alone returns the error of a key that a [Batch] leaves to the operation's function, because the upstream does not take such
// keys together.
func Alone() error { return Unsupported("this is asked for by itself") }

// PerKey is the end of a [Batch] Read: it returns what came of each key, of which the function of says what it is in the
// answer that has been read. Err is that of the answer, and of all keys, but for [ErrInvalid]: then the upstream refuses one of
// them and does not say which, so that each is left to the operation's function.
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
