// Package threads reads Threads: the official interface, whose public look-ups want a token from an app that Meta has
// reviewed, and the pages that the site shows to anybody.
//
// A post's id is its shortcode, which both know. The official interface looks up posts by a media id of its own, and
// only those of the token's owner.
//
// Sources: https://developers.facebook.com/docs/threads and https://www.threads.com
package threads

import (
	"cmp"
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config says how to reach Threads.
type Config struct {
	// Token is a long-lived token of a user, with the scopes threads_basic, threads_profile_discovery,
	// threads_keyword_search and threads_read_replies; "" leaves only the public pages. It lasts 60 days. While the
	// process runs it is refreshed, but a process that starts anew starts with this one.
	Token string
	// Own reads the public pages, which Threads hides from many data centres behind a login; on by default.
	Own providers.Own

	BaseURL string       // of the official interface; "" means https://graph.threads.net
	WebURL  string       // of the site; "" means https://www.threads.com
	HTTP    *http.Client // nil means a client of its own
}

const (
	version  = "v1.0"
	pageSize = "25" // of every official list; at most 100 upstream
)

type client struct {
	http                     *upstream.Client
	lookups, searches, other *upstream.Quota
}

// New returns the providers for Threads, best first: the official interface and the public pages.
func New(cfg Config) providers.Chain {
	return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
}

func newOfficial(cfg Config) providers.Provider {
	c := newClient(cfg)
	p := providers.Provider{
		Name: "threads", Platform: platform.Threads, Source: schema.Official,
		Profile:  c.profile,
		Posts:    c.posts,
		Post:     c.post,
		Search:   c.find,
		Comments: c.comments,
		Replies:  c.replies,

		Normalize: normalize,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch: {"kind": {"post"}, "sort": {"relevance", "recent"}, "since": nil, "until": nil, "handle": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpProfile:     "public accounts of adults with 100 followers or more",
			providers.OpPosts:       "of such accounts, without counts",
			providers.OpPost:        "by media id, of the token's owner",
			providers.OpComments:    "by media id, of the token's owner",
			providers.OpReplies:     "by media id, of the token's owner",
			providers.OpSearch:      "posts; #word searches the tag; words that Meta calls sensitive find nothing",
			providers.OpFollowers:   "Threads tells how many followers there are, not who",
			providers.OpFollowing:   "Threads does not tell whom an account follows",
			providers.OpSuggestions: "Threads has no public suggestions",
			providers.OpTranscript:  "Threads has no public captions",
		},
		Routes:  providers.Routes(platform.Threads, "v1.0/profile_lookup", "v1.0/profile_posts", "v1.0/keyword_search"),
		Forward: c.forward,
	}
	if cfg.Token == "" {
		return p.Without("token")
	}
	return p
}

func newClient(cfg Config) *client {
	base := cmp.Or(cfg.BaseURL, "https://graph.threads.net")
	refresh := upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: base})
	day := 24 * time.Hour
	return &client{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: base, Check: check, Tokens: longLived(refresh, cfg.Token, time.Now),
		}),
		lookups:  upstream.NewQuota(1000, day),
		searches: upstream.NewQuota(2200, day),
		other:    upstream.NewQuota(0, day), // 4,800 for each time that the app was seen: only the answers tell
	}
}

// secret is the token in the addresses of the pages before and after.
var secret = regexp.MustCompile(`access_token=[^"&\\]+`)

// forward reads a route unchanged, but for our token, which Threads repeats in its answers.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	raw, err := c.http.Forward(ctx, path, query)
	return secret.ReplaceAll(raw, []byte("access_token=")), err
}

// hosts are the names of the site, the old one last.
var hosts = []string{"threads.com", "threads.net"}

var (
	username = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)
	code     = regexp.MustCompile(`^[A-Za-z0-9_-]{4,64}$`)
)

// normalize folds a handle, which ignores case, and reduces a post or comment to its shortcode. The site's own number
// of a post is its shortcode in digits; a shorter number is a media id of the official interface and stays.
func normalize(s providers.Subject, value string) (string, error) {
	link, err := links.Parse(value, hosts...)
	if err != nil {
		return "", err
	}
	if s == providers.Handle {
		if link != nil {
			if value = link.Segment(0); !strings.HasPrefix(value, "@") {
				value = ""
			}
		}
		value = strings.ToLower(strings.TrimLeft(value, "@"))
		if !username.MatchString(value) {
			return "", providers.Invalid("a Threads handle is a name such as zuck, or the URL of a profile")
		}
		return value, nil
	}
	if link != nil {
		switch {
		case link.Segment(0) == "t":
			value = link.Segment(1)
		case link.Segment(1) == "post":
			value = link.Segment(2)
		default:
			value = ""
		}
	}
	if links.Digits(value) {
		if len(value) < 19 {
			return value, nil
		}
		value = shortcode(value)
	}
	if !code.MatchString(value) {
		return "", providers.Invalid("a Threads post is a shortcode such as DEUxBnGRDtS, or the post's URL")
	}
	return value, nil
}

// shortcode writes a post's number in the digits of base64url. "" when it is too long to be one.
func shortcode(number string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	n, ok := new(big.Int).SetString(number, 10)
	if !ok || len(number) > 64 {
		return ""
	}
	var b []byte
	for rest := new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(64), rest)
		b = append([]byte{digits[rest.Int64()]}, b...)
	}
	return string(b)
}

// postURL is a post's public page; Threads leads /t/ there when the author is not known.
func postURL(handle, code string) string {
	if handle == "" {
		return "https://www.threads.com/t/" + code
	}
	return "https://www.threads.com/@" + handle + "/post/" + code
}
