package github_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return github.New(github.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "annexample"),
			providertest.Profile("profile-bare", "bare"),
			providertest.Profile("profile-organization", "example-org"),
			providertest.Profile("profile-organization-without-its-page", "lonely-org"),
			providertest.Posts("posts", "annexample"),
			providertest.Post("post", "annexample/tea"),
			providertest.Post("post-by-number", "5"),
			providertest.Post("post-of-an-issue", "annexample/tea#3"),
			providertest.Comments("comments", "annexample/tea"),
			providertest.Comments("comments-of-issue", "annexample/tea#3"),
			providertest.Comments("comments-by-number", "5"),
			providertest.Followers("followers", "annexample"),
			providertest.Following("following", "annexample"),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "bob", Kind: schema.ProfileResult}),
			providertest.Search("search-posts", providers.SearchQuery{
				Query: "tea", Sort: "recent", Since: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
			}),
			providertest.Search("search-past-the-end", providers.SearchQuery{Query: "deep"}),
			providertest.Linked("linked", "annexample"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown login", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("primary limit", "limited"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("secondary limit", "secondary"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("secondary limit with a time", "abuse"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("missing permission", "forbidden"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("bad token", "bad"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("private repository", "annexample/secret"), Want: providers.ErrNotFound},
			{Call: providertest.Post("blocked repository", "a/blocked"), Want: providers.ErrNotFound},
			{Call: providertest.Post("blocked repository with status 403", "a/blocked403"), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Torvalds", Want: "torvalds"},
			{Subject: providers.Handle, In: "https://github.com/Torvalds/linux", Want: "torvalds"},
			{Subject: providers.Handle, In: "dependabot[bot]", Want: "dependabot[bot]"},
			{Subject: providers.Handle, In: "https://github.com/apps/dependabot", Want: "dependabot[bot]"},
			{Subject: providers.Handle, In: "ann_corp", Want: "ann_corp"}, // an enterprise account: hidden, not malformed
			{Subject: providers.Handle, In: "https://gitlab.com/torvalds"},
			{Subject: providers.Handle, In: "https://github.com/apps"},
			{Subject: providers.Handle, In: "https://github.com/settings"},
			{Subject: providers.Handle, In: "a/b"},
			{Subject: providers.PostID, In: "https://github.com/Octocat/Hello.git", Want: "octocat/hello"},
			{Subject: providers.PostID, In: "github.com/o/r/issues/12", Want: "o/r#12"},
			{Subject: providers.PostID, In: "112116543", Want: "112116543"},
			{Subject: providers.PostID, In: "octocat"},
			{Subject: providers.PostID, In: "../user"},
			{Subject: providers.PostID, In: "octocat/.."},
		},
	})
}

func TestALimitClosesTheBucketAtOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header http.Header
		body   string
		low    time.Duration // the least Retry-After that the caller gets
		top    time.Duration
	}{
		{"primary", http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"4102444800"}}, "{}", time.Hour, time.Hour},
		{"primary without its end", http.Header{"X-Ratelimit-Remaining": {"0"}}, "{}", time.Minute, time.Minute},
		{"secondary", http.Header{"X-Ratelimit-Remaining": {"57"}}, `{"message":"You have exceeded a secondary rate limit."}`, time.Minute, time.Minute},
		{"secondary with a time", http.Header{"Retry-After": {"90"}}, "{}", 90 * time.Second, 90 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			p := github.New(github.Config{HTTP: &http.Client{Transport: providertest.Upstream(func(r *http.Request) (*http.Response, error) {
				calls++
				return &http.Response{
					StatusCode: http.StatusForbidden, Body: io.NopCloser(strings.NewReader(tt.body)), Request: r, Header: tt.header,
				}, nil
			})}})[0]
			_, err := p.Profile(t.Context(), "ann")
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || e.RetryAfter < tt.low || e.RetryAfter > tt.top {
				t.Errorf("got %v, want to be told to wait from %v to %v", err, tt.low, tt.top)
			}
			for range 2 {
				if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
					t.Errorf("got %v, want ErrUnavailable", err)
				}
			}
			if calls != 1 {
				t.Errorf("%d requests went out, want 1: the bucket is closed until its reset", calls)
			}
		})
	}
}

