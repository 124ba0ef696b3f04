package privacy

import "github.com/socialdata/socialdata/internal/jsontext"

// Marks returns the marks of everyone in data, which is JSON in our own encoding: of each object in it, at any depth,
// that has a platform. They do not include people mentioned in texts, or the content of raw.
func (h *Hasher) Marks(data []byte) Marks {
	var out []byte
	var last pair // the author of all posts of a page is often the same
	scan(data, func(o object) {
		on, id, handle := jsontext.Text(o.platform), jsontext.Text(o.id), jsontext.Text(o.handle)
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
		if of := jsontext.Text(o.of); of != "" {
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
}

func (o *object) set(name, value []byte) {
	switch string(name) {
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
// follows could not be attributed to anyone.
func scan(data []byte, found func(object)) {
	var open []object // and arrays, which stay empty
	for t := range jsontext.Walk(data) {
		switch t.Kind {
		case '{', '[':
			open = append(open, object{})
		case '}', ']':
			last := len(open) - 1
			if t.Kind == '}' {
				found(open[last])
			}
			open = open[:last]
		case '"':
			if len(open) > 0 {
				open[len(open)-1].set(t.Name, t.Value)
			}
		}
	}
}
