package facebook

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/countries"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const pageFields = "id,name,username,about,bio,description,category,category_list,fan_count,followers_count,link," +
	"website,emails,verification_status,picture.type(large){url,is_silhouette},cover,location,single_line_address"

func (c *client) profile(ctx context.Context, handle string) (schema.Profile, error) {
	p, err := c.page(ctx, handle)
	if err != nil {
		return schema.Profile{}, err
	}
	return p.V.profile(p.Raw), nil
}

// page reads a Page by its name or number, and follows it once if it has another number now.
func (c *client) page(ctx context.Context, handle string) (wire.Object[page], error) {
	var p wire.Object[page]
	handle, err := following(handle, func(id string) error {
		_, err := c.pages.Read(ctx, upstream.Get(id).With("fields", pageFields), &p)
		return err
	})
	if err != nil {
		return p, err
	}
	if err := wire.Need(ctx, "id", p.V.ID != ""); err != nil {
		return p, err
	}
	if !p.V.is(handle) {
		if err := wire.Same(ctx, "page", handle, string(p.V.ID)); err != nil {
			return p, err
		}
	}
	return p, nil
}

// owner returns the actor of a Page. A number needs no look-up.
func (c *client) owner(ctx context.Context, handle string) (schema.Actor, error) {
	if links.Digits(handle) {
		return schema.Actor{ID: handle, Handle: handle}, nil
	}
	p, err := c.page(ctx, handle)
	return p.V.actor(), err
}

// page is a Page. Any field may be missing.
type page struct {
	ID           wire.Serial `json:"id"`
	Name         string      `json:"name"`
	Username     string      `json:"username"`
	About        string      `json:"about"`
	Bio          string      `json:"bio"`
	Description  string      `json:"description"`
	Fans         wire.Count  `json:"fan_count"` // who like it
	Followers    wire.Count  `json:"followers_count"`
	Link         string      `json:"link"`
	Website      string      `json:"website"` // several, separated by spaces or commas
	Verification string      `json:"verification_status"`
	Location     struct {
		Country string `json:"country"` // its name in English
	} `json:"location"`
	Picture struct {
		Data struct {
			URL        string    `json:"url"`
			Silhouette wire.Bool `json:"is_silhouette"`
		} `json:"data"`
	} `json:"picture"`
}

// is reports whether p is the requested Page. Names ignore case and dots. A personal account that became a Page has two
// numbers, and answers to both.
func (p page) is(handle string) bool {
	switch {
	case string(p.ID) == handle:
		return true
	case links.Digits(handle):
		return isAccount(handle) != isAccount(string(p.ID))
	}
	return p.Username == "" || sameName(p.Username, handle)
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, ".", ""), strings.ReplaceAll(b, ".", ""))
}

// isAccount reports whether a number is that of an account and not of a Page.
func isAccount(id string) bool {
	return links.Digits(id) && len(id) >= 14 && (strings.HasPrefix(id, "1000") || strings.HasPrefix(id, "6155"))
}

func (p page) profile(raw json.RawMessage) schema.Profile {
	followers := p.Followers.V
	if followers == nil {
		followers = p.Fans.V
	}
	return schema.Profile{
		Common:      schema.Common{ID: string(p.ID), URL: text.URLOr(p.Link, siteURL+string(p.ID)), Raw: raw},
		Handle:      cmp.Or(p.Username, string(p.ID)),
		DisplayName: text.NonEmpty(p.Name),
		Bio:         text.NonEmpty(cmp.Or(strings.TrimSpace(p.About), strings.TrimSpace(p.Bio), p.Description)),
		AvatarURL:   p.avatar(),
		Verified:    p.Verification == "blue_verified" || p.Verification == "gray_verified",
		Followers:   followers,
		Country:     countries.Code(p.Location.Country),
		Links:       websites(p.Website),
	}
}

func (p page) avatar() *string {
	if !p.Picture.Data.Silhouette.Not() {
		return nil
	}
	return text.URL(p.Picture.Data.URL)
}

func (p page) actor() schema.Actor {
	return schema.Actor{
		ID: string(p.ID), Handle: cmp.Or(p.Username, string(p.ID)), DisplayName: text.NonEmpty(p.Name), AvatarURL: p.avatar(),
	}
}

// websites returns the addresses in a field with free text.
func websites(field string) []string {
	var out []string
	for _, s := range strings.FieldsFunc(field, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == '،' }) {
		if !strings.Contains(s, "://") {
			s = "http://" + s
		}
		out = append(out, s)
	}
	return text.URLs(out...)
}

// maker is the author of a post, comment or event.
type maker struct {
	ID      wire.ID `json:"id"`
	Name    string  `json:"name"`
	Picture struct {
		Data struct {
			URL string `json:"url"`
		} `json:"data"`
	} `json:"picture"`
}

// actor returns the author, or owner when Facebook gives no author or the same one.
func (m maker) actor(owner schema.Actor) schema.Actor {
	if m.ID == "" || string(m.ID) == owner.ID {
		if owner.DisplayName == nil {
			owner.DisplayName = text.NonEmpty(m.Name)
		}
		return owner
	}
	return schema.Actor{
		ID: string(m.ID), Handle: string(m.ID), DisplayName: text.NonEmpty(m.Name), AvatarURL: text.URL(m.Picture.Data.URL),
	}
}

// search searches Pages.
func (c *client) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (providers.Page[schema.SearchResult], error) {
	r := upstream.Get("pages", "search").Says("q", q.Query).With("fields", "id,name,location,link,verification_status")
	return pageOf(ctx, c.pages, r, cursor, func(p page, raw json.RawMessage) (schema.SearchResult, bool) {
		found := p.profile(raw)
		return schema.Result(&found), true
	})
}
