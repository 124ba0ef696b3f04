package wire

import (
	"bytes"
	"context"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

// Numbers is a list of ids that are positive whole numbers, of any length. Other values are left out. The zero Numbers
// is a missing list.
type Numbers struct {
	V    []int64
	here bool
	bad  bool // the value is not a list
	lost int
}

// UnmarshalJSON never fails.
func (n *Numbers) UnmarshalJSON(b []byte) error {
	*n = Numbers{}
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '[' {
		n.bad = !isNull(b)
		return nil
	}
	n.here = true
	for row := range Split(b) {
		if id, _ := integer(row); id != nil && *id > 0 {
			n.V = append(n.V, *id)
		} else {
			n.lost++
		}
	}
	return nil
}

// Lost returns how many values were not numbers.
func (n Numbers) Lost() int { return n.lost }

// Check returns [providers.ErrUnavailable] when the list, called name as in "kids", is missing, or when it has values
// and none of them is a number.
func (n Numbers) Check(ctx context.Context, name string) error {
	if err := Need(ctx, name, n.here); err != nil {
		return err
	}
	return Understood(name, len(n.V), n.lost)
}

// Optional is [Numbers.Check] for a list that the upstream leaves out when it is empty.
func (n Numbers) Optional(ctx context.Context, name string) error {
	if !n.here && !n.bad {
		return nil
	}
	return n.Check(ctx, name)
}

func (n *Numbers) null() bool { return false }

func (n *Numbers) whole(b []byte) error {
	if !isWhole(b) {
		return errNoJSON
	}
	n.UnmarshalJSON(b) //nolint:errcheck // it never fails
	if !n.here {
		return providers.Cause("another JSON type where a list was expected")
	}
	return nil
}

func (n *Numbers) tellOf(w walk, prefix string) []string {
	if n.bad {
		return []string{prefix}
	}
	for range min(n.lost, MaxRows) {
		w.tell(callctx.Drift{Paths: []string{prefix + "[]"}, LeftOut: true})
	}
	return nil
}
