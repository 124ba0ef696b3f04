package telegram

import (
	"context"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// search searches posts within one channel.
func (w web) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	var out providers.Page[schema.SearchResult]
	if q.Handle == "" {
		return out, providers.Invalid("Telegram only searches within one channel, which must be given by handle")
	}
	page, err := w.list(ctx, q.Handle, q.Query, cursor)
	if err != nil {
		return out, err
	}
	out.Next = page.Next
	for i := range page.Items {
		out.Items = append(out.Items, schema.Result(&page.Items[i]))
	}
	return out, nil
}
