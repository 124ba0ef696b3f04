package facebook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/browser"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// site reads the public pages of Facebook. Posts and groups are not among them, and further pages of a list need a
// query id and a token that change with each release of the site.
type site struct{ http, short *upstream.Client }

func newOwn(cfg Config) providers.Provider {
	s := site{
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.WebURL, siteURL), Header: asBrowser, MaxBody: 4 << 20, Check: checkPage, Absent: saysUnavailable,
		}),
		short: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.ShortURL, "https://fb.me"), Header: asBrowser, MaxBody: 1 << 20, Check: leadsTo,
		}),
	}
	return providers.Provider{
		Name: "facebook_own", Platform: platform.Facebook, Source: schema.Own, Prompt: true,
		Profile: s.profile,
		Event:   s.event,
		Events:  s.events,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also, Country: addresses.CountryOf,
		Filters: map[providers.Op]providers.Filters{providers.OpEvents: {"time": {"upcoming", "past"}}},
		Notes: map[providers.Op]string{
			providers.OpProfile: "the metadata of the page; Facebook shows many data centers a login page instead",
			providers.OpPosts:   "Facebook only shows posts to logged-in users",
			providers.OpEvent:   "by number or URL",
			providers.OpEvents:  "the first eight to ten of a Page, with the data in its list: names, rarely times",
		},
	}
}

// asBrowser are the headers that a browser sends when a person opens a page. Without them Facebook answers with a login
// page or an error.
var asBrowser = browser.Navigation("Sec-Fetch-Site", "same-origin")

// profile reads the head of a Page's page.
func (s site) profile(ctx context.Context, handle string) (schema.Profile, error) {
	r := upstream.Get(handle)
	if links.Digits(handle) {
		r = upstream.Get("profile.php").With("id", handle)
	}
	res, err := s.http.Do(ctx, r)
	if err != nil {
		return schema.Profile{}, err
	}
	h := headOf(ctx, res.Body, handle)
	if h.Title == "" || h.Delegate.ID == "" {
		if err := standsIn(island.Read(res.Body), res); err != nil {
			return schema.Profile{}, err
		}
	}
	if err := wire.Need(ctx, "og:title", h.Title != ""); err != nil {
		return schema.Profile{}, err
	}
	if err := wire.Need(ctx, "delegate_page.id", h.Delegate.ID != ""); err != nil {
		return schema.Profile{}, err
	}
	if !h.is(handle) && !res.Moved {
		return schema.Profile{}, wire.Same(ctx, "page", handle, h.handle())
	}
	return h.profile(), nil
}

// head is the metadata of a Page's page.
type head struct {
	Title       string   `json:"title"`
	Description string   `json:"description"` // "Name. 1,234 likes · 56 talking about this. What the Page says of itself"
	Image       string   `json:"image"`
	URL         string   `json:"url"`
	Delegate    delegate `json:"delegate_page"`
	Verified    bool     `json:"is_verified,omitempty"`
	Social      []string `json:"profile_social_context,omitempty"` // "1.2K likes", "3.4K followers"
}

type delegate struct {
	ID       wire.Serial `json:"id"`
	Category string      `json:"category_name"`
}

// user is the account of a page, which is spread over several scripts. Other accounts on the page have the same form.
type user struct {
	ID       wire.ID   `json:"id"`
	URL      string    `json:"url"`
	Verified wire.Bool `json:"is_verified"`
	Delegate delegate  `json:"delegate_page"`
	Social   *struct {
		Content []struct {
			Text json.RawMessage `json:"text"` // an object with the words, or only the words
		} `json:"content"`
	} `json:"profile_social_context"`
}

func headOf(ctx context.Context, body []byte, asked string) head {
	p := island.Read(body)
	h := head{
		Title: strings.TrimSpace(p.Meta("og:title")), Description: p.Meta("og:description"), Image: p.Meta("og:image"),
		URL: cmp.Or(p.Meta("og:url"), p.Canonical),
	}
	if h.URL == "" && !links.Digits(asked) {
		h.URL = siteURL + asked
	}
	find(p, func(name string, v island.Value) bool {
		if name == "delegate_page" && v.Is('{') && h.Delegate.ID == "" {
			_ = wire.Decode(ctx, v.Bytes(), &h.Delegate) // what is not one has no id
		}
		return h.Delegate.ID == ""
	})
	for raw := range objectsWith(p, len(body), "profile_social_context", "is_verified") {
		var u user
		if wire.Decode(ctx, raw, &u) == nil {
			h.take(u)
		}
	}
	return h
}

