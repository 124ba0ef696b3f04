package keys_test

import (
	"crypto/sha256"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/keys"
)

func TestMint(t *testing.T) {
	t.Parallel()
	format := regexp.MustCompile(`^sk_(live|test)_[0-9A-Za-z]{38}$`)
	seen := map[string]bool{}
	for range 200 {
		for _, env := range []keys.Environment{keys.Live, keys.Test} {
			secret, k, err := keys.Mint(env)
			if err != nil || !format.MatchString(secret) || !strings.HasPrefix(secret, "sk_"+string(env)) {
				t.Fatalf("Mint(%s) = %q, %v", env, secret, err)
			}
			if k.Hash != sha256.Sum256([]byte(secret)) || k.Prefix != secret[:12] || k.Environment != env {
				t.Errorf("Mint(%s) = %q and %+v", env, secret, k)
			}
			if seen[secret] || seen[k.ID] {
				t.Fatal("the same key was made twice")
			}
			seen[secret], seen[k.ID] = true, true
		}
	}
	if _, _, err := keys.Mint("staging"); err == nil {
		t.Error("Mint made a key of an unknown environment")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	secret, k, err := keys.Mint(keys.Live)
	if err != nil {
		t.Fatal(err)
	}
	other := byte('x')
	if secret[20] == other {
		other = 'y'
	}
	tests := []struct {
		name, secret string
		want         error
	}{
		{"a key that was minted", secret, nil},
		{"a known key, so that the format never changes", "sk_live_000000000000000000000000000000002UYg5A", nil},
		{"nothing", "", keys.ErrUnknown},
		{"one character changed", secret[:20] + string(other) + secret[21:], keys.ErrUnknown},
		{"another character at the end", "sk_live_000000000000000000000000000000022UYg5A", keys.ErrUnknown},
		{"one character lost", secret[:45], keys.ErrUnknown},
		{"one character more", secret + "0", keys.ErrUnknown},
		{"another environment", "sk_test_" + secret[8:], keys.ErrUnknown},
		{"an unknown environment", "sk_beta_" + secret[8:], keys.ErrUnknown},
		{"a space before it", " " + secret[:45], keys.ErrUnknown},
		{"other characters", "sk_live_" + strings.Repeat("-", 38), keys.ErrUnknown},
		{"a very long one", strings.Repeat("sk_live_", 10_000), keys.ErrUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, err := keys.Parse(tt.secret)
			if !errors.Is(err, tt.want) {
				t.Errorf("Parse = %v; want %v", err, tt.want)
			}
			if h != sha256.Sum256([]byte(tt.secret)) {
				t.Error("Parse does not return the hash")
			}
		})
	}
	if h, _ := keys.Parse(secret); h != k.Hash {
		t.Errorf("Parse = %x; want %x", h, k.Hash)
	}
}
