package appstore

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/markup"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// storefronts are Apple's numbers for its stores, limited to those on which several public lists agree.
var storefronts = map[string]string{
	"US": "143441", "FR": "143442", "DE": "143443", "GB": "143444", "IT": "143450", "ES": "143454", "CA": "143455",
	"JP": "143462", "IN": "143467", "MX": "143468", "SA": "143479", "TR": "143480", "AE": "143481", "KW": "143493",
	"LB": "143497", "QA": "143498", "BR": "143503", "EG": "143516", "JO": "143528", "TN": "143536", "BH": "143559",
	"OM": "143562",
}

// regions are the countries of storefronts.
func regions() []string { return slices.Sorted(maps.Keys(storefronts)) }

// suggestions reads the hints of the store's search box, a property list in XML.
func (c *client) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	country := cmp.Or(q.Region, c.markets.Home)
	r := upstream.Get("WebObjects/MZSearchHints.woa/wa/hints").With("clientApplication", "Software").Says("term", q.Query)
	r.Header = http.Header{"Accept": {"application/xml"}, "X-Apple-Store-Front": {storefronts[country] + ",29"}}
	res, err := c.hints.Do(ctx, r)
	if err != nil {
		return page, err
	}
	hints, err := readHints(ctx, res.Body)
	if err != nil {
		return page, err
	}
	err = wire.Witness{Rows: len(hints)}.Check(ctx, "hints")
	if err != nil {
		return page, err
	}
	for _, h := range hints {
		raw, err := json.Marshal(h)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, schema.Suggestion{
			Common: schema.Common{
				ID: "query:" + h.Term, Raw: raw,
				URL: "https://apps.apple.com/" + strings.ToLower(country) + "/search?term=" + url.QueryEscape(h.Term),
			},
			Text: h.Term, Kind: schema.SuggestQuery, Position: new(h.place),
		})
	}
	return page, nil
}

// hint is one suggestion, with the field names of the property list.
type hint struct {
	Term     string `json:"term"`
	Priority string `json:"priority,omitempty"`
	URL      string `json:"url,omitempty"`

	place int64 // position in the list
}

// node is any element of a property list; a dict contains alternating keys and values.
type node struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Nodes   []node `xml:",any"`
}

// readHints extracts the dicts from the first array of the list.
func readHints(ctx context.Context, body []byte) ([]hint, error) {
	var list node
	if err := markup.XML(body, &list); err != nil {
		return nil, err
	}
	if err := wire.Marker(ctx, "root", list.XMLName.Local, "plist"); err != nil {
		return nil, err
	}
	array, here := list.array()
	if err := wire.Need(ctx, "array", here); err != nil {
		return nil, err
	}
	var hints []hint
	for i, dict := range array.Nodes {
		if h := dict.hint(); h.Term != "" {
			h.place = int64(i)
			hints = append(hints, h)
		}
	}
	return hints, wire.Understood("array", len(hints), len(array.Nodes)-len(hints))
}

// array returns the array in the dict that makes up a property list.
func (n node) array() (node, bool) {
	for _, in := range n.Nodes {
		if in.XMLName.Local == "array" {
			return in, true
		}
		if a, here := in.array(); here {
			return a, true
		}
	}
	return node{}, false
}

func (n node) hint() hint {
	var h hint
	for i := 0; i+1 < len(n.Nodes); i += 2 {
		value := strings.TrimSpace(n.Nodes[i+1].Text)
		switch strings.TrimSpace(n.Nodes[i].Text) {
		case "term":
			h.Term = value
		case "priority":
			h.Priority = value
		case "url":
			h.URL = value
		}
	}
	return h
}
