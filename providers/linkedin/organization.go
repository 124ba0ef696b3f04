package linkedin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// organization is the public data of a company or a school.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/organizations/organization-lookup-api
type organization struct {
	ID        wire.Serial `json:"id"`
	Name      string      `json:"localizedName"`
	Vanity    string      `json:"vanityName"`
	Website   string      `json:"localizedWebsite"`
	About     string      `json:"localizedDescription"`
	Locations []struct {
		Type    string `json:"locationType"` // "HEADQUARTERS" or "OTHER"
		Address struct {
			Country string `json:"country"`
		} `json:"address"`
	} `json:"locations"`
}

// profile finds the number of an organisation by its name, looks it up, and counts its followers.
func (c *client) profile(ctx context.Context, handle string) (out schema.Profile, err error) {
	kind, name, _ := strings.Cut(handle, "/")
	if kind != "company" && kind != "school" {
		return out, providers.Unsupported("LinkedIn's API has companies and schools, but no people")
	}
	id := name
	if !links.Digits(name) {
		if id, err = c.find(ctx, name); err != nil {
			return out, err
		}
	}
	o, err := c.lookUp(ctx, id)
	if err != nil {
		return out, err
	}
	followers, err := c.followers(ctx, id)
	if err != nil {
		return out, err
	}
	out = o.V.profile(account{kind, cmp.Or(o.V.Vanity, name)})
	out.Raw, out.Followers = o.Raw, followers
	return out, nil
}

// find returns the number of the organisation with the given name.
func (c *client) find(ctx context.Context, name string) (string, error) {
	var found struct {
		Elements wire.Rows[organization] `json:"elements"`
	}
	r := upstream.Get("rest", "organizations").With("q", "vanityName").With("vanityName", name)
	if _, err := c.http.Read(ctx, r, &found); err != nil {
		return "", err
	}
	if err := found.Elements.Check(ctx, "elements"); err != nil {
		return "", err
	}
	for _, o := range found.Elements.All() {
		if err := wire.SameFold(ctx, "organisation", name, o.V.Vanity); err != nil {
			return "", err
		}
		return string(o.V.ID), wire.Need(ctx, "elements[].id", o.V.ID != "")
	}
	return "", errUnseen
}

// lookUp reads the public data of an organisation.
func (c *client) lookUp(ctx context.Context, id string) (wire.Object[organization], error) {
	var found struct {
		Results  map[string]wire.Object[organization] `json:"results"`
		Statuses map[string]wire.Count                `json:"statuses"`
	}
	r := upstream.Get("rest", "organizationsLookup").With("ids", "List("+id+")")
	if _, err := c.http.Read(ctx, r, &found); err != nil {
		return wire.Object[organization]{}, err
	}
	o := found.Results[id]
	if status := found.Statuses[id].V; !o.Here() && status != nil {
		switch *status {
		case http.StatusNotFound:
			return o, errUnseen
		case http.StatusForbidden:
			return o, providers.Unavailable(nil, "LinkedIn does not allow our app to read this organization")
		}
	}
	if err := wire.Need(ctx, "results", o.Here()); err != nil {
		return o, err
	}
	return o, wire.Same(ctx, "organisation", id, string(o.V.ID))
}

// followers counts the followers. Older versions of the API name the kind of followers differently.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/organizations/organization-lookup-api
func (c *client) followers(ctx context.Context, id string) (*int64, error) {
	var size struct {
		Count wire.Count `json:"firstDegreeSize"`
	}
	r := upstream.Get("rest", "networkSizes", urn+"organization:"+id)
	_, err := c.http.Read(ctx, r.With("edgeType", "COMPANY_FOLLOWED_BY_MEMBER"), &size)
	if errors.Is(err, errRequest) {
		_, err = c.http.Read(ctx, r.With("edgeType", "CompanyFollowedByMember"), &size)
	}
	if err != nil {
		return nil, err
	}
	err = wire.Need(ctx, "firstDegreeSize", size.Count.V != nil)
	return size.Count.V, err
}

func (o organization) profile(a account) schema.Profile {
	out := profileOf(a, o.Name, o.About, "")
	out.ID, out.Links = string(o.ID), text.URLs(o.Website)
	for _, l := range o.Locations {
		if l.Type == "HEADQUARTERS" {
			out.Country = text.NonEmpty(l.Address.Country)
		}
	}
	return out
}
