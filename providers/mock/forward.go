package mock

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// routes are the raw routes, which return data in the sandbox platform's format. A query is only echoed.
func routes(id platform.ID) []providers.Route {
	return providers.Routes(id, "users/{name}{?*}", "items/{id}{?*}", "notes/{id}{?*}", "goods/{id}{?*}", "echo/{word}{?*}")
}

// echo is the answer of echo/{word}: the request itself.
type echo struct {
	Path  string     `json:"path"`
	Query url.Values `json:"query"`
}

// forward serves the routes. The last part of a path may be a magic word.
func (s *sandbox) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	what, key, _ := strings.Cut(path, "/")
	if err := s.enter(ctx, "", magic(s.id, []string{key})); err != nil {
		return nil, err
	}
	switch what {
	case "users":
		return raw(s.user(key)), nil
	case "items":
		return raw(s.item(key)), nil
	case "notes":
		return raw(s.note(key)), nil
	case "goods":
		return raw(s.ware(key, "")), nil
	case "echo":
		return raw(echo{path, query}), nil
	}
	return nil, providers.NotFound("the sandbox has no route %s", path)
}
