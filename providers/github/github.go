// Package github reads public GitHub data from the REST interface. Profiles are users and organisations, posts are
// public repositories, comments are those on a repository's issues and pull requests.
//
// Everything works without a token, at 60 reads an hour; a token without scopes raises that to 5,000.
// Source: https://docs.github.com/rest
package github

import (
	"bytes"
	"cmp"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach GitHub.
type Config struct {
	Token   string       // a personal access token without scopes; "" reads anonymously
	BaseURL string       // "" means https://api.github.com
	HTTP    *http.Client // nil means a client of its own
}

const pageSize = "30" // of every list; at most 100 upstream

type client struct {
	http   *upstream.Client
	search *upstream.Quota // a bucket of its own; everything else counts against the core limit
}

// New returns the provider for public GitHub data.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	return providers.Chain{{
		Name: "github", Platform: platform.GitHub, Source: schema.Official,
		Profile:   c.profile,
		Followers: c.followers,
		Following: c.following,
		Linked:    c.linked,
		Posts:     c.posts,
		Post:      c.post,
		Search:    c.find,
		Comments:  c.comments,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post", "profile"}, "sort": {"relevance", "recent"}, "since": nil, "until": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpComments:    "of a repository: those on its issues and pull requests, newest first; of owner/repo#123: that issue's, oldest first",
			providers.OpSearch:      "repositories unless kind=profile; since and until are about creation; at most 1,000 results",
			providers.OpReplies:     "issue comments are flat",
			providers.OpSuggestions: "GitHub has no public suggestions",
			providers.OpTrending:    "GitHub has no interface for its trending page",
		},
		Routes: providers.Routes(platform.GitHub,
			"users/{username}", "users/{username}/repos", "users/{username}/social_accounts", "orgs/{org}",
			"repos/{owner}/{repo}", "repos/{owner}/{repo}/languages", "repos/{owner}/{repo}/releases",
			"repos/{owner}/{repo}/contributors", "repos/{owner}/{repo}/issues/{number}",
		),
		Forward: c.http.Forward,
	}}
}

func newClient(cfg Config) *client {
	header := http.Header{
		"Accept":               {"application/vnd.github+json"},
		"X-GitHub-Api-Version": {"2022-11-28"},
	}
	core, search := 60, 10 // per hour and per minute, anonymous
	if cfg.Token != "" {
		header.Set("Authorization", "Bearer "+cfg.Token)
		core, search = 5000, 30
	}
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.github.com"), Header: header, Check: check,
			Limits: &upstream.LimitHeaders{Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset"},
			Quota:  upstream.NewQuota(core, time.Hour),
		}),
		search: upstream.NewQuota(search, time.Minute),
	}
}

// check tells GitHub's refusals apart: a limit, primary or secondary, from a missing permission, and a blocked
// repository from both.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusUnavailableForLegalReasons:
		return providers.NotFound("GitHub has blocked this repository")
	case http.StatusUnprocessableEntity:
		return errNoResults
	case http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return nil
	}
	body := bytes.ToLower(res.Body)
	if bytes.Contains(body, []byte("access blocked")) || bytes.Contains(body, []byte("disabled")) {
		return providers.NotFound("GitHub has blocked this repository")
	}
	wait, limited := res.RetryAfter()
	if !limited && res.Header.Get("X-RateLimit-Remaining") == "0" {
		wait, limited = time.Minute, true
		if reset, err := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			wait = min(max(0, time.Until(time.Unix(reset, 0))), time.Hour)
		}
	}
	if !limited && (bytes.Contains(body, []byte("secondary")) || bytes.Contains(body, []byte("abuse"))) {
		wait, limited = time.Minute, true
	}
	if !limited {
		return nil
	}
	return &providers.Error{Kind: providers.ErrUnavailable, Detail: "GitHub limits our pace", RetryAfter: wait}
}

var (
	login = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?$`)
	dots  = regexp.MustCompile(`(^|/)\.+(/|#|$)`) // segments that lead elsewhere
	repo  = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(#[0-9]+)?$`)
)

// reserved are paths of github.com that are no accounts.
var reserved = map[string]bool{
	"about": true, "collections": true, "explore": true, "features": true, "login": true, "marketplace": true, "orgs": true,
	"search": true, "settings": true, "sponsors": true, "topics": true, "trending": true,
}

// normalize folds a login, which ignores case, and reduces a repository to owner/repo or its number.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, "github.com")
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link != nil {
			value = link.Segment(0)
		}
		value = strings.ToLower(strings.TrimPrefix(value, "@"))
		if !login.MatchString(value) || reserved[value] {
			return "", providers.Invalid("a GitHub handle is a login such as octocat")
		}
		return value, nil
	}
	if link != nil {
		value = link.Segment(0) + "/" + strings.TrimSuffix(link.Segment(1), ".git")
		if n := link.Segment(3); links.Digits(n) && (link.Segment(2) == "issues" || link.Segment(2) == "pull") {
			value += "#" + n
		}
	}
	if !links.Digits(value) && (!repo.MatchString(value) || dots.MatchString(value)) {
		return "", providers.Invalid("a GitHub post is a repository such as octocat/hello-world, or its number")
	}
	return strings.ToLower(value), nil
}
