package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gogithub "github.com/google/go-github/v89/github"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/github"
)

// account is an answer of GET /users/{username} for an invented user.
const account = `{"login":"ann-example","id":4211,"node_id":"MDQ6VXNlcjQyMTE=","avatar_url":"https://avatars.example/u/4211?v=4",
"gravatar_id":"","url":"https://api.github.com/users/ann-example","html_url":"https://github.com/ann-example",
"followers_url":"https://api.github.com/users/ann-example/followers","repos_url":"https://api.github.com/users/ann-example/repos",
"type":"User","user_view_type":"public","site_admin":false,"name":"Ann Example","company":"Example","blog":"https://ann.example",
"location":"Riyadh","email":null,"hireable":null,"bio":"Writes examples. سلمى","twitter_username":"ann","public_repos":12,"public_gists":3,
"followers":321,"following":17,"created_at":"2012-05-06T07:08:09Z","updated_at":"2026-10-11T12:13:14Z"}`

// BenchmarkGitHub reads a profile from a server on loopback, and from memory, through the engine and through
// google/go-github with a simple handwritten cache: whole answers by address, for an hour. The caller owns what each
// returns.
func BenchmarkGitHub(b *testing.B) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, strings.ReplaceAll(account, "ann-example", path.Base(r.URL.Path)))
	}))
	defer web.Close()
	var client *socialdata.Client
	renew := func() {
		var err error
		client, err = socialdata.New(socialdata.WithProviders(github.New(github.Config{BaseURL: web.URL, Token: "test"})))
		if err != nil {
			b.Fatal(err)
		}
	}
	renew()
	kept := &keeper{answers: map[string]answer{}}
	theirs, err := gogithub.NewClient(
		gogithub.WithTransport(kept), gogithub.WithAuthToken("test"), gogithub.WithURLs(new(web.URL+"/"), nil))
	if err != nil {
		b.Fatal(err)
	}
	ours := func(handle string) {
		got, err := client.Profile(b.Context(), socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle})
		if err != nil || *got.Data.Followers != 321 {
			b.Fatal(err)
		}
	}
	other := func(handle string) {
		got, _, err := theirs.Users.Get(b.Context(), handle)
		if err != nil || got.GetFollowers() != 321 {
			b.Fatal(err)
		}
	}
	asked := 0
	for _, m := range []struct {
		name string
		read func(string)
	}{{"socialdata", ours}, {"go-github", other}} {
		b.Run("miss/"+m.name, func(b *testing.B) {
			for b.Loop() {
				if asked++; asked%4000 == 0 {
					renew() // a client respects GitHub's limit of 5,000 calls an hour
				}
				m.read("ann" + strconv.Itoa(asked))
			}
		})
		b.Run("hit/"+m.name, func(b *testing.B) {
			for b.Loop() {
				m.read("ann")
			}
		})
	}
}

// keeper caches answers by address.
type keeper struct {
	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	dump    []byte
	expires time.Time
}

// RoundTrip implements [http.RoundTripper].
func (k *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	k.mu.Lock()
	a, ok := k.answers[r.URL.String()]
	k.mu.Unlock()
	if !ok || time.Now().After(a.expires) {
		resp, err := http.DefaultTransport.RoundTrip(r) //nolint:forbidigo // both share what is the default of both
		if err != nil {
			return nil, err
		}
		a.dump, err = httputil.DumpResponse(resp, true)
		_ = resp.Body.Close()
		if err != nil {
			return nil, err
		}
		a.expires = time.Now().Add(time.Hour)
		k.mu.Lock()
		k.answers[r.URL.String()] = a
		k.mu.Unlock()
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(a.dump)), r)
}
