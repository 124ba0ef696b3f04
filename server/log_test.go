package server_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/server"
)

// journal keeps log lines for a test.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

// lines returns the lines since the last call.
func (j *journal) lines(tb testing.TB) []map[string]any {
	tb.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []map[string]any
	for line := range strings.Lines(j.b.String()) {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			tb.Fatal(err)
		}
		out = append(out, m)
	}
	j.b.Reset()
	return out
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func logged(t *testing.T, level slog.Level) (*site, *journal) {
	t.Helper()
	j := &journal{}
	log := slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: level}))
	s := &site{Engine: enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithLogger(log)}})}
	srv, err := server.New(s.Open, server.WithLogger(log))
	if err != nil {
		t.Fatal(err)
	}
	s.handler = srv.Handler()
	return s, j
}

func TestEachRequestIsOneLine(t *testing.T) {
	t.Parallel()
	s, log := logged(t, slog.LevelInfo)
	for path, want := range map[string]map[string]any{
		"/v1/mock/profile?handle=salma": {"level": "INFO", "status": 200., "operation": "profile", "platform": "mock", "key_id": s.Key.ID},
		"/v1/mock/profile":              {"level": "INFO", "status": 400., "operation": "profile", "platform": "mock", "code": "invalid_request"},
		"/v1/mock/private_name?x=1":     {"level": "INFO", "status": 404., "code": "not_found"},
		"/private_name":                 nil,
		"/docs":                         nil,
		"/livez":                        nil,
		"/readyz":                       nil,
	} {
		r := s.with(t, path)
		lines := log.lines(t)
		if want == nil && len(lines) == 0 {
			continue
		}
		if len(lines) != 1 {
			t.Errorf("%s: %d lines, want 1: %v", path, len(lines), lines)
			continue
		}
		for field, value := range want {
			if lines[0][field] != value {
				t.Errorf("%s: %s is %v, want %v", path, field, lines[0][field], value)
			}
		}
		if lines[0]["msg"] != "request" || lines[0]["request_id"] != r.header.Get("X-Request-Id") ||
			lines[0]["bytes"] != float64(len(r.body)) {
			t.Errorf("%s: the line %v lacks the id or the length of the answer", path, lines[0])
		}
	}
}

func TestNoLogLineHasAKeyOrParameters(t *testing.T) {
	t.Parallel()
	s, log := logged(t, slog.LevelDebug)
	other, _, err := keys.Mint(keys.Live)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/v1/mock/profile?handle=a&api_key=" + other, "/v1/mock/" + other, "/" + other, "/v1/" + other + "/profile",
		"/v1/raw/mock/users/a?access_token=" + other, "/v1/mock/profile?" + other, "/v1/mock/posts?handle=a&cursor=" + other,
	} {
		s.with(t, path, "Cookie", other, "X-Api-Key", other, "Idempotency-Key", other)
		s.getAs(t, other, path)
		s.do(t, "X"+other, path, http.Header{"Authorization": {"Basic " + other, other}})
	}
	// A whole key, or the rest of one when the text before it is cut.
	for _, secret := range []string{other, other[20:], s.Secret} {
		for line := range strings.Lines(log.text()) {
			if strings.Contains(line, secret) {
				t.Errorf("a line holds a key: %.300s", line)
			}
		}
	}
}

func TestGuessedKeysDoNotFloodTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, log := logged(t, slog.LevelInfo)
		for range 25 {
			for range 1000 {
				secret, _, err := keys.Mint(keys.Live)
				if err != nil {
					t.Fatal(err)
				}
				s.getAs(t, secret, "/v1/me")
			}
			time.Sleep(5 * time.Second)
		}
		told := 0.
		lines := log.lines(t)
		for _, line := range lines {
			if line["level"] == "WARN" && line["request_id"] == nil {
				t.Errorf("a warning has no request id: %v", line)
			}
			n, _ := line["unauthorized"].(float64)
			told += n
		}
		if len(lines) > 7 || told < 20_000 { // one a minute, for six minutes, since refusals are delayed
			t.Errorf("%d lines count %v refusals of 25000, want at most 7 that count 20000", len(lines), told)
		}
	})
}

func TestRequestsWithoutAKeyAreCountedInOneLineAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, log := logged(t, slog.LevelInfo)
		for range 3 {
			for range 100 {
				s.do(t, http.MethodGet, "/llms.txt", nil)
				s.do(t, http.MethodGet, "/v1/me", nil)
			}
			time.Sleep(time.Minute)
		}
		s.do(t, http.MethodGet, "/livez", nil) // a probe, which is not counted
		lines := log.lines(t)
		if len(lines) != 2 || lines[0]["unauthorized"] != 100. || lines[0]["open"] != 101. || lines[1]["unauthorized"] != 100. {
			t.Errorf("%d lines, want 2 that count 100 refusals each: %v", len(lines), lines)
		}
	})
}
