package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestTheReadmeVerifiesASignatureWithOpenSSL runs the lines of the README.
func TestTheReadmeVerifiesASignatureWithOpenSSL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs openssl")
	}
	for _, tool := range []string{"sh", "openssl", "od"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile("(?s)```sh\n(key=.*?)```").FindSubmatch(readme)
	if script == nil {
		t.Fatal("the README does not verify a signature")
	}
	const secret, body = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", `{"text":"<b> é"}`
	h, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := h.Sign("chg_1", time.Unix(1_790_000_000, 0), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{body: "genuine", body + " ": "forged"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "body"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", string(script[1]))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "secret="+secret, "id=chg_1", "timestamp=1790000000", "signature=v1,AAAA "+signature)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %s", body, got, err, want)
		}
	}
}
