package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/problem"
)

func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	want := map[problem.Code]int{
		"invalid_request": 400, "unauthorized": 401, "insufficient_credits": 402, "not_found": 404,
		"rate_limited": 429, "internal_error": 500, "platform_unavailable": 503, "upstream_timeout": 504,
	}
	got := map[problem.Code]int{}
	for _, c := range problem.Codes() {
		got[c] = c.Status()
		if c.Title() == "" {
			t.Errorf("%s has no title", c)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestErrorJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  *problem.Error
		want string
	}{
		{
			"the cause never shows",
			problem.Wrap(io.ErrUnexpectedEOF, problem.NotFound, "no %q", "x"),
			`{"type":"urn:socialdata:problem:not_found","title":"Not found","status":404,"detail":"no \"x\"","code":"not_found","request_id":""}`,
		},
		{
			"waiting is rounded up to whole seconds",
			problem.New(problem.RateLimited, "slow down").After(1100 * time.Millisecond),
			`{"type":"urn:socialdata:problem:rate_limited","title":"Rate limited","status":429,"detail":"slow down","code":"rate_limited","request_id":"","retry_after":2}`,
		},
		{
			"a finer status wins",
			&problem.Error{Code: problem.InvalidRequest, Status: 405, Detail: "use GET", RequestID: "r"},
			`{"type":"urn:socialdata:problem:invalid_request","title":"Invalid request","status":405,"detail":"use GET","code":"invalid_request","request_id":"r"}`,
		},
		{
			"the type may be a page that explains the problem",
			&problem.Error{Code: problem.NotFound, Detail: "no", RequestID: "r", Type: "https://example.org/docs#not_found"},
			`{"type":"https://example.org/docs#not_found","title":"Not found","status":404,"detail":"no","code":"not_found","request_id":"r"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := json.Marshal(tt.err)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(b)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
			var back problem.Error
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			if back.Code != tt.err.Code || back.HTTPStatus() != tt.err.HTTPStatus() || back.Detail != tt.err.Detail || back.Type != tt.err.Type {
				t.Errorf("read back %+v", back)
			}
		})
	}
}

func TestCauseStaysReachable(t *testing.T) {
	t.Parallel()
	var err error = problem.Wrap(io.EOF, problem.InternalError, "books")
	if !errors.Is(err, io.EOF) {
		t.Error("errors.Is does not see the cause")
	}
}

func TestANilErrorHasNoCode(t *testing.T) {
	t.Parallel()
	var none *problem.Error // such as the problem of an item of a batch that was answered
	if errors.Is(none, problem.NotFound) || errors.Unwrap(none) != nil {
		t.Error("a nil error has a code or a cause")
	}
}

func TestQuotedValuesAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 60_000)
	p := problem.New(problem.InvalidRequest, "%q is not one of %s%s", long, strings.Repeat("name, ", 50), problem.Phrase{HTTP: "!"})
	if want := `"` + strings.Repeat("é", 99) + `…" is not one of ` + strings.Repeat("name, ", 50) + "!"; p.Detail != want {
		t.Errorf("detail %.200s", p.Detail)
	}
	if p := problem.New(problem.InvalidRequest, "%q", "short"); p.Detail != `"short"` {
		t.Errorf("detail %s", p.Detail)
	}
}

func TestErrorsAreRecognisedByTheirCode(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("while reading: %w", problem.New(problem.NotFound, "no such account"))
	other := errors.New("not_found")
	if !errors.Is(err, problem.NotFound) || errors.Is(err, problem.RateLimited) || errors.Is(other, problem.NotFound) {
		t.Error("errors.Is does not go by the code")
	}
	if got := problem.NotFound.Error(); got != "not_found" {
		t.Errorf("the code says %q", got)
	}
}

func TestEachFrontEndHasItsWords(t *testing.T) {
	t.Parallel()
	call := problem.Phrase{HTTP: "GET /v1/github/posts", Go: "Posts", Command: "github posts"}
	err := problem.Wrap(io.EOF, problem.PlatformUnavailable, "%s has no %s: 100%%", "github", call)
	err.Call, err.Why = "Posts on github", "EOF"
	if diff := cmp.Diff("github has no GET /v1/github/posts: 100%", err.Detail); diff != "" {
		t.Errorf("over HTTP (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("Posts on github: platform_unavailable: github has no Posts: 100%: EOF", err.Error()); diff != "" {
		t.Errorf("in Go (-want +got):\n%s", diff)
	}
	command := func(p problem.Phrase) string { return p.Command }
	if diff := cmp.Diff("github has no github posts: 100%", err.DetailIn(command)); diff != "" {
		t.Errorf("on a command line (-want +got):\n%s", diff)
	}
	err.Detail = "something else"
	if got := err.DetailIn(command); got != "something else" {
		t.Errorf("a replaced detail reads %q", got)
	}
	wire, jsonErr := json.Marshal(err)
	if jsonErr != nil || strings.Contains(string(wire), "EOF") || strings.Contains(string(wire), "Posts on") {
		t.Errorf("the wire shows %s, %v", wire, jsonErr)
	}
}
