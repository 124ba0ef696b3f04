package soundcloud

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// website gives its client id to everybody who looks: in its first page or in one of the scripts that this page loads.
type website struct {
	http *http.Client
	page *upstream.Client
}

// idLife is how long a client id that was found is used before it is looked up again; it changes every few weeks.
const idLife = 6 * time.Hour

// clientIDs returns the website's client id as a token: found when it is needed, and found again when it is refused.
func clientIDs(cfg Config) *upstream.Tokens {
	if cfg.OwnClientID != "" {
		return upstream.NewTokens(func(context.Context) (upstream.Token, error) {
			return upstream.Token{Value: cfg.OwnClientID}, nil
		}, nil)
	}
	w := &website{
		http: cfg.HTTP,
		page: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.SiteURL, "https://soundcloud.com"), Header: http.Header{"Accept": {"text/html"}},
		}),
	}
	return upstream.NewTokens(func(ctx context.Context) (upstream.Token, error) {
		id, err := w.find(ctx)
		return upstream.Token{Value: id, Expires: time.Now().Add(idLife)}, err
	}, nil)
}

var (
	inPage   = regexp.MustCompile(`"hydratable":"apiClient","data":\{"id":"([A-Za-z0-9]{16,64})"`)
	inScript = regexp.MustCompile(`client_id[:=]"([A-Za-z0-9]{16,64})"`)
	script   = regexp.MustCompile(`<script[^>]*\ssrc="(https://[a-z0-9-]+\.sndcdn\.com/assets/[^"]+\.js)"`)
)

// mostScripts is how many scripts are looked through, the last of the page first.
const mostScripts = 5

var errNoClientID = errors.New("soundcloud: the website shows no client id")

func (w *website) find(ctx context.Context) (string, error) {
	res, err := w.page.Do(ctx, upstream.Get())
	if err != nil {
		return "", err
	}
	if m := inPage.FindSubmatch(res.Body); m != nil {
		return string(m[1]), nil
	}
	found := script.FindAllSubmatch(res.Body, -1)
	slices.Reverse(found)
	for _, m := range found[:min(len(found), mostScripts)] {
		u, err := url.Parse(string(m[1]))
		if err != nil {
			continue
		}
		host := upstream.New(upstream.Config{HTTP: w.http, Base: u.Scheme + "://" + u.Host})
		if res, err = host.Do(ctx, upstream.Get(strings.Trim(u.Path, "/"))); err != nil {
			return "", err
		}
		if m := inScript.FindSubmatch(res.Body); m != nil {
			return string(m[1]), nil
		}
	}
	return "", errNoClientID
}
