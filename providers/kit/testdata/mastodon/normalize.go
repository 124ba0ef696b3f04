package mastodon

import (
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// normalize accepts a handle with or without @, and the address of an account on this server.
func normalize(s providers.Subject, v string) (string, error) {
	v = strings.TrimPrefix(v, site+"/")
	name := strings.ToLower(strings.TrimPrefix(v, "@"))
	if s == providers.Handle && strings.ContainsAny(name, "/@ ") {
		return "", providers.Invalid("must be a handle of this server, such as ann")
	}
	return name, nil
}

// names returns what an address on this server identifies: only accounts can be read.
func names(u *url.URL) (providers.Subject, string, bool) {
	if u.Host != strings.TrimPrefix(site, "https://") {
		return "", "", false
	}
	name, isAccount := strings.CutPrefix(strings.Trim(u.Path, "/"), "@")
	if id, err := normalize(providers.Handle, name); isAccount && err == nil && name != "" {
		return providers.Handle, id, true
	}
	return providers.SitePage, "", false
}
