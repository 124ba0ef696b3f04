package reddit

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// thing is how Reddit wraps every object: t1 is a comment, t2 an account, t3 a post, t5 a community, more a stub.
// https://www.reddit.com/dev/api#fullnames
type thing[T any] struct {
	Kind string             `json:"kind"`
	Data upstream.Object[T] `json:"data"`
}

// listing is a page of things.
// https://www.reddit.com/dev/api#listings
type listing[T any] struct {
	Kind string `json:"kind"`
	Data *struct {
		After    string     `json:"after"` // null on the last page, and on no other, however short
		Children []thing[T] `json:"children"`
	} `json:"data"`
}

func get(segments ...string) upstream.Request {
	// Without raw_json every string is HTML-escaped, addresses included.
	return upstream.Get(segments...).With("raw_json", "1")
}

var fullname = regexp.MustCompile(`^t[1-5]_[0-9a-z]+$`)

// list reads one page. Reddit takes any nonsense for a cursor and answers its first page, so it is checked here.
func list[T any](ctx context.Context, c *client, r upstream.Request, cursor string) ([]thing[T], string, error) {
	if cursor != "" && !fullname.MatchString(cursor) {
		return nil, "", providers.ErrCursor
	}
	var l listing[T]
	if _, err := c.api.JSON(ctx, r.With("limit", pageSize).With("after", cursor), &l); err != nil {
		return nil, "", err
	}
	if l.Data == nil {
		return nil, "", providers.Unreadable(nil)
	}
	return l.Data.Children, l.Data.After, nil
}

// instant reads Reddit's float seconds; nil when there are none.
func instant(seconds *float64) *time.Time {
	if seconds == nil || *seconds <= 0 || *seconds > math.MaxInt32*100 {
		return nil
	}
	return new(time.Unix(int64(*seconds), 0).UTC())
}

// address reads a URL, which Reddit escapes here and there although it was asked not to.
func address(s string) *string {
	if s == "" {
		return nil
	}
	return text.URL(strings.ReplaceAll(s, "&amp;", "&"))
}

// unescape undoes, once, the escaping that some answers have although they were asked not to. It is for titles and
// descriptions: a body is Markdown, where people write entities and mean them.
var unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace

const (
	deleted = "[deleted]" // stands where an account or a text was deleted by its owner
	removed = "[removed]" // and where a moderator took a text away
)

// author names who wrote a post or comment; old answers have no fullname.
func author(name, fullname string) schema.Actor {
	if name == "" || name == deleted {
		return schema.Actor{ID: deleted, Handle: deleted}
	}
	return schema.Actor{ID: cmp.Or(strings.TrimPrefix(fullname, "t2_"), name), Handle: name}
}

// count returns a score, which the schema wants not to be negative.
func count(n upstream.Int, hidden bool) *int64 {
	if n.V == nil || hidden {
		return nil
	}
	return new(max(0, *n.V))
}

// permalink returns the public address of a path.
func permalink(path, fallback string) string {
	if u := address("https://www.reddit.com" + cmp.Or(path, fallback)); u != nil {
		return *u
	}
	return "https://www.reddit.com" + fallback
}

// children is what answers a comment: a listing, or an empty string when nothing does.
type children []node

// node is a comment, or a stub, still undecoded.
type node struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// UnmarshalJSON reads a listing, a string or null.
func (c *children) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '{' {
		*c = nil
		return nil
	}
	var l struct {
		Data struct {
			Children []node `json:"children"`
		} `json:"data"`
	}
	err := json.Unmarshal(b, &l)
	*c = l.Data.Children
	return err
}
