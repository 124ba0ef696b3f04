package instagram

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// page is the data in the scripts and the head of a page of the site.
type page struct {
	route    string                // in the site's own router, such as PolarisProfileRoute; "" when it is unknown
	scripts  int                   // with data for the site's own code
	account  *wire.Object[member]  // xig_user_by_username; nil when it is missing
	media    *wire.Object[polaris] // xig_polaris_media
	head     *island.Page
	profiled *profileCard // nil when the head is not about an account
	posted   *postCard    // nil when the head is not about a post
}

// polaris is the post that a page is about. When a login is required the first part is null.
type polaris struct {
	Post     wire.Object[node] `json:"if_not_gated_logged_out"`
	Comments struct {
		Edges wire.Rows[edge[remark]] `json:"edges"`
	} `json:"comments_connection"`
}

// edge is a row of a list.
type edge[T any] struct {
	Node wire.Object[T] `json:"node"`
}

// ownRoute matches the name of a page in the site's own router.
var ownRoute = regexp.MustCompile(`"(?:[\w.]+\.)?(Polaris\w+Route)"`)

// The routes of pages that Instagram sends instead of the requested one, with status 200.
const (
	errorRoute = "PolarisErrorRoute"
	loginRoute = "PolarisCAAIGLoginHomepageRoute"
)

// stranger returns an error if Instagram sent another page than the requested one, else nil.
func (p *page) stranger() error {
	switch p.route {
	case errorRoute:
		return errNoPage
	case loginRoute:
		return errLogin
	}
	return nil
}

// read parses a page. The data is in JSON scripts, at depths that change, and is found by its names.
func read(ctx context.Context, body []byte) *page {
	p := &page{head: island.Read(body)}
	if m := ownRoute.FindSubmatch(body); m != nil {
		p.route = string(m[1])
	}
	var accounts []json.RawMessage
	for _, s := range p.head.Scripts {
		if !s.Has("data-sjs") {
			continue
		}
		p.scripts++
		island.Find(s.Body, func(name string, v island.Value) (into bool) {
			switch name {
			case "xig_user_by_username":
				accounts = append(accounts, v.Bytes())
			case "xig_polaris_media":
				keep(ctx, &p.media, v)
			default:
				return v.Is('{') || v.Is('[')
			}
			return false
		})
	}
	p.account = merged(ctx, accounts)
	p.profiled, p.posted = profileCardOf(p.head), postCardOf(p.head)
	return p
}

// keep decodes an object into dst, unless dst is already set.
func keep[T any](ctx context.Context, dst **wire.Object[T], v island.Value) {
	var o wire.Object[T]
	if *dst == nil && v.Is('{') && wire.Decode(ctx, v.Bytes(), &o) == nil {
		*dst = &o
	}
}

// merged returns an account assembled from several objects in a page; nil when there is none. The first value of a
// field wins, and fields of another account are left out.
func merged(ctx context.Context, parts []json.RawMessage) *wire.Object[member] {
	var whole map[string]json.RawMessage
	var raw json.RawMessage
	for _, part := range parts {
		var fields map[string]json.RawMessage
		if json.Unmarshal(part, &fields) != nil || fields == nil {
			continue
		}
		if whole == nil {
			whole, raw = fields, part
			continue
		}
		if !sameAccount(whole, fields) {
			continue
		}
		raw = nil
		for name, value := range fields {
			if known := whole[name]; known == nil || isNull(known) {
				whole[name] = value
			}
		}
	}
	if whole == nil {
		return nil
	}
	if raw == nil {
		raw, _ = schema.Marshal(whole) // cannot fail: it was JSON before
	}
	var o wire.Object[member]
	if wire.Decode(ctx, raw, &o) != nil {
		return nil
	}
	return &o
}

// sameAccount reports whether two objects are of one account, as far as both say.
func sameAccount(a, b map[string]json.RawMessage) bool {
	for _, name := range []string{"pk", "username"} {
		x, y := strings.Trim(string(a[name]), `"`), strings.Trim(string(b[name]), `"`)
		if x != "" && y != "" && x != "null" && y != "null" && !strings.EqualFold(x, y) {
			return false
		}
	}
	return true
}

// lacks returns the error for a missing part: a page without any data is a login page.
func (p *page) lacks(ctx context.Context, part string) error {
	switch {
	case p.route != "" && p.account == nil && p.media == nil: // the right page, without its data
		return providers.Limited("Instagram is rate limiting us", time.Minute)
	case p.scripts == 0:
		return errBare
	}
	return wire.Need(ctx, part, false)
}

var errBare = providers.Walled("Instagram showed a page without data: a login is required, or it does not exist")

