package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// far runs a command with a server, in a directory without a database.
func far(t *testing.T, base, secret string, args ...string) (status int, out, log string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none.db")
	return cliRun(t, nil, append([]string{"--db", none, "--server", base, "--key", secret}, args...)...)
}

func TestCommandsCallAServer(t *testing.T) {
	t.Parallel()
	base, secret, stop := running(t, filepath.Join(t.TempDir(), "t.db"))
	defer stop()
	file := filepath.Join(t.TempDir(), "comments.jsonl")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"get", "mock", "profile", "handle=ann", "-o", "json"}, `"credits_used": 1`},
		{[]string{"get", "mock", "comments", "post_id=ann", "--limit", "25", "--fields", "id", "-o", "csv"}, "id\n"},
		{[]string{"search", "coffee", "platforms=mock", "-o", "json"}, `"mock": "ok"`},
		{[]string{"export", "mock", "comments", "post_id=ann", "--to", file}, ""},
		{[]string{"platforms", "-o", "csv"}, "platform,operation,available"},
		{[]string{"account", "show"}, "key_"},
		{[]string{"account", "show", "-o", "json"}, `"prefix": "sk_live_`},
		{[]string{"usage", "-o", "csv"}, "seq,time,kind,amount,balance,operation"},
		{[]string{"usage", "--platform", "mock", "--limit", "2", "-o", "jsonl"}, `"operation":"comments"`},
	} {
		status, out, log := far(t, base, secret, tt.args...)
		if status != 0 || !strings.Contains(out, tt.want) {
			t.Errorf("%v: status %d, want %q: %s%s", tt.args, status, tt.want, out, log)
		}
		if n := strings.Count(out, "\n"); tt.args[0] == "usage" && tt.args[1] == "--platform" && n != 2 {
			t.Errorf("%v prints %d lines", tt.args, n)
		}
	}
}

func TestAServerWithoutTLSIsWarnedAbout(t *testing.T) {
	t.Parallel()
	for address, warned := range map[string]bool{
		"http://nowhere.invalid": true, "http://192.0.2.1:8080": true, "http://[2001:db8::1]": true, "http://127.0.0.1:1": false,
		"http://localhost:1": false, "http://[::1]:1": false, "https://nowhere.invalid": false,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing need answer
		var log bytes.Buffer
		run(ctx, []string{"--server", address, "--key", "sk_live_x", "open", "https://mock.example/@ann"}, nil, io.Discard, &log,
			func(string) string { return "" })
		const text = "warning: the key and the answers cross the network of --server unencrypted"
		if n := strings.Count(log.String(), text); n > 1 || n > 0 != warned {
			t.Errorf("%s: %d warnings in %q", address, n, log.String())
		}
	}
}

func TestCommandsSayWhatAServerRefuses(t *testing.T) {
	t.Parallel()
	base, secret, stop := running(t, filepath.Join(t.TempDir(), "t.db"))
	defer stop()
	for _, tt := range []struct {
		secret string
		args   []string
		want   string
	}{
		{secret, []string{"get", "nowhere", "profile", "handle=ann"}, "not_found"},
		{secret, []string{"get", "mock", "profile", "handle=suspended"}, "not_found"},
		{"sk_live_wrong", []string{"get", "mock", "profile", "handle=ann"}, "unauthorized"},
		{"", []string{"usage"}, "unauthorized"},
		{secret, []string{"account", "create", "acme"}, "admin secret"},
		{secret, []string{"account", "list"}, "admin secret"},
		{secret, []string{"account", "grant", "acme", "5"}, "admin secret"},
		{secret, []string{"account", "refund", "acme", "5", "--request", "r"}, "admin secret"},
		{secret, []string{"account", "show", "acme"}, "admin secret"},
		{secret, []string{"usage", "acme"}, "leave out its name"},
	} {
		status, out, log := far(t, base, tt.secret, tt.args...)
		if status != 1 || !strings.Contains(log, tt.want) || out != "" || strings.Contains(log, secret) {
			t.Errorf("%v: status %d, want %q: %s%s", tt.args, status, tt.want, out, log)
		}
	}
	status, _, log := cliRun(t, nil, "--server", "data.example", "get", "mock", "profile", "handle=ann")
	if status != 1 || !strings.Contains(log, "https://data.example.com") {
		t.Errorf("an invalid address: status %d: %s", status, log)
	}
}