// take completes h with what another script has about the same account. Counts may be in an object without an account.
func (h *head) take(u user) {
	of := head{URL: u.URL, Delegate: u.Delegate}
	named := u.Delegate.ID != "" || u.URL != ""
	same := u.Delegate.ID == h.Delegate.ID || string(u.ID) == string(h.Delegate.ID) || u.URL != "" && sameName(of.handle(), h.handle())
	if named && !same || h.Delegate.ID == "" {
		return
	}
	h.Verified = h.Verified || u.Verified.Is() && (same || u.Social != nil)
	if u.Social == nil || len(h.Social) > 0 {
		return
	}
	for _, c := range u.Social.Content {
		var boxed struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(c.Text, &boxed) != nil {
			_ = json.Unmarshal(c.Text, &boxed.Text) // null, or what is not text either, has no words
		}
		h.Social = append(h.Social, boxed.Text)
	}
}

// followers is the number of people who follow the Page, not who like it; nil when the page does not say.
func (h head) followers() *int64 {
	for _, said := range append([]string{h.Description}, h.Social...) {
		if n := counted(said, "followers", "follower", "متابع", "متابعين", "متابعون", "متابعًا"); n != nil {
			return n
		}
	}
	return nil
}

// find visits the values in the scripts of a page.
func find(p *island.Page, visit func(name string, v island.Value) bool) {
	for _, s := range p.Scripts {
		for object := range island.Objects(s.Body) {
			island.Find(object, visit)
		}
	}
}

// handle returns the Page's name, or its number if it has no name.
func (h head) handle() string {
	link, err := links.Parse(h.URL, hosts...)
	if err != nil || link == nil || pageIn(link) == "" {
		return string(h.Delegate.ID)
	}
	return pageIn(link)
}

// is reports whether the head is about the requested Page. A Page may have two numbers.
func (h head) is(handle string) bool {
	name := h.handle()
	return sameName(name, handle) || string(h.Delegate.ID) == handle || isAccount(handle)
}

func (h head) profile() schema.Profile {
	id := string(h.Delegate.ID)
	raw, err := json.Marshal(h)
	if err != nil {
		raw = nil
	}
	return schema.Profile{
		Common:      schema.Common{ID: id, URL: text.URLOr(h.URL, siteURL+id), Raw: raw},
		Handle:      h.handle(),
		DisplayName: text.NonEmpty(h.Title),
		Bio:         h.bio(),
		AvatarURL:   text.URL(h.Image),
		Verified:    h.Verified,
		Followers:   h.followers(),
	}
}

// bio returns the text after the counts. Without counts, all of it is the Page's own text.
func (h head) bio() *string {
	said := strings.TrimPrefix(h.Description, h.Title)
	at := strings.Index(said, " · ")
	if at < 0 {
		if counted(said, "likes", "followers") != nil {
			return nil
		}
		return text.NonEmpty(h.Description)
	}
	_, bio, _ := strings.Cut(said[at:], ". ")
	return text.NonEmpty(bio)
}

// counted returns the number before one of words, such as that of "1.2M likes"; a unit may come between them.
func counted(s string, words ...string) *int64 {
	all := strings.Fields(s)
	for i, word := range all {
		for _, want := range words {
			if !strings.EqualFold(strings.Trim(word, ".,·،"), want) || i == 0 {
				continue
			}
			if i > 1 {
				if n := text.Count(all[i-2] + " " + all[i-1]); n != nil && text.Count(all[i-1]) == nil {
					return n
				}
			}
			return text.Count(all[i-1])
		}
	}
	return nil
}

// leads holds the target of a short address.
type leads struct{ to string }

func (l *leads) Error() string { return "the short address leads to another page" }

// Unwrap returns [providers.ErrUnavailable]: an address that does not lead to a known page cannot be read.
func (l *leads) Unwrap() error { return providers.ErrUnavailable }

func leadsTo(res *upstream.Response) error {
	if to := res.Header.Get("Location"); res.Status >= 300 && res.Status < 400 && to != "" {
		if u, err := url.Parse(to); err == nil && isLogin(u) && u.Query().Get("next") == "" {
			return errLogin
		}
		return &leads{to}
	}
	return nil
}

// expand returns the event that a short address leads to. The upstream's client follows no redirect to another host,
// and only the number in the redirect is used.
func (s site) expand(ctx context.Context, id string) (string, error) {
	res, err := s.short.Do(ctx, upstream.Get(id))
	target := ""
	if l, ok := errors.AsType[*leads](err); ok {
		target = l.to
	} else if err != nil {
		return "", err
	} else {
		target = res.URL.String()
	}
	number, err := addresses.Normalize(providers.EventID, target)
	if err != nil || isShort(number) {
		return "", providers.NotFound("the short address %s leads to no event", path.Base(id))
	}
	return number, nil
}
