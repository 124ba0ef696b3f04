package keys_test

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/keys"
)

// FuzzParse parses any text as a key: it is refused, or has the form and the checksum that Mint gives, and every other
// spelling of it is refused.
func FuzzParse(f *testing.F) {
	for _, env := range []keys.Environment{keys.Live, keys.Test} {
		secret, _, err := keys.Mint(env)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(secret)
		f.Add(strings.ToUpper(secret))
		f.Add(secret[:len(secret)-1])
		f.Add(secret + "0")
	}
	f.Add("")
	f.Add("sk_live_")
	f.Add("sk_live_" + strings.Repeat("\x00", 38))
	f.Add("sk_test_" + strings.Repeat("é", 19))
	f.Fuzz(func(t *testing.T, text string) {
		hash, err := keys.Parse(text)
		if hash != keys.Hash(sha256.Sum256([]byte(text))) {
			t.Error("the hash is that of another text")
		}
		if err != nil {
			if !errors.Is(err, keys.ErrUnknown) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if len(text) != keys.SecretLen || strings.Trim(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("%q passes for a key", text)
		}
		for i := range len(text) { // one wrong character is found in any position
			other := text[:i] + string(text[i]^1) + text[i+1:]
			if _, err := keys.Parse(other); err == nil {
				t.Errorf("%q passes as %q does", other, text)
			}
		}
	})
}
