package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/all"
)

// shipped is a program with every provider, like the one in examples/standalone.
var shipped = Config{
	Providers: func(env Environment) ([]providers.Chain, error) {
		cfg, err := all.FromEnv(env.Lookup)
		cfg.HTTP = env.HTTP
		return all.New(cfg), err
	},
	Enricher: func() enrich.Enricher { return arabic.New() },
}

// run runs a command of the shipped program.
func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer, getenv func(string) string) int {
	return Run(ctx, shipped, args, Streams{in, out, log}, getenv)
}

// read makes a request and returns the answer, decoded and as it was sent.
func read(t *testing.T, target, secret string) (status int, body any, raw []byte) {
	t.Helper()
	status, raw = fetch(t, target, secret)
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatalf("GET %s: %v: %s", target, err, raw)
	}
	return status, body, raw
}

// fetch makes a request and returns the answer as it was sent.
func fetch(t *testing.T, target, secret string) (status int, raw []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	if raw, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, raw
}

// at returns the value at a path of names.
func at(v any, path string) (any, error) {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		value, ok := object[name]
		if !ok {
			return nil, fmt.Errorf("%s: there is no %q", path, name)
		}
		v = value
	}
	return v, nil
}

// secretLine is the line with which the first start prints the key.
var secretLine = regexp.MustCompile(`^\s+(sk_live_\S+)$`)

// freeAddr returns an address of this machine that is free now.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its number is wanted
	return l.Addr().String()
}
