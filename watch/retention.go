package watch

import (
	"context"
	"slices"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// Limits are the times before which [Store.Sweep] removes data, and how much of it stays.
type Limits struct {
	Changes time.Time // whole changes
	Bytes   int64     // of the changes of an account, as JSON; 0 is no limit
	Content Cuts      // the content of changes and snapshots
	Raw     time.Time // samples, except the last of each day
	Samples time.Time // all samples
}

// Cuts is a time for each platform.
type Cuts struct {
	Rest time.Time            // of the platforms that are not in Of
	Of   map[string]time.Time // by platform
}

// At returns the time of a platform. "" is for what was read from several, to which the latest of all applies.
func (c Cuts) At(platform string) time.Time {
	if at, ok := c.Of[platform]; ok {
		return at
	}
	if platform == "" {
		return c.Latest()
	}
	return c.Rest
}

// Latest returns the latest of all times: anything later stays, whatever its platform.
func (c Cuts) Latest() time.Time {
	latest := c.Rest
	for _, at := range c.Of {
		if at.After(latest) {
			latest = at
		}
	}
	return latest
}

// limits returns the limits of r at now.
func limits(r privacy.Retention, now time.Time) Limits {
	l := Limits{
		Changes: now.Add(-keepChanges), Bytes: keepBytes, Raw: now.Add(-keepRaw), Samples: now.Add(-r.Numbers),
		Content: Cuts{Rest: now.Add(-r.Of(privacy.AnyPlatform)), Of: map[string]time.Time{}},
	}
	for id, keep := range r.Content {
		if id != privacy.AnyPlatform {
			l.Content.Of[string(id)] = now.Add(-keep)
		}
	}
	return l
}

// ContentAt returns when the oldest content in s was read; zero when it has none. It is for implementations of [Store].
func (s *Snapshot) ContentAt() time.Time {
	oldest := time.Time{}
	if s.Fields != nil {
		oldest = s.At
	}
	for i := range s.Followed {
		if at := s.readAt(&s.Followed[i]); oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}

// readAt returns when an item was read, which earlier versions have not recorded.
func (s *Snapshot) readAt(f *followed) time.Time {
	if f.Read.IsZero() {
		return s.At
	}
	return f.Read
}

// Expire removes content from before c from m's snapshot, and reports whether there was any. The next poll of one thing
// is then like a first one; items of a list that are read again are followed again. It is for implementations of
// [Store].
func (m *Monitor) Expire(c Cuts) bool {
	s, cut, expired := &m.Snapshot, c.At(m.Platform), false
	if s.Fields != nil && s.At.Before(cut) {
		s.Fields, s.By, s.Reported, s.At = nil, nil, nil, time.Time{}
		expired = true
	}
	n := len(s.Followed)
	s.Followed = slices.DeleteFunc(slices.Clone(s.Followed), func(f followed) bool { return s.readAt(&f).Before(cut) })
	return expired || len(s.Followed) < n
}

// Bare returns a change without its content: only what happened, where, when, and the id of its object remain. It is
// for implementations of [Store].
func Bare(c schema.Change) schema.Change {
	c.Object, c.Fields, c.Detail = nil, []schema.FieldChange{}, nil
	return c
}

// HasContent reports whether a change contains anything of an object but its id. It is for implementations of [Store].
func HasContent(c *schema.Change) bool {
	object := len(c.Object) > 0 && string(c.Object) != "null"
	return object || len(c.Fields) > 0 || c.Key != nil && c.Detail != nil
}

// Thing is an object of a platform.
type Thing struct{ Platform, Key string }

// Gone returns the objects that a poll has found to be gone. Earlier changes of the monitor keep only that these are
// gone, and a monitor of one thing keeps no samples (D86). It is for implementations of [Store].
func (p *Poll) Gone() []Thing {
	var out []Thing
	for i := range p.Changes {
		if c := &p.Changes[i]; c.Type == Gone && c.Key != nil {
			out = append(out, ThingOf(c))
		}
	}
	return out
}

// ThingOf returns the object of a change; the zero Thing when it has none. It is for implementations of [Store].
func ThingOf(c *schema.Change) (t Thing) {
	if c.Key != nil {
		t.Key = *c.Key
	}
	if c.Platform != nil {
		t.Platform = *c.Platform
	}
	return t
}

// Forget returns an earlier change about an object that is gone, without its content.
func Forget(c schema.Change) schema.Change {
	c = Bare(c)
	c.Type = Gone
	return c
}

// The kinds of data in a [Store].
const (
	KeptSnapshots = "snapshots"
	KeptChanges   = "changes"
	KeptSamples   = "numbers"
)

// Stored implements [Store].
func (s *Memory) Stored(ctx context.Context) ([]privacy.Stored, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[[2]string]*privacy.Stored{}
	note := func(kind, on string, bytes int, at time.Time) {
		k := all[[2]string{kind, on}]
		if k == nil {
			k = &privacy.Stored{Kind: kind, Platform: platform.ID(on), Since: at}
			all[[2]string{kind, on}] = k
		}
		k.Number++
		k.Bytes += int64(bytes)
		if at.Before(k.Since) {
			k.Since = at
		}
	}
	for _, w := range s.monitors {
		if at := w.Snapshot.ContentAt(); !at.IsZero() {
			note(KeptSnapshots, w.Platform, w.Snapshot.size(), at)
		}
		for _, v := range w.samples {
			note(KeptSamples, "", sampleSize, v.At)
		}
	}
	for _, f := range s.feeds {
		for i := range f.changes {
			if c := &f.changes[i]; HasContent(c) {
				note(KeptChanges, ThingOf(c).Platform, len(c.Object), c.At)
			}
		}
	}
	out := make([]privacy.Stored, 0, len(all))
	for _, k := range all {
		out = append(out, *k)
	}
	return privacy.SumStored(out), nil
}

// The approximate sizes in bytes of a sample, and of a change without its content.
const (
	sampleSize = 40
	changeSize = 250
)

// size returns the approximate size of the content of s in bytes.
func (s *Snapshot) size() (n int) {
	for _, v := range s.Fields {
		n += len(v)
	}
	for _, f := range s.Followed {
		for _, v := range f.Fields {
			n += len(v)
		}
	}
	return n
}