func TestASearchThatGitHubRefusesIsTheCallers(t *testing.T) {
	t.Parallel()
	p := github.New(github.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusUnprocessableEntity, `{"message":"Validation Failed","errors":[{"resource":"Search","field":"q","code":"invalid",` +
			`"message":"The search is longer than 256 characters."}]}`
	})}})[0]
	_, err := p.Search(t.Context(), providers.SearchQuery{Query: strings.Repeat("tea ", 100)}, "")
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "longer than 256") {
		t.Errorf("got error %v, want ErrInvalid with GitHub's reason", err)
	}
	if _, err := p.Profile(t.Context(), "ann"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("a 422 without words of the caller: got error %v, want ErrUnavailable", err)
	}
}

func TestAnswersThatAreNoAnswers(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`null`, `{"message":"Server Error"}`, `{}`, `{"items":null}`, `{"items":{}}`, `{"items":["x"]}`} {
		p := github.New(github.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, body
		})}})[0]
		for _, kind := range []schema.ResultKind{schema.PostResult, schema.ProfileResult} {
			page, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea", Kind: kind}, "")
			if !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("search, %s: %v with error %v, want ErrUnavailable", body, page.Items, err)
			}
		}
		if page, err := p.Posts(t.Context(), "ann", ""); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("posts, %s: %v with error %v, want ErrUnavailable", body, page.Items, err)
		}
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	t.Parallel()
	p := github.New(github.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusOK, `[{"login":"ann","id":"12","followers":-3,"following":"7","public_repos":4.0},{"login":"bob"},{"login":"cy","id":0}]`
	})}})[0]
	page, err := p.Followers(t.Context(), "dee", "")
	if err != nil || len(page.Items) != 3 {
		t.Fatal(page, err)
	}
	ann := page.Items[0]
	if ann.ID != "12" || ann.Followers != nil || ann.Following == nil || *ann.Following != 7 || ann.PostsCount == nil || *ann.PostsCount != 4 {
		t.Errorf("got %+v", ann)
	}
	if page.Items[1].ID != "" || page.Items[2].ID != "" {
		t.Errorf("ids %q and %q were made up", page.Items[1].ID, page.Items[2].ID)
	}
}

func TestARangeOfTimeIsAskedForInOneWord(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	for want, q := range map[string]providers.SearchQuery{
		"tea":                                {Query: "tea"},
		"tea created:<=2025-01-02T23:59:59Z": {Query: "tea", Until: day(3)},
		"tea created:2025-01-01T00:00:00Z..2025-01-02T23:59:59Z": {Query: "tea", Since: day(1), Until: day(3)},
	} {
		var got string
		p := github.New(github.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			got = r.URL.Query().Get("q")
			return http.StatusOK, `{"total_count":0,"incomplete_results":false,"items":[]}`
		})}})[0]
		if _, err := p.Search(t.Context(), q, ""); err != nil || got != want {
			t.Errorf("asked for %q (%v), want %q", got, err, want)
		}
	}
}

func TestWhatIsBlockedIsNamed(t *testing.T) {
	t.Parallel()
	p := github.New(github.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusUnavailableForLegalReasons, `{"message":"Access blocked","block":{"reason":"tos"}}`
	})}})[0]
	for name, read := range map[string]func() error{
		"account":    func() error { _, err := p.Profile(t.Context(), "ann"); return err },
		"repository": func() error { _, err := p.Post(t.Context(), "ann/tea"); return err },
	} {
		err := read()
		if e, ok := errors.AsType[*providers.Error](err); !ok || !errors.Is(err, providers.ErrNotFound) || !strings.HasSuffix(e.Detail, "blocked this "+name) {
			t.Errorf("%s: got error %v, want ErrNotFound that names it", name, err)
		}
	}
	if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, ""); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("search: got error %v, want ErrUnavailable", err)
	}
}
