package mock

import (
	"context"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/schema"
)

// FailEnrichment is a part of the texts returned for the word fail_enrichment. An [Enricher] fails on such texts.
const FailEnrichment = "[[mock: enrichment fails]]"

var errEnrichment = errors.New("mock: the text asks for a failure")

// Enricher returns next with one change: it fails for texts that contain [FailEnrichment].
func Enricher(next enrich.Enricher) enrich.Enricher {
	return enrich.Func(func(ctx context.Context, text string) (schema.Enrichment, error) {
		if strings.Contains(text, FailEnrichment) {
			return schema.Enrichment{}, errEnrichment
		}
		return next.Enrich(ctx, text)
	})
}

// mark writes [FailEnrichment] into the text of an object, if it has one.
func mark(o any) {
	switch o := inside(o).(type) {
	case *schema.Profile:
		o.Bio = marked(o.Bio)
	case *schema.Post:
		o.Text += " " + FailEnrichment
	case *schema.Comment:
		o.Text += " " + FailEnrichment
	case *schema.LiveStream:
		o.Title = marked(o.Title)
	case *schema.Transcript:
		o.Text += " " + FailEnrichment
	case *schema.Collection:
		o.Title += " " + FailEnrichment
	case *schema.Track:
		o.Title += " " + FailEnrichment
	case *schema.Product:
		o.Title += " " + FailEnrichment
	case *schema.Review:
		o.Text += " " + FailEnrichment
	case *schema.Ad:
		o.Text += " " + FailEnrichment
	case *schema.Advertiser:
		o.Name += " " + FailEnrichment
	case *schema.Event:
		o.Name += " " + FailEnrichment
	case *schema.WebPage:
		o.Title += " " + FailEnrichment
	}
}

func marked(text *string) *string {
	if text == nil {
		return new(FailEnrichment)
	}
	return new(*text + " " + FailEnrichment)
}
