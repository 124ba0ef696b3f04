package x

import "testing"

// The expected values are the results of X's own formula in V8.
func TestEmbedToken(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"1703436713362870723": "44ni5iyte19",
	} {
		if got := embedToken(id); got != want {
			t.Errorf("embedToken(%s) = %q, want %q", id, got, want)
		}
	}
}
