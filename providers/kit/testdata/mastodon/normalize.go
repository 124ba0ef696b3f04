package mastodon

import (
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// normalize takes a handle with or without @, and the address of an account on this server.
func normalize(s providers.Subject, v string) (string, error) {
	v = strings.TrimPrefix(v, site+"/")
	name := strings.ToLower(strings.TrimPrefix(v, "@"))
	if s == providers.Handle && strings.ContainsAny(name, "/@ ") {
		return "", providers.Invalid("must be a handle of this server, such as ann")
	}
	return name, nil
}
