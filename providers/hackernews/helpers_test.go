package hackernews_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

// bodies answers each path with its body, and null where there is none.
type bodies map[string]string

func (b bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	body, ok := b[r.URL.Path]
	if !ok {
		body = "null"
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func ids(page providers.Page[schema.Post]) string {
	var out []string
	for _, p := range page.Items {
		out = append(out, p.ID)
	}
	return strings.Join(out, " ")
}

func isCursor(err error) bool { return errors.Is(err, providers.ErrCursor) }

func profile(name, handle string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Profile, error) {
		return p.Profile(ctx, handle)
	})
}

func post(name, id string) providertest.Call {
	return providertest.One(name, func(ctx context.Context, p providers.Provider) (schema.Post, error) {
		return p.Post(ctx, id)
	})
}

func posts(name, handle string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Post], error) {
		return p.Posts(ctx, handle, cursor)
	})
}

func comments(name, id string) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Comment], error) {
		return p.Comments(ctx, id, cursor)
	})
}

func replies(name string, q providers.RepliesQuery) providertest.Call {
	return providertest.List(name, func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[schema.Comment], error) {
		return p.Replies(ctx, q, cursor)
	})
}
