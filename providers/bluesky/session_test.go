package bluesky_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/bluesky"
)

func TestWithoutAnAccountThePostsCannotBeSearched(t *testing.T) {
	t.Parallel()
	list := bluesky.New(bluesky.Config{Identifier: "ann.example.com"})
	last := list[len(list)-1]
	if missing := last.Missing[providers.OpSearch]; last.Serves(providers.OpSearch) || !slices.Equal(missing, []string{"app_password"}) {
		t.Errorf("missing %v, want the setting app_password named", missing)
	}
	if list[0].Name != "bluesky" {
		t.Errorf("the first provider is %s: a search of any kind must find profiles", list[0].Name)
	}
}

// server is an account's server that counts its requests.
type server struct {
	mu     sync.Mutex
	asked  []string
	refuse bool          // rejects the password
	ends   time.Duration // lifetime stated in a token; 0 states none
	good   string        // the token that is accepted; "" accepts any
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '.')+1:]
	s.asked = append(s.asked, method)
	status, body := http.StatusOK, `{"posts":[]}`
	token := func(n string) string {
		if s.ends == 0 {
			return n
		}
		claims := fmt.Sprintf(`{"exp":%d}`, time.Now().Add(s.ends).Unix())
		return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "." + n
	}
	switch {
	case method == "createSession" && s.refuse:
		status, body = http.StatusUnauthorized, `{"error":"AuthenticationRequired","message":"Invalid identifier or password"}`
	case method == "createSession":
		body = `{"accessJwt":"` + token("one") + `","refreshJwt":"again"}`
	case method == "refreshSession" && r.Header.Get("Authorization") != "Bearer again":
		status, body = http.StatusBadRequest, `{"error":"ExpiredToken","message":"Token has been revoked"}`
	case method == "refreshSession":
		body = `{"accessJwt":"` + token("two") + `","refreshJwt":"again"}`
	case s.good != "" && r.Header.Get("Authorization") != "Bearer "+s.good:
		status, body = http.StatusBadRequest, `{"error":"ExpiredToken","message":"Token has expired"}`
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r, Header: http.Header{}}, nil
}

func (s *server) provider() providers.Provider {
	return named("bluesky_session", bluesky.Config{
		HTTP: &http.Client{Transport: s}, Identifier: "ann.example.com", AppPassword: "app-pass",
	})
}

func TestOneSessionServesManySearches(t *testing.T) {
	t.Parallel()
	s := &server{ends: 2 * time.Hour}
	p := s.provider()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := count(s.asked, "createSession"); n != 1 || count(s.asked, "refreshSession") != 0 {
		t.Errorf("%v: want one createSession", s.asked)
	}
}

func TestAnEndedTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	s := &server{good: "two"}
	if _, err := s.provider().Search(t.Context(), providers.SearchQuery{Query: "tea"}, ""); err != nil {
		t.Fatal(err)
	}
	if want := []string{"createSession", "searchPosts", "refreshSession", "searchPosts"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %v, want %v", s.asked, want)
	}
}

func TestAWrongPasswordIsTriedOnce(t *testing.T) {
	t.Parallel()
	s := &server{refuse: true}
	p := s.provider()
	for range 3 {
		_, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
		if !errors.Is(err, providers.ErrUnavailable) || strings.Contains(err.Error(), "app-pass") {
			t.Errorf("got %v, want ErrUnavailable without the password", err)
		}
	}
	if len(s.asked) != 1 {
		t.Errorf("asked %v, want one createSession", s.asked)
	}
}

func count(list []string, s string) int {
	n := 0
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}
