package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata/schema"
)

// showing is a transport that sends a key.
type showing string

func (s showing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	return new(http.Transport).RoundTrip(r)
}

// askTool connects, calls one tool, disconnects, and returns the meta of the result.
func askTool(t *testing.T, transport mcp.Transport, tool string, arguments map[string]any) schema.Meta {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Meta schema.Meta }
	if err := json.Unmarshal([]byte(got.Content[0].(*mcp.TextContent).Text), &answer); err != nil || got.IsError {
		t.Fatalf("%v: %v", err, got.Content[0])
	}
	return answer.Meta
}

var readAnn = map[string]any{
	"platform": "mock", "operation": "posts", "params": map[string]any{"handle": "ann", "fresh": true},
}

// overPipes runs socialdata mcp, and returns the transport for a client and the result of the program.
func overPipes(
	t *testing.T, settings map[string]string, args ...string,
) (transport mcp.Transport, ended func() (status int, log string)) {
	t.Helper()
	fromClient, toProgram := io.Pipe()
	fromProgram, toClient := io.Pipe()
	var log output
	status := make(chan int, 1)
	go func() {
		status <- run(t.Context(), args, fromClient, toClient, &log, func(name string) string { return settings[name] })
		_ = toClient.Close()
	}()
	return &mcp.IOTransport{Reader: fromProgram, Writer: toProgram}, func() (int, string) {
		_ = toProgram.Close()
		return <-status, log.String()
	}
}

func TestToolsShareKeysAndBooksWithTheAPI(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	if status, _, body := read(t, base+"/mcp", ""); status != http.StatusUnauthorized {
		t.Errorf("without a key: status %d: %s", status, body)
	}
	web := &mcp.StreamableClientTransport{
		Endpoint: base + "/mcp", HTTPClient: &http.Client{Transport: showing(secret)}, DisableStandaloneSSE: true,
	}
	if got := askTool(t, web, "read", readAnn); got.CreditsUsed != 2 || got.CreditsRemaining != firstCredits-2 {
		t.Errorf("over HTTP: %+v", got)
	}
	if status, _, log := cliRun(t, nil, "--db", db, "mcp", "--key", secret); status != 1 ||
		!strings.Contains(log, "/mcp") {
		t.Errorf("over stdio beside the server: %d %s", status, log)
	}
	if status := stop(); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	// The server has stopped; the same key is charged over standard input and output.
	pipes, ended := overPipes(t, nil, "--db", db, "mcp", "--key", secret)
	if got := askTool(t, pipes, "read", readAnn); got.CreditsUsed != 2 || got.CreditsRemaining != firstCredits-4 {
		t.Errorf("over stdio: %+v", got)
	}
	if status, log := ended(); status != 0 {
		t.Errorf("exit status %d: %s", status, log)
	}
	if status, out, log := cliRun(t, nil, "--db", db, "audit"); status != 0 || !strings.Contains(out, "in order") {
		t.Errorf("audit: %d %s%s", status, out, log)
	}
}

func TestMCPWithoutAKeyChargesNothing(t *testing.T) {
	t.Parallel()
	pipes, ended := overPipes(t, nil, "--db", filepath.Join(t.TempDir(), "none", "t.db"), "mcp")
	if got := askTool(t, pipes, "read", readAnn); got.NextCursor == "" || got.CreditsRemaining != 0 {
		t.Errorf("got %+v", got)
	}
	if status, log := ended(); status != 0 || log != "" {
		t.Errorf("exit status %d: %s", status, log)
	}
}

func TestMCPRefusesABadKeyAndEndsWhenAsked(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	if status, out, log := cliRun(t, nil, "--db", db, "mcp", "--key", "sk_live_nothing"); status != 1 || out != "" ||
		!strings.Contains(log, "unauthorized") {
		t.Errorf("a bad key: %d %s%s", status, out, log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	forever, _ := io.Pipe()
	cancel()
	if status := run(ctx, []string{"mcp"}, forever, io.Discard, io.Discard,
		func(string) string { return "" }); status != 0 {
		t.Errorf("asked to stop while it waits for input: exit status %d", status)
	}
}
