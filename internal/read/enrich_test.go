package read_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestNothingToEnrichCostsNothing(t *testing.T) {
	t.Parallel()
	silent, said := enginetest.Post("1"), enginetest.Post("2")
	silent.Text = " \n"
	tests := []struct {
		name  string
		items []schema.Post
		used  int64
		nulls int
	}{
		{"an empty list", nil, 1, 0},
		{"a post without text", []schema.Post{silent}, 1, 1},
		{"one of two has text", []schema.Post{silent, said}, 4, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Of(t, list(func(context.Context, int) (providers.Page[schema.Post], error) {
				return providers.Page[schema.Post]{Items: tt.items}, nil
			}))
			got, err := e.Client.Posts(t.Context(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a", ReadOptions: socialdata.ReadOptions{Enrich: socialdata.Arabic}})
			if err != nil {
				t.Fatal(err)
			}
			nulls := 0
			for _, p := range got.Data {
				if !p.Enrichment.Set {
					t.Errorf("%s has no enrichment", p.ID)
				}
				if p.Enrichment.Value == nil {
					nulls++
				}
			}
			if got.Meta.CreditsUsed != tt.used || e.Balance(t) != 1000-tt.used || nulls != tt.nulls {
				t.Errorf("used %d, %d left, %d null; want %d and %d", got.Meta.CreditsUsed, e.Balance(t), nulls, tt.used, tt.nulls)
			}
		})
	}
}

// model is an enricher with a version that always returns the same.
type model struct {
	enrich.Func
	version string
}

func (m model) Version() string { return m.version }

func TestInventedWordsAreDroppedAndCounted(t *testing.T) {
	t.Parallel()
	var told []observe.Invented
	e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{
		socialdata.WithEnricher(enrich.Func(func(context.Context, string) (schema.Enrichment, error) {
			return schema.Enrichment{
				Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}, Topics: []schema.Topic{"sports", "gossip"},
				Entities: []schema.Entity{{Text: "a", Type: "deity"}, {Text: "b", Type: "person"}},
			}, nil
		})),
		socialdata.WithObserver(observe.Observer{Invented: func(i observe.Invented) { told = append(told, i) }}),
	}})
	got, err := e.Client.Enrich(t.Context(), socialdata.EnrichRequest{Text: "a b"})
	if err != nil || len(got.Data.Topics) != 1 || len(got.Data.Entities) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if diff := cmp.Diff([]observe.Invented{{Operation: "enrich", Words: 2}}, told); diff != "" {
		t.Errorf("invented (-want +got):\n%s", diff)
	}
}

func TestATagCoversEnrichmentAndTheVersionOfTheModel(t *testing.T) {
	t.Parallel()
	tags := map[string]string{}
	for _, version := range []string{"1", "2"} {
		neutral := func(context.Context, string) (schema.Enrichment, error) {
			return schema.Enrichment{Dialect: schema.MSA, Sentiment: schema.Sentiment{Label: schema.Neutral}}, nil
		}
		e := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithEnricher(model{neutral, version})}})
		for name, params := range map[string][]string{
			"plain": {"handle", "salma_haddad"}, "enriched " + version: {"handle", "salma_haddad", "enrich", "arabic"},
			"enriched with raw " + version: {"handle", "salma_haddad", "enrich", "arabic", "include_raw", "true"},
		} {
			tag := tagOf(t, e.Client, "profile", "mock", params...)
			for other, seen := range tags {
				if (seen == tag) != (other == name) {
					t.Errorf("%s has the tag of %s", name, other)
				}
			}
			tags[name] = tag
		}
	}
	if len(tags) != 5 {
		t.Errorf("%d kinds of answers, want 5", len(tags))
	}
}
