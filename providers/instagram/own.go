package instagram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// site reads the public side of Instagram: its pages, and the answers that it gives to their scripts. It sends no
// cookies: with a session the same addresses answer in another form.
type site struct {
	http           *upstream.Client
	timeline, item string // the numbers of the queries
}

func newOwn(cfg Config) providers.Provider {
	s := site{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, "https://www.instagram.com"), Header: asScript, Check: checkWeb, Absent: absent,
			Quota: upstream.NewQuota(0, 0),
		}),
		timeline: cmp.Or(cfg.TimelineDocID, "9310670392322965"),
		item:     cmp.Or(cfg.PostDocID, "8845758582119845"),
	}
	return providers.Provider{
		Name: "instagram_own", Platform: platform.Instagram, Source: schema.Own, Prompt: true,
		Profile:     s.profile,
		Posts:       s.posts,
		Reels:       s.reels,
		Post:        s.post,
		Comments:    s.comments,
		Collections: s.collections,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpCollections: {"kind": {"highlight"}},
		},
		Notes: notes,
	}
}

// asScript are the headers that the scripts of a page send: without them the site does not answer. The texts in the
// head of a page are read in English.
var asScript = browser.Script("Referer", siteURL,
	"X-Asbd-Id", "129477", "X-Ig-App-Id", "936619743392459", "X-Requested-With", "XMLHttpRequest")

// asBrowser are the headers that a browser sends when a person opens a page, instead of those of scripts.
var asBrowser = func() http.Header {
	h := browser.Navigation()
	for _, name := range []string{"Referer", "X-Asbd-Id", "X-Ig-App-Id", "X-Requested-With"} {
		h[name] = nil
	}
	return h
}()

// open reads a page.
func (s site) open(ctx context.Context, segments ...string) (*page, error) {
	r := upstream.Get(segments...)
	r.Header = asBrowser
	res, err := s.http.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	p := read(ctx, res.Body)
	return p, p.stranger()
}

// web sends one of the site's own queries. POST only reads, as GET does.
func (s site) web(ctx context.Context, method, docID string, variables, dst any) error {
	b, err := json.Marshal(variables)
	if err != nil {
		return err
	}
	form := url.Values{"doc_id": {docID}, "variables": {string(b)}}
	r := upstream.Request{Method: method, Path: []string{"graphql", "query"}, Form: form, Retry: true}
	if method == http.MethodGet {
		r = upstream.Request{Path: []string{"graphql", "query/"}, Query: form}
	}
	_, err = s.http.Read(ctx, r, dst)
	return err
}

// faults are errors in an answer beside its data, or instead of it. With an error, null data means nothing.
type faults struct {
	Errors wire.Rows[struct{}] `json:"errors"`
}

func (f faults) err() error {
	if f.Errors.Len()+f.Errors.Lost() > 0 {
		return providers.Unavailable(nil, "Instagram answers with an error")
	}
	return nil
}

// elsewhere reports whether what failed with err may be read at another address of the site.
func elsewhere(err error) bool { return errors.Is(err, providers.ErrUnavailable) }
