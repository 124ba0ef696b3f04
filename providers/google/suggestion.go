package google

import (
	"context"
	"encoding/json"
	"mime"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// suggestions reads what the address bar of a browser suggests.
func (s *site) suggestions(
	ctx context.Context, q providers.SuggestionsQuery, _ string,
) (page providers.Page[schema.Suggestion], err error) {
	r := upstream.Get("complete", "search").With("client", "chrome").With("oe", "utf-8").
		With("gl", strings.ToLower(q.Region)).Says("q", q.Query)
	var a suggested
	res, err := s.box.Do(ctx, r)
	if err != nil {
		return page, err
	}
	if err := wire.Decode(ctx, inUTF8(res), &a); err != nil {
		return page, err
	}
	if err := a.Texts.Check(ctx, "[1]"); err != nil {
		return page, err
	}
	// a response that repeats the question has no suggestions for it
	err = wire.Witness{Rows: a.Texts.Len(), Words: a.asked != "" && strings.EqualFold(a.asked, q.Query)}.Check(ctx, "[1]")
	if err != nil {
		return page, err
	}
	dropped := 0 // beside those that are marked as addresses
	for place, row := range a.Texts.All() {
		words := text.FromHTML(row.V)
		typed := place < len(a.types) && a.types[place] != ""
		switch {
		case typed && a.types[place] == navigation:
			continue
		case words == "", !typed && strings.Contains(words, "://"):
			dropped++
			continue
		}
		page.Items = append(page.Items, schema.Suggestion{
			Common: schema.Common{
				ID: "q:" + words, URL: "https://www.google.com/search?" + url.Values{"q": {words}}.Encode(), Raw: row.Raw,
			},
			Text: words, Kind: schema.SuggestQuery, Position: new(int64(place - a.addresses(place) - dropped)),
		})
	}
	return page, nil
}

// inUTF8 returns the body of a response in UTF-8: Google does not always honour the encoding that we ask for.
func inUTF8(res *upstream.Response) []byte {
	_, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || !strings.EqualFold(params["charset"], "iso-8859-1") {
		return res.Body
	}
	letters := make([]rune, len(res.Body)) // each byte is a code point
	for i, b := range res.Body {
		letters[i] = rune(b)
	}
	return []byte(string(letters))
}

// suggested is an array of the question, the texts, their descriptions, an empty element, and further data; some
// responses end after the texts.
type suggested struct {
	Texts wire.Rows[string] `json:"[1]"`
	asked string
	types []string
}

// UnmarshalJSON reads the second element, and the types in the fifth.
func (s *suggested) UnmarshalJSON(b []byte) error {
	parts := wire.First(b, 5)
	if len(parts) < 2 {
		return providers.Cause("no suggestions in the answer")
	}
	_ = json.Unmarshal(parts[0], &s.asked) // a question that cannot be read counts as none
	if len(parts) > 4 {
		var more struct {
			Types []string `json:"google:suggesttype"` // QUERY, ENTITY, CALCULATOR, NAVIGATION …
		}
		_ = json.Unmarshal(parts[4], &more) // without types, addresses are recognized by their form
		s.types = more.Types
	}
	return s.Texts.UnmarshalJSON(parts[1])
}

// navigation is the type of a text that is the address of a page, not words to search for.
const navigation = "NAVIGATION"

// addresses returns how many of the texts before a position are marked as addresses.
func (s suggested) addresses(place int) (n int) {
	for _, kind := range s.types[:min(place, len(s.types))] {
		if kind == navigation {
			n++
		}
	}
	return n
}
