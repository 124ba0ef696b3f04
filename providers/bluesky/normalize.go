package bluesky

import (
	"regexp"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/links"
)

var (
	handle = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
	did    = regexp.MustCompile(`^did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]$`)
	rkey   = regexp.MustCompile(`^[A-Za-z0-9._:~-]{1,512}$`)
)

// addresses describes how the addresses of Bluesky's app and its identifiers are parsed. Read only.
var addresses = &links.Site{
	Hosts: []string{"bsky.app", "embed.bsky.app", short},
	Order: []providers.Subject{providers.PostID, providers.Handle},
	Also:  map[providers.Subject][]providers.Subject{providers.PostID: {providers.CommentID, providers.Handle}},
	In:    inLink, ID: canonical,
	Short:    func(l *links.Link) bool { return l.Host == short && l.Segment(0) != "" },
	Searches: map[string]string{"search": "{q}", "hashtag": "#{}"},
}

// short is the host of the short links to starter packs and the like.
const short = "go.bsky.app"

// inLink returns the identifier of kind s in an address, or "" when there is none.
func inLink(s providers.Subject, l *links.Link) string {
	who := l.Segment(1)
	switch {
	case l.Segment(0) == "embed" && l.Segment(2) == postCollection && s != providers.Handle, // embed/DID/app.bsky.feed.post/KEY
		l.Segment(0) == "profile" && l.Segment(2) == "post" && s != providers.Handle:
		return uri(who, l.Segment(3))
	case l.Segment(0) == "profile" && s == providers.Handle:
		return who
	}
	return ""
}

// normalize also accepts addresses of the AT protocol.
func normalize(s providers.Subject, value string) (string, error) {
	if strings.HasPrefix(value, "at://") {
		return canonical(s, value)
	}
	return addresses.Normalize(s, value)
}

// canonical converts a handle to lower case, and checks the AT-URI of a post. If a link has the author's handle, the
// DID is resolved later.
func canonical(s providers.Subject, value string) (string, error) {
	value, isURI := strings.CutPrefix(value, "at://")
	if s == providers.Handle {
		return account(value)
	}
	who, collection, key := "", "", ""
	if parts := strings.Split(value, "/"); isURI && len(parts) == 3 {
		who, collection, key = parts[0], parts[1], parts[2]
	}
	who, err := account(who)
	if err != nil || collection != postCollection || !rkey.MatchString(key) {
		return "", providers.Invalid("a Bluesky post is given by its link on bsky.app, or its address at://did:plc:…/app.bsky.feed.post/…")
	}
	return uri(who, key), nil
}

// account parses a handle or a DID. Handles copied from the app are enclosed in direction marks.
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

// isPost reports whether s is the address of a post under the DID of its author.
func isPost(s string) bool {
	who, key, ok := strings.Cut(strings.TrimPrefix(s, "at://"), "/"+postCollection+"/")
	return ok && strings.HasPrefix(s, "at://") && did.MatchString(who) && rkey.MatchString(key)
}
