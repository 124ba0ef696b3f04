package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// suggestions reads what the search box of the site offers. There is no documentation; the site itself asks so.
func (s *site) suggestions(ctx context.Context, q providers.SuggestionsQuery, _ string) (providers.Page[schema.Suggestion], error) {
	var a suggested
	r := upstream.Get("complete", "search").With("client", "youtube").With("ds", "yt").With("xhr", "t").
		With("hl", "en").With("gl", cmp.Or(q.Region, "US")).With("q", q.Query)
	if _, err := s.suggest.JSON(ctx, r, &a); err != nil {
		return providers.Page[schema.Suggestion]{}, fmt.Errorf("youtube: suggestions for %q: %w", q.Query, err)
	}
	var page providers.Page[schema.Suggestion]
	for _, o := range a.rows {
		t := text.NonEmpty(o.V.text)
		if t == nil {
			continue
		}
		u := "https://www.youtube.com/results?" + url.Values{"search_query": {*t}}.Encode()
		page.Items = append(page.Items, schema.Suggestion{
			Common: schema.Common{ID: digest(u), URL: u, Raw: o.Raw},
			Text:   *t, Kind: schema.SuggestQuery, Position: new(int64(len(page.Items))),
		})
	}
	return page, nil
}

// suggested is the answer: an array of the question, the rows and some more.
type suggested struct {
	rows []upstream.Object[suggestedRow]
}

// UnmarshalJSON reads the second element.
func (s *suggested) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if len(parts) < 2 {
		return errors.New("no suggestions in the answer")
	}
	return json.Unmarshal(parts[1], &s.rows)
}

// suggestedRow is an array of the text, its type and a list of numbers.
type suggestedRow struct{ text string }

// UnmarshalJSON reads the first element.
func (r *suggestedRow) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if len(parts) == 0 {
		return errors.New("an empty suggestion")
	}
	return json.Unmarshal(parts[0], &r.text)
}
