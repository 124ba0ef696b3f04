package hackernews_test

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// bodies answers each path with its body, or with null when it has none.
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
