// Package feed writes lists of what is new in the formats that feed readers take.
package feed

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// The media types of what [Feed.Atom] and [Feed.JSON] write.
const (
	AtomType = "application/atom+xml; charset=utf-8"
	JSONType = "application/feed+json; charset=utf-8"
)

// Feed is a list of what is new.
type Feed struct {
	ID, Title string
	Self, Web string // its own address, and that of the same for people; "" for an unknown one
	Updated   time.Time
	Entries   []Entry // newest first
}

// Entry is one thing that is new.
type Entry struct {
	ID, Title, Text string
	URL, Author     string // "" for none
	Updated         time.Time
	Published       *time.Time // nil if unknown
}

// Of returns the feed of a monitor, without its ID and addresses.
func Of(found operation.Feed) Feed {
	out := Feed{Title: "What is new: " + found.Monitor, Updated: found.CreatedAt}
	if len(found.Items) > 0 {
		out.Updated = found.Items[0].At
	}
	for i := range found.Items {
		out.Entries = append(out.Entries, entryOf(&found.Items[i]))
	}
	return out
}

// object is what a reader of a feed sees of the object of a change.
type object struct {
	URL       string     `json:"url"`
	Title     string     `json:"title"`
	Name      string     `json:"name"`
	Handle    string     `json:"handle"`
	Text      string     `json:"text"`
	CreatedAt *time.Time `json:"created_at"`
	Author    struct {
		Handle string `json:"handle"`
		Name   string `json:"name"`
	} `json:"author"`
}

// entryOf returns the entry of a change. Members that its object does not have, or has in another form, are empty.
func entryOf(c *schema.Change) Entry {
	var o object
	var members map[string]json.RawMessage
	_ = json.Unmarshal(c.Object, &members) // null if there is no object any more
	for name, into := range map[string]any{
		"url": &o.URL, "title": &o.Title, "name": &o.Name, "handle": &o.Handle, "text": &o.Text,
		"created_at": &o.CreatedAt, "author": &o.Author,
	} {
		_ = json.Unmarshal(members[name], into)
	}
	key := ""
	if c.Key != nil {
		key = *c.Key
	}
	first, _, _ := strings.Cut(strings.TrimSpace(o.Text), "\n")
	title := cmp.Or(o.Title, clip(first, 100), o.Name, o.Handle, key, c.ID)
	return Entry{
		ID: "urn:socialdata:change:" + c.ID, Title: title, Text: cmp.Or(o.Text, title), URL: o.URL,
		Author: cmp.Or(o.Author.Name, o.Author.Handle), Updated: c.At, Published: o.CreatedAt,
	}
}

// clip returns at most the first n characters of s, with an ellipsis if there are more.
func clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
