package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/ids"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// suggestions reads the completions of the site's search box. They are undocumented.
func (s *site) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	return s.suggest(ctx, q)
}

func (s *site) suggest(ctx context.Context, q providers.SuggestionsQuery) (providers.Page[schema.Suggestion], error) {
	var page providers.Page[schema.Suggestion]
	var a suggested
	r := upstream.Get("complete", "search").With("client", "youtube").With("ds", "yt").With("xhr", "t").
		With("hl", "en").With("gl", cmp.Or(q.Region, "US")).Says("q", q.Query)
	_, err := s.box.Read(ctx, r, &a)
	if err != nil {
		return page, err
	}
	if err := a.Rows.Check(ctx, "[1]"); err != nil {
		return page, err
	}
	// an answer that repeats the query has no suggestions for it
	err = wire.Witness{Rows: a.Rows.Len(), Words: a.asked != "" && strings.EqualFold(a.asked, q.Query)}.Check(ctx, "[1]")
	if err != nil {
		return page, err
	}
	for place, o := range a.Rows.All() {
		page.Items = append(page.Items, o.V.suggestion(int64(place), o.Raw))
	}
	return page, nil
}

// suggested is the answer: an array of the query, the rows and further elements.
type suggested struct {
	Rows  wire.Rows[suggestedRow] `json:"[1]"`
	asked string
}

// UnmarshalJSON reads the second element.
func (s *suggested) UnmarshalJSON(b []byte) error {
	parts := wire.First(b, 2)
	if len(parts) < 2 {
		return providers.Cause("no suggestions in the answer")
	}
	_ = json.Unmarshal(parts[0], &s.asked) // a query that cannot be read counts as none
	return s.Rows.UnmarshalJSON(parts[1])
}

// suggestedRow is an array of the text, its type and a list of numbers.
type suggestedRow struct{ text string }

// UnmarshalJSON reads the first element.
func (r *suggestedRow) UnmarshalJSON(b []byte) error {
	parts := wire.First(b, 1)
	if len(parts) == 0 {
		return providers.Cause("an empty suggestion")
	}
	if err := json.Unmarshal(parts[0], &r.text); err != nil {
		return err
	}
	if text.NonEmpty(r.text) == nil {
		return providers.Cause("a suggestion without a text")
	}
	return nil
}

func (r suggestedRow) suggestion(position int64, raw json.RawMessage) schema.Suggestion {
	words := *text.NonEmpty(r.text)
	u := "https://www.youtube.com/results?" + url.Values{"search_query": {words}}.Encode()
	return schema.Suggestion{
		Common: schema.Common{ID: ids.Of(u), URL: u, Raw: raw},
		Text:   words, Kind: schema.SuggestQuery, Position: &position,
	}
}
