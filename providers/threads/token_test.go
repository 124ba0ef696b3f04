package threads

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestTokenIsRefreshedDaily(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var traded []string
	fail := false
	transport := providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		q := r.URL.Query()
		traded = append(traded, q.Get("access_token"))
		if r.URL.Path != "/refresh_access_token" || q.Get("grant_type") != "th_refresh_token" {
			t.Errorf("asked %s", r.URL.Path)
		}
		status, body := 200, `{"access_token":"`+q.Get("access_token")+`+","token_type":"bearer","expires_in":5184000}`
		if fail {
			status, body = 400, `{"error":{"code":190}}`
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
	c := upstream.New(upstream.Config{HTTP: &http.Client{Transport: transport}, Base: "https://graph.example"})
	tokens := longLived(c, "t", func() time.Time { return at })

	for _, step := range []struct {
		after time.Duration
		fail  bool
		want  string
	}{
		{0, false, "t"},
		{24 * time.Hour, false, "t"}, // too young
		{time.Hour, false, "t+"},
		{24 * time.Hour, false, "t+"},
		{2 * time.Hour, true, "t+"},     // the exchange fails, and the token stays in use
		{time.Minute, true, "t+"},       // not retried at once
		{2 * time.Hour, false, "t++"},   // but later
		{30 * time.Hour, false, "t+++"}, // and so on
	} {
		at, fail = at.Add(step.after), step.fail
		got, err := tokens.Get(t.Context())
		if err != nil || got != step.want {
			t.Errorf("%s: got %q (%v), want %q", at, got, err, step.want)
		}
	}
	if diff := cmp.Diff([]string{"t", "t+", "t+", "t++"}, traded); diff != "" {
		t.Errorf("trades (-want +got):\n%s", diff)
	}
}
