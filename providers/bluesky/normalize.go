package bluesky

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/links"
)

var (
	handle = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
	did    = regexp.MustCompile(`^did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]$`)
	rkey   = regexp.MustCompile(`^[A-Za-z0-9._:~-]{1,512}$`)
)

// normalize folds a handle, which ignores case, and reduces a post to its AT-URI, of whose author only Bluesky knows
// the DID when the link has the handle.
func normalize(s providers.Subject, value string) (string, error) {
	value, isURI := strings.CutPrefix(value, "at://")
	var link *links.Link
	if !isURI {
		var err error
		if link, err = links.Parse(value, "bsky.app"); err != nil {
			return "", err
		}
	}
	if link != nil && link.Segment(0) != "profile" {
		return "", providers.Invalid("%q is no profile or post on bsky.app", value)
	}
	if s == providers.Handle {
		if link != nil {
			value = link.Segment(1)
		}
		return account(value)
	}
	who, collection, key := "", "", ""
	if parts := strings.Split(value, "/"); isURI && len(parts) == 3 {
		who, collection, key = parts[0], parts[1], parts[2]
	}
	if link != nil && link.Segment(2) == "post" {
		who, collection, key = link.Segment(1), postCollection, link.Segment(3)
	}
	who, err := account(who)
	if err != nil || collection != postCollection || !rkey.MatchString(key) {
		return "", providers.Invalid("a Bluesky post is given by its link on bsky.app, or its address at://did:plc:…/app.bsky.feed.post/…")
	}
	return uri(who, key), nil
}

// account reads a handle or a DID. Handles that are copied out of the app come between marks of direction.
func account(value string) (string, error) {
	value = strings.TrimPrefix(strings.Trim(value, "\u200e\u200f\u202a\u202c\u2066\u2068\u2069"), "@")
	if did.MatchString(value) {
		return value, nil
	}
	if value = strings.ToLower(value); handle.MatchString(value) {
		return value, nil
	}
	return "", providers.Invalid("a Bluesky handle is a domain such as bsky.app or jay.bsky.team, or a DID")
}

func uri(who, key string) string { return "at://" + who + "/" + postCollection + "/" + key }

// isPost tells whether s is the address of a post under the DID of its author.
func isPost(s string) bool {
	who, key, ok := strings.Cut(strings.TrimPrefix(s, "at://"), "/"+postCollection+"/")
	return ok && strings.HasPrefix(s, "at://") && did.MatchString(who) && rkey.MatchString(key)
}
