package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// The kinds of what a [Store] removes for a subject.
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
	if about && c.Key != nil && s.Asks(s.Platform, *c.Key) {
		return true
	}
	return about && c.Detail != nil && (quotes(*c.Detail, s.Handle) || quotes(*c.Detail, s.ID))
}

// quotes reports whether text has a name in quotes, as problems quote the request.
func quotes(text, name string) bool {
	return name != "" && strings.Contains(strings.ToLower(text), `"`+strings.ToLower(name)+`"`)
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
			if !Holds(&c, who) && (c.Monitor == nil || !ended[[2]string{account, *c.Monitor}]) {
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

// by returns who is in an object: the names of each account and object in it, as JSON.
func (o *object) by() json.RawMessage {
	b, err := json.Marshal(called(nil, o.data))
	if err != nil {
		return nil // it is not JSON, and nothing of it is stored
	}
	return b
}

// called appends the names of an object and of those in it.
func called(list []map[string]json.RawMessage, data []byte) []map[string]json.RawMessage {
	at := len(list)
	list = append(list, map[string]json.RawMessage{})
	for key, value := range members(data) {
		switch {
		case key == "raw" || key == "enrichment":
		case slices.Contains([]string{"platform", "id", "handle", "post_id", "product_id", "fetched_at"}, key):
			list[at][key] = bytes.Clone(value)
		case len(value) > 0 && value[0] == '{':
			list = called(list, value)
		}
	}
	if list[at]["platform"] == nil {
		return slices.Delete(list, at, at+1)
	}
	return list
}
