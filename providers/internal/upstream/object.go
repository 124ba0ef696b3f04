package upstream

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Object is a decoded upstream object beside its untouched JSON.
type Object[T any] struct {
	V   T
	Raw json.RawMessage
}

// UnmarshalJSON keeps b and decodes it.
func (o *Object[T]) UnmarshalJSON(b []byte) error {
	o.Raw = bytes.Clone(b)
	return json.Unmarshal(b, &o.V)
}

// ID is an identifier that some answers write as a number and others as a string.
type ID string

// UnmarshalJSON reads a string, a number or null, which gives "".
func (id *ID) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*id = ID(s)
		return nil
	}
	var n *json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*id = ""
	if n != nil {
		*id = ID(n.String())
	}
	return nil
}

// Int is a count that some answers write as a number and others as a string; nil when null, empty or no count.
type Int struct{ V *int64 }

// UnmarshalJSON reads a number, a string of digits or null.
func (i *Int) UnmarshalJSON(b []byte) error {
	i.V = nil
	s := string(bytes.Trim(b, `"`))
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		i.V = &n
	} else if f, err := strconv.ParseFloat(s, 64); err == nil && f == float64(int64(f)) {
		i.V = new(int64(f))
	}
	return nil
}
