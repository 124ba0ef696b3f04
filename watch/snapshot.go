package watch

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
)

// maxSeen is how many items of a list a monitor keeps.
const maxSeen = 1000

// Snapshot is what a monitor stores of its results: the compared fields, and for other items a number each. It contains
// nothing else of what was read.
type Snapshot struct {
	// For one thing.
	Key      string                     `json:"key,omitempty"` // its id
	Fields   map[string]json.RawMessage `json:"fields,omitempty"`
	By       json.RawMessage            `json:"by,omitempty"`     // who is in it
	Misses   int                        `json:"misses,omitempty"` // number of consecutive polls that did not find it
	Gone     bool                       `json:"gone,omitempty"`
	Reported map[string]float64         `json:"reported,omitempty"` // by alert: the number last reported

	// For a list.
	Seen     seen       `json:"seen,omitempty"` // the known items, latest first
	Floor    time.Time  `json:"floor,omitzero"` // anything older counts as known
	Followed []followed `json:"followed,omitempty"`
	Lost     []lost     `json:"lost,omitempty"`

	// For a search of several platforms.
	Asked   int      `json:"asked,omitempty"`   // how many platforms there are
	Missing []string `json:"missing,omitempty"` // those that the last poll could not read
	Unread  []string `json:"unread,omitempty"`  // those that no poll has read

	Sampled map[string]sampled `json:"sampled,omitempty"` // by field: the last sample
	At      time.Time          `json:"at,omitzero"`       // of the last poll that succeeded
}

// followed is an item whose fields are compared.
type followed struct {
	Name    uint64                     `json:"name"`
	Key     string                     `json:"key"`
	Site    string                     `json:"site"` // its platform
	Created time.Time                  `json:"created,omitzero"`
	Fields  map[string]json.RawMessage `json:"fields"`
	By      json.RawMessage            `json:"by,omitempty"` // who is in it
	Misses  int                        `json:"misses,omitempty"`
	Read    time.Time                  `json:"read,omitzero"` // when Fields were read; zero means in the last poll
}

// lost is an item that was followed and is gone.
type lost struct {
	Name uint64 `json:"name"`
}

// sampled is the last sample of a number.
type sampled struct {
	Value float64   `json:"value"`
	At    time.Time `json:"at"`
}

// known is an item of a list that was seen.
type known struct {
	name    uint64
	created int64 // seconds since 1970; 0 when it is not known
}

// seen is encoded in 12 bytes for each item, with seconds that last until 2106, because a snapshot of 1,000 is read and
// written in each poll.
type seen []known

const knownSize = 12

var errSeen = errors.New("watch: the seen items of a snapshot cannot be read")

// MarshalText implements encoding.TextMarshaler.
func (s seen) MarshalText() ([]byte, error) {
	b := make([]byte, 0, len(s)*knownSize)
	for _, k := range s {
		b = binary.BigEndian.AppendUint64(b, k.name)
		b = binary.BigEndian.AppendUint32(b, uint32(max(0, k.created)))
	}
	return base64.RawStdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *seen) UnmarshalText(text []byte) error {
	b, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil || len(b)%knownSize != 0 {
		return errSeen
	}
	*s = make(seen, 0, len(b)/knownSize)
	for ; len(b) > 0; b = b[knownSize:] {
		*s = append(*s, known{binary.BigEndian.Uint64(b), int64(binary.BigEndian.Uint32(b[8:]))})
	}
	return nil
}

// names returns the names of the known items.
func (s seen) names() map[uint64]bool {
	out := make(map[uint64]bool, len(s))
	for _, k := range s {
		out[k.name] = true
	}
	return out
}

// copied returns a snapshot with its own maps and lists. The values in them are read-only.
func (s *Snapshot) copied() Snapshot {
	own := *s
	own.Fields, own.Reported, own.Sampled = maps.Clone(s.Fields), maps.Clone(s.Reported), maps.Clone(s.Sampled)
	own.Seen, own.Followed, own.Lost = slices.Clone(s.Seen), slices.Clone(s.Followed), slices.Clone(s.Lost)
	own.Missing, own.Unread = slices.Clone(s.Missing), slices.Clone(s.Unread)
	return own
}

// add puts the items that are not in names in front, latest first, adds them to names, and drops the items beyond the
// limit. Anything older than a dropped item can no longer be recognised as new, so the floor rises to its time.
func (s *Snapshot) add(items []object, names map[uint64]bool) {
	var fresh seen
	for i := range items {
		if name := items[i].name(); !names[name] {
			names[name] = true
			k := known{name: name}
			if !items[i].created.IsZero() {
				k.created = items[i].created.Unix()
			}
			fresh = append(fresh, k)
		}
	}
	if len(fresh) == 0 {
		return
	}
	s.Seen = append(fresh, s.Seen...)
	for len(s.Seen) > maxSeen {
		last := s.Seen[len(s.Seen)-1]
		s.Seen = s.Seen[:len(s.Seen)-1]
		// One second later, because the item itself is no longer known.
		if at := time.Unix(last.created+1, 0).UTC(); last.created != 0 && at.After(s.Floor) {
			s.Floor = at
		}
	}
	s.Seen = slices.Clip(s.Seen)
}
