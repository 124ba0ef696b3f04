package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestLogsShowsOneCall(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	defer stop()
	far := []string{"--db", filepath.Join(t.TempDir(), "none.db"), "--server", base, "--key", secret}
	cliRun(t, nil, append(far, "get", "mock", "profile", "handle=ann")...)
	cliRun(t, nil, append(far, "get", "mock", "profile", "handle=missing")...)
	cliRun(t, nil, append(far, "get", "mock", "posts")...)
	_, out, log := cliRun(t, nil, append(far, "logs", "-o", "json")...)
	list := printedData[[]requestShape](t, out)
	if len(list) < 2 {
		t.Fatalf("the log has %+v: %s", list, log)
	}
	for _, r := range list {
		if r.Operation != "profile" {
			continue
		}
		for name, where := range map[string][]string{"there": far, "here": {"--db", db}} {
			status, out, log := cliRun(t, nil, append(append([]string{}, where...), "logs", "--request", r.RequestID)...)
			wants := []string{"request     " + r.RequestID, "operation   mock profile", "provider    mock, "}
			if r.Credits > 0 {
				wants = append(wants, "charge       -1", "held        1 credit\n", "charged     1 credit\n")
			} else {
				wants = append(wants, "it was free", "what to do", r.Code)
			}
			for _, want := range wants {
				if status != 0 || !strings.Contains(out, want) {
					t.Errorf("%s, %s: status %d, without %q:\n%s%s", name, r.RequestID, status, want, out, log)
				}
			}
			if status, _, log := cliRun(t, nil, append(append([]string{}, where...), "logs", "--request", "req_x")...); status != 1 ||
				!strings.Contains(log, "has no request") {
				t.Errorf("%s, an unknown request: status %d: %s", name, status, log)
			}
		}
	}
}
