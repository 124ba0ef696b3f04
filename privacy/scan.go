package privacy

import (
	"bytes"
	"encoding/json"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// Marks returns the marks of everyone in data, which is JSON in our own encoding: of each object in it, at any depth,
// that has a platform. They do not include people mentioned in texts, or the content of raw.
func (h *Hasher) Marks(data []byte) Marks {
	var out []byte
	var last pair // the author of all posts of a page is often the same
	scan(data, func(o object) {
		on, id, handle := text(o.platform), text(o.id), text(o.handle)
		if on == "" {
			return
		}
		if handle != "" {
			p := pair{h.name(handleName, on, fold(handle)), h.name(accountName, on, id)}
			if p != last {
				out, last = appendPair(out, p.handle, p.id), p
			}
		}
		if id != "" && (o.whole || handle == "") {
			out = appendPair(out, 0, h.name(objectName, on, id))
		}
		if of := text(o.of); of != "" {
			if p := (pair{0, h.name(objectName, on, of)}); p != last {
				out, last = appendPair(out, p.handle, p.id), p
			}
		}
	})
	return Marks(out)
}

type pair struct{ handle, id Name }

// object is the part of an object that is examined: its strings as they are in JSON.
type object struct {
	platform, id, handle []byte
	of                   []byte // the post or product that it belongs to
	whole                bool   // it is more than the summary of an account
	array                bool   // it is an array
}

func (o *object) set(key, value []byte) {
	switch string(key) {
	case "platform":
		o.platform = value
	case "id":
		o.id = value
	case "handle":
		o.handle = value
	case "post_id", "product_id":
		o.of = value
	case "fetched_at":
		o.whole = true
	}
}

// scan calls found for each object in JSON, inner ones first. Invalid JSON is read as far as it is valid, since what
// follows could not be attributed to anyone. The objects are passed by value, so that room stays on the stack.
func scan(data []byte, found func(object)) {
	var room [16]object
	open := room[:0]
	var key []byte
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			open, key = append(open, object{array: data[i] == '['}), nil
		case '}', ']':
			if len(open) == 0 {
				return
			}
			if top := open[len(open)-1]; !top.array {
				found(top)
			}
			open, key = open[:len(open)-1], nil
		case ',':
			key = nil
		case '"':
			n := jsontext.Closing(data[i+1:])
			value := data[i+1 : i+1+n]
			i += n + 1
			if len(open) == 0 || open[len(open)-1].array {
				continue
			}
			if key == nil {
				key = value
			} else {
				open[len(open)-1].set(key, value)
			}
		}
	}
}

// text decodes a JSON string without its quotes.
func text(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	var s string
	_ = json.Unmarshal(append(append([]byte{'"'}, b...), '"'), &s) // "" for an invalid string
	return s
}
