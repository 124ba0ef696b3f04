package github_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/providertest"
)

// TestProfilesThatHaveNotChangedCostNothing checks that reading a thousand unchanged profiles again costs no unit of
// the limit, and that no body is sent.
func TestProfilesThatHaveNotChangedCostNothing(t *testing.T) {
	t.Parallel()
	const profiles = 1000
	left, bodies := 5000, 0
	reset := time.Now().Add(time.Hour).Unix()
	up := providertest.Upstream(func(r *http.Request) (*http.Response, error) {
		login := strings.TrimPrefix(r.URL.Path, "/users/")
		unchanged := r.Header.Get("If-None-Match") == `"`+login+`"`
		status, body := http.StatusNotModified, ""
		if !unchanged {
			left--
			bodies++
			status, body = http.StatusOK, fmt.Sprintf(`{"id": 7, "login": %q, "type": "User", "html_url": "https://github.com/%s"}`, login, login)
		}
		res := providertest.Answer(r, status, body)
		for name, value := range map[string]string{
			"ETag": `"` + login + `"`, "X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": fmt.Sprint(left),
			"X-RateLimit-Reset": fmt.Sprint(reset), "Vary": "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With",
		} {
			res.Header.Set(name, value)
		}
		return res, nil
	})
	p := github.New(github.Config{Token: "ghp_inventedinventedinvented", HTTP: &http.Client{Transport: shared{up, providers.Transport()}}})[0]
	read := func() {
		t.Helper()
		for n := range profiles {
			login := fmt.Sprintf("salma%d", n)
			got, err := p.Profile(t.Context(), login)
			if err != nil || got.Handle != login {
				t.Fatalf("%s: %+v, %v", login, got, err)
			}
		}
	}
	read()
	if at := p.Limits[0].State(); at.Limit != 5000 || at.Used != profiles {
		t.Fatalf("after the first reads: %+v", at)
	}
	sent := bodies
	read()
	if at := p.Limits[0].State(); at.Used != profiles || bodies != sent {
		t.Errorf("%d bodies were sent again, and the limit is %+v", bodies-sent, at)
	}
}

// shared reads through one transport, and stores answers in the pool of another.
type shared struct {
	http.RoundTripper
	carrier http.RoundTripper
}

func (s shared) Unwrap() http.RoundTripper { return s.carrier }
