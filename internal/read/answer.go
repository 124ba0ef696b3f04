package read

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/operation"
)

// Fill copies an entry into an answer, with raw when it was asked for.
func (r *Reader) Fill(a *operation.Answer, entry *cache.Entry, q *Query) error {
	age := max(0, r.cfg.Now().Sub(entry.FetchedAt))
	a.Data, a.Tag, a.Meta.NextCursor = json.RawMessage(entry.Data), entry.Tag, entry.Next
	a.Meta.DataAgeS = int64(age.Seconds())
	a.TTL = max(0, q.Row.TTL-age)
	if !q.Raw {
		return nil
	}
	if entry.Page != "" {
		a.Meta.Raw = json.RawMessage(entry.Page)
	}
	a.Tag += "-raw"
	var err error
	a.Data, err = Splice(a.Data, "raw", entry.Raw)
	return err
}

// Splice returns data, one object or an array of them, with one more field in each object: the value of the same
// place, or null where that is empty. The objects themselves are copied as they are.
func Splice[V string | []byte](data []byte, field string, values []V) ([]byte, error) {
	if len(data) == 0 || data[0] != '[' {
		if len(values) == 0 {
			return data, nil
		}
		return appendField(nil, data, field, values[0]), nil
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(data, &objects); err != nil {
		return nil, err
	}
	if len(objects) != len(values) {
		return nil, fmt.Errorf("socialdata: %d values of %s for %d objects", len(values), field, len(objects))
	}
	out := []byte{'['}
	for i, o := range objects {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendField(out, o, field, values[i])
	}
	return append(out, ']'), nil
}

func appendField[V string | []byte](out, object []byte, field string, value V) []byte {
	if len(value) == 0 {
		value = V("null")
	}
	out = append(out, bytes.TrimSuffix(object, []byte("}"))...)
	out = append(out, `,"`+field+`":`...)
	out = append(out, value...)
	return append(out, '}')
}