// profileCard is the head of an account's page, used when its scripts hold no account.
type profileCard struct {
	Title       string `json:"og:title"` // Ann (@ann.example) • Instagram photos and videos
	About       string `json:"og:description"`
	Description string `json:"description"`
	Image       string `json:"og:image"`

	name, handle, bio           string
	followers, following, posts *int64
}

// profileCardOf reads the head of a page about an account: "2,362 Followers, 136 Following, 224 Posts - See …". The
// other description ends with the account's own bio.
func profileCardOf(head *island.Page) *profileCard {
	c := &profileCard{
		Title: head.Meta("og:title"), Image: head.Meta("og:image"),
		About: head.Meta("og:description"), Description: head.Meta("description"),
	}
	c.name, c.handle = named(c.Title)
	for _, about := range []string{c.About, c.Description} {
		if c.followers == nil {
			counts := countsIn(about)
			c.followers, c.following, c.posts = counts["follower"], counts["following"], counts["post"]
		}
	}
	if c.handle == "" || c.followers == nil {
		return nil
	}
	c.bio = quoted(c.Description)
	return c
}

// postCard is the head of a post's page.
type postCard struct {
	Title       string `json:"og:title"`      // Ann on Instagram: "…"
	Author      string `json:"twitter:title"` // Ann (@ann.example) • Instagram photos and videos
	Description string `json:"description"`   // 534K likes, 5,064 comments - ann.example on May 8, 2021: "…"
	Owner       string `json:"instapp:owner_user_id"`
	App         string `json:"al:ios:url"` // instagram://media?id=2569264890088593589
	Address     string `json:"og:url"`
	Image       string `json:"og:image"`
	Video       string `json:"og:video"`

	id, code, name, handle string
	likes, comments        *int64
}

// postCardOf reads the head of a page about a post. Its number and author are required.
func postCardOf(head *island.Page) *postCard {
	c := &postCard{
		Title: head.Meta("og:title"), Author: head.Meta("twitter:title"), Description: head.Meta("description"),
		Owner: head.Meta("instapp:owner_user_id"), App: head.Meta("al:ios:url"), Address: head.Meta("og:url"),
		Image: head.Meta("og:image"), Video: head.Meta("og:video"),
	}
	if c.Description == "" {
		c.Description = head.Meta("og:description")
	}
	if link, err := links.Parse(c.Address, hosts...); err == nil && link != nil {
		c.code = codeIn(link)
	}
	c.id = numberOf(c.code)
	if id, ok := strings.CutPrefix(c.App, "instagram://media?id="); ok && links.Digits(id) {
		c.id = id
	}
	c.name, c.handle = named(c.Author)
	if c.handle == "" {
		c.name, c.handle = authorIn(c.Description)
	}
	counts := countsIn(c.Description)
	c.likes, c.comments = counts["like"], counts["comment"]
	if c.id == "" || c.handle == "" {
		return nil
	}
	return c
}

// named parses "Ann (@ann.example) • Instagram photos and videos".
func named(title string) (name, handle string) {
	at := strings.LastIndex(title, "(@")
	if at < 0 {
		return "", ""
	}
	handle, _, ok := strings.Cut(title[at+2:], ")")
	if handle = strings.ToLower(handle); !ok || !username.MatchString(handle) {
		return "", ""
	}
	return strings.TrimSpace(title[:at]), handle
}

// authorIn parses "5,064 comments - ann.example on May 8, 2021: …", and "… - Ann (@ann.example) on Instagram: …".
func authorIn(description string) (name, handle string) {
	_, rest, _ := strings.Cut(description, " - ")
	author, _, ok := strings.Cut(rest, " on ")
	if name, handle = named(author); handle == "" && ok && username.MatchString(author) {
		handle = author
	}
	return name, handle
}

// countsIn parses what comes before the dash in "534K likes, 5,064 comments - …", keyed by the singular of each word.
// Large counts are rounded.
func countsIn(description string) map[string]*int64 {
	counts := map[string]*int64{}
	head, _, ok := strings.Cut(description, " - ")
	if !ok {
		return counts
	}
	for part := range strings.SplitSeq(head, ", ") {
		_, word, _ := strings.Cut(part, " ")
		counts[strings.TrimSuffix(strings.ToLower(word), "s")] = text.Count(part)
	}
	return counts
}

// quoted returns the text between the first and the last quotation mark after a colon, straight ones or, on older
// pages, curly ones.
func quoted(s string) string {
	for _, marks := range [][2]string{{`: "`, `"`}, {`: “`, `”`}} {
		_, rest, ok := strings.Cut(s, marks[0])
		if end := strings.LastIndex(rest, marks[1]); ok && end >= 0 {
			return strings.TrimSpace(rest[:end])
		}
	}
	return ""
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }
