package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// The names under which a [Store] counts what it removes for a subject.
const (
	ErasedMonitors   = "monitors"
	ErasedItems      = "followed items"
	ErasedChanges    = "changes"
	ErasedSamples    = "samples"
	ErasedDeliveries = "deliveries"
)

// Erase removes s from what m stores, and counts it in removed. It reports whether it removed anything, and whether m
// must end, because it watches s. It is for implementations of [Store].
func (m *Monitor) Erase(s privacy.Subject, removed map[string]int) (changed, ends bool) {
	values := append(slices.Collect(maps.Values(m.Params)), m.Snapshot.Key)
	if m.Platform == string(s.Platform) && s.Asks(s.Platform, values...) || s.Holds(m.Snapshot.By) {
		removed[ErasedMonitors]++
		if s.Ended != nil {
			s.Ended(m.Account, m.Name)
		}
		return true, true
	}
	before := len(m.Snapshot.Followed)
	m.Snapshot.Followed = slices.DeleteFunc(slices.Clone(m.Snapshot.Followed),
		func(f followed) bool { return s.Holds(f.By) })
	if n := before - len(m.Snapshot.Followed); n > 0 {
		removed[ErasedItems] += n
		return true, false
	}
	return false, false
}

// Holds reports whether a change contains s: it is about s, or contains its name. It is for implementations of [Store].
func Holds(c *schema.Change, s privacy.Subject) bool {
	if s.Holds(c.Object) {
		return true
	}
	about := c.Platform != nil && *c.Platform == string(s.Platform)
	if about && c.Member != nil && s.Asks(s.Platform, *c.Member) {
		return true
	}
	if about && c.Key != nil && s.Asks(s.Platform, *c.Key) {
		return true
	}
	return about && c.Detail != nil && (quotes(*c.Detail, s.Handle) || quotes(*c.Detail, s.ID))
}

// NameIn returns the name of the monitor that has found a change, which may be a member of a panel; "" for a change
// that concerns the account. It is for implementations of [Store].
func NameIn(c *schema.Change) string {
	switch {
	case c.Monitor == nil:
		return ""
	case c.Member == nil:
		return *c.Monitor
	}
	return *c.Monitor + "/" + *c.Member
}

// quotes reports whether text has a name in quotes, as problems quote the request.
func quotes(text, name string) bool {
	return name != "" && strings.Contains(strings.ToLower(text), `"`+strings.ToLower(name)+`"`)
}

// Mentions reports whether m mentions s. It is for implementations of [privacy.MentionCounter].
func (m *Monitor) Mentions(s privacy.Subject) bool {
	rest := *m
	s.Ended = nil
	if _, ends := rest.Erase(s, map[string]int{}); ends {
		return false
	}
	b, err := json.Marshal(&rest)
	return err == nil && s.Mentioned(b)
}

// Mentions reports whether a change, as JSON, mentions s and does not contain it. It fails if body is not a change. It
// is for implementations of [privacy.MentionCounter].
func Mentions(body []byte, s privacy.Subject) (bool, error) {
	var c schema.Change
	if err := json.Unmarshal(body, &c); err != nil {
		return false, err
	}
	return mentions(&c, body, s), nil
}

func mentions(c *schema.Change, body []byte, s privacy.Subject) bool {
	return s.Mentioned(body) && !Holds(c, s)
}

// Erase implements [Store].
func (s *Memory) Erase(ctx context.Context, who privacy.Subject) (map[string]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	removed := map[string]int{}
	ended := map[[2]string]bool{}
	for at, w := range s.monitors {
		m := w.copied()
		_, ends := m.Erase(who, removed)
		if ends {
			ended[at] = true
			privacy.Add(removed, map[string]int{ErasedSamples: len(w.samples)})
		}
		if who.DryRun {
			continue
		}
		w.Progress = m.Progress
		w.lease, w.until = "", time.Time{} // a poll in progress may have read it, and must be repeated
		if ends {
			delete(s.monitors, at)
		}
	}
	for account, f := range s.feeds {
		f.changes = slices.DeleteFunc(f.changes, func(c schema.Change) bool {
			if !Holds(&c, who) && !ended[[2]string{account, NameIn(&c)}] {
				return false
			}
			privacy.Add(removed, map[string]int{ErasedDeliveries: s.forget(account, c.Seq, who.DryRun)})
			if removed[ErasedChanges]++; !who.DryRun {
				delete(f.ids, c.ID)
			}
			return !who.DryRun
		})
	}
	return removed, nil
}

// Mentions implements [privacy.MentionCounter].
func (s *Memory) Mentions(ctx context.Context, who privacy.Subject) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.monitors {
		if w.Mentions(who) {
			n++
		}
	}
	for _, f := range s.feeds {
		for i := range f.changes {
			body, err := json.Marshal(&f.changes[i])
			if err != nil {
				return n, err
			}
			if mentions(&f.changes[i], body, who) {
				n++
			}
		}
	}
	return n, ctx.Err()
}

// by returns who is in an object: the names of each account and object in it, as a JSON array. If fields could not be
// read, those of before, its previous names, are added: they may be in the fields that are kept.
func (o *object) by(before json.RawMessage) json.RawMessage {
	list := appendNames([]byte{'['}, o.data)
	if len(o.unknown) > 0 {
		now := jsontext.Elements(append(bytes.TrimSuffix(slices.Clone(list), []byte{','}), ']'))
		for _, names := range jsontext.Elements(before) {
			if !slices.ContainsFunc(now, func(n []byte) bool { return undated(n) == undated(names) }) {
				list = append(append(list, names...), ',')
			}
		}
	}
	return append(bytes.TrimSuffix(list, []byte{','}), ']')
}

// undated returns names without the time at which they were read.
func undated(names []byte) string {
	var b strings.Builder
	for key, value := range jsontext.Members(names) {
		if key != "fetched_at" {
			b.WriteString(key)
			b.Write(value)
		}
	}
	return b.String()
}

// naming are the fields that name an account or an object, and say when it was read.
var naming = []string{"platform", "id", "handle", "post_id", "product_id", "fetched_at"}

// appendNames appends the names of an object and of those in it, each as an object with a comma after it.
func appendNames(list, data []byte) []byte {
	at, named := len(list), false
	var inner [][]byte
	list = append(list, '{')
	for key, value := range jsontext.Members(data) {
		switch {
		case key == "raw" || key == "enrichment" || len(value) < 2:
		case value[0] == '{':
			inner = append(inner, value)
		case value[0] == '"' && value[len(value)-1] == '"' && slices.Contains(naming, key):
			list = append(append(append(append(append(list, '"'), key...), `":`...), value...), ',')
			named = named || key == "platform"
		}
	}
	if named {
		list = append(bytes.TrimSuffix(list, []byte{','}), "},"...)
	} else {
		list = list[:at]
	}
	for _, value := range inner {
		list = appendNames(list, value)
	}
	return list
}
