package mock

import (
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func suggestionsKey(q providers.SuggestionsQuery) []string { return []string{q.Query} }

// suggestions completes a text: with a tag in the language of the region, or with an account.
func (s *sandbox) suggestions(q providers.SuggestionsQuery) (series[schema.Suggestion], error) {
	somebody := people("suggestions", q.Query)
	return series[schema.Suggestion]{n: 12, at: func(i int) schema.Suggestion {
		return s.hint(q, somebody(i), i).suggestion()
	}}, nil
}

// hint is a suggestion in the format of the sandbox platform.
type hint struct {
	HintID string   `json:"hint_id"`
	Link   string   `json:"link"`
	Text   string   `json:"text"`
	Who    *account `json:"who"` // null if the hint is not an account
	Rank   *int64   `json:"rank"`
}

func (g *generator) hint(q providers.SuggestionsQuery, by string, i int) hint {
	d := roll("suggestion", q.Query, q.Region, strconv.Itoa(i))
	h := hint{HintID: child(slug(q.Query), "suggestion", i+1), Rank: hide(d, 10, int64(i))}
	if i%3 == 2 {
		h.Text, h.Who, h.Link = by, new(g.account(by)), g.page("@"+by)
		return h
	}
	lang := pick(d, []string{"ar", "en"})
	for _, home := range homes {
		if home.country == q.Region {
			lang = home.lang
		}
	}
	words := tags[lang]
	h.Text = strings.TrimSpace(q.Query + " " + words[i%len(words)])
	if round := i / len(words); round > 0 {
		h.Text += " " + strconv.Itoa(round+1)
	}
	h.Link = g.page("search", h.Text)
	return h
}

func (h hint) suggestion() schema.Suggestion {
	out := schema.Suggestion{Common: common(h.HintID, h.Link, h), Text: h.Text, Kind: schema.SuggestQuery, Position: h.Rank}
	if h.Who != nil {
		out.Kind, out.Profile = schema.SuggestProfile, new(h.Who.actor())
	}
	return out
}
