package x

import "testing"

// The wants are what V8 makes of X's own formula.
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
