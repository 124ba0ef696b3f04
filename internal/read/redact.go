package read

import (
	"bytes"
	"encoding/json"

	"github.com/socialdata/socialdata/schema"
)

// Redact is what is blanked in the texts and in the raw of answers. See package redact for the rules.
type Redact struct{ Emails, Phones bool }

// Names returns the kinds that are blanked, sorted. It is never nil.
func (r Redact) Names() []string {
	out := []string{}
	if r.Emails {
		out = append(out, "emails")
	}
	if r.Phones {
		out = append(out, "phones")
	}
	return out
}

// key is a prefix of the keys of cache entries, so that answers with another setting are not returned.
func (r Redact) key() string {
	key := ""
	for _, name := range r.Names() {
		key += name + ","
	}
	if key != "" {
		key = "redacted:" + key + "|"
	}
	return key
}

// public returns raw as callers may see it, or nil if it is not JSON: without white space, without the fields that the
// provider shows only to the owner of the credential, and redacted. The result goes into an answer unchanged.
func (r Reading) public(raw []byte) []byte { return r.blank(r.Provider.Public(raw), nil) }

// blank returns redacted JSON, and reports what was blanked as drift.
func (r Reading) blank(data []byte, skip func(field []byte) bool) []byte {
	shown, found := r.reader.redactor.JSON(data, skip)
	if found.Any() {
		r.attempt.Blanked(found.Emails, found.Phones)
	}
	return shown
}

// blankTexts redacts the texts of an object.
func (r Reading) blankTexts(o any) error {
	if r.reader.redactor == nil {
		return nil
	}
	data, err := schema.Marshal(o)
	if err != nil {
		return err
	}
	shown := r.blank(data, names)
	if bytes.Equal(shown, data) {
		return nil
	}
	return json.Unmarshal(shown, o)
}

// names reports whether a field of our objects is an identifier, and not a text.
func names(field []byte) bool {
	switch string(field) {
	case "id", "handle", "platform", "kind", "source", "mentions", "hashtags", "currency":
		return true
	}
	return bytes.HasSuffix(field, []byte("_id")) || bytes.HasSuffix(field, []byte("_at"))
}
