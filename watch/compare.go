package watch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// misses is the number of consecutive polls without an object after which it is gone (D86).
const misses = 2

// telling collects the changes and samples of a poll.
type telling struct {
	m       *Monitor
	s       *Snapshot
	at      time.Time
	due     time.Time // when the poll was due
	changes []schema.Change
	samples []Sample
}

// tell adds a change. Its id is derived from the monitor, the object, the change and the number of polls, so that a
// field that changes back and forth is reported each time.
func (t *telling) tell(kind, key string, object []byte, fields []schema.FieldChange, detail string) {
	c := schema.Change{
		At: t.at, Monitor: new(t.m.shownName()), Type: kind, Operation: new(t.m.Operation), Object: slices.Clone(object),
		Fields: slices.Clip(append([]schema.FieldChange{}, fields...)),
	}
	if member := t.m.Member(); member != "" {
		c.Member = new(member)
	}
	on := t.m.Platform
	if on == "" && len(object) > 0 { // a search of several platforms
		o := readObject(object)
		on = o.platform
	}
	if on != "" {
		c.Platform = new(on)
	}
	if key != "" {
		c.Key = new(key)
	}
	if detail != "" {
		c.Detail = new(detail)
	}
	c.ID = changeID(t.m, kind, key, object, fields)
	t.changes = append(t.changes, c)
}

// tellState adds the change of the monitor's state. Of the members of a panel whose state changes at the same time, only
// the first reports it, for the panel: the others' changes have the same id, and stores leave them out.
func (t *telling) tellState(kind, detail string) {
	if t.m.Panel == "" {
		t.tell(kind, "", nil, nil, detail)
		return
	}
	of := *t.m
	of.Name, of.Panel, of.CreatedAt, of.Baseline, of.Polls = t.m.Panel, "", t.due, 0, 0
	if kind == Failing {
		detail = fmt.Sprintf("%q: %s", t.m.Member(), detail)
	}
	own := telling{m: &of, at: t.at}
	own.tell(kind, "", nil, nil, detail)
	t.changes = append(t.changes, own.changes...)
}

// changeID returns the id of a change.
func changeID(m *Monitor, kind, key string, object []byte, fields []schema.FieldChange) string {
	sum := sha256.New()
	for _, part := range []string{
		m.Account, m.Name, m.CreatedAt.UTC().Format(time.RFC3339Nano), strconv.FormatInt(m.Baseline, 10),
		strconv.FormatInt(m.Polls, 10), kind, key, string(object),
	} {
		sum.Write(fmt.Appendf(nil, "%d:%s", len(part), part))
	}
	for _, f := range fields {
		sum.Write(fmt.Appendf(nil, "%s=%s>%s;", f.Field, f.Before, f.After))
	}
	return "chg_" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// one compares the object of a monitor of one thing with its previous state.
func (t *telling) one(o object, first bool) {
	s := t.s
	now := o.fields(t.m.Fields, s.Fields)
	nothing := first || s.Gone // no number is known with which to compare
	unknown := unreadIn(s.Fields)
	switch {
	case first:
		s.Reported = map[string]float64{}
		t.tell(Ready, o.id, nil, nil, "")
	case s.Gone:
		t.tell(Back, o.id, o.data, nil, "")
	default:
		if moved := differing(s.Fields, now); len(moved) > 0 {
			t.tell(Changed, o.id, o.data, moved, "")
		}
	}
	s.Key, s.Fields, s.By, s.Misses, s.Gone = o.id, now, o.by(s.By), 0, false
	figures := o.figures()
	t.alerts(o, figures, func(field string) bool { return nothing || wanted(unknown, field) })
	t.sample(figures)
}

// absent notes that a monitor of one thing has not found it. Only the id of an object that is gone is kept (D86).
func (t *telling) absent() {
	s := t.s
	if s.Gone {
		return
	}
	if s.Misses++; s.Misses < misses {
		return
	}
	t.tell(Gone, s.Key, nil, nil, "")
	s.Gone, s.Fields, s.By, s.Reported, s.Sampled = true, nil, nil, nil, nil
}

// differing returns the fields that differ between two states of an object, sorted by name. An unread one does not
// differ from anything.
func differing(before, after map[string]json.RawMessage) []schema.FieldChange {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]json.RawMessage{}
	}
	maps.Copy(names, after)
	var out []schema.FieldChange
	unknown := unreadIn(before, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !wanted(unknown, name) && !same(name, before[name], after[name]) {
			out = append(out, schema.FieldChange{Field: name, Before: orNull(before[name]), After: orNull(after[name])})
		}
	}
	return out
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// alerts adds the alerts that the numbers raise. The first number of an alert raises one only if it is beyond a bound,
// and if the object was read before without it (D112); unread reports whether it was not.
func (t *telling) alerts(o object, figures map[string]float64, unread func(field string) bool) {
	kept := map[string]float64{}
	for _, text := range t.m.Alerts {
		a, err := parseAlert(text)
		value, ok := figures[a.field]
		last, there := t.s.Reported[text]
		if err != nil || !ok {
			if there {
				kept[text] = last
			}
			continue
		}
		if kept[text] = last; !there || a.holds != nil {
			kept[text] = value
		}
		before := figure(last)
		if !there {
			before = json.RawMessage("null")
		}
		if there && !a.raised(last, value) || !there && (unread(a.field) || a.holds == nil || !a.holds(value)) {
			continue
		}
		kept[text] = value
		t.tell(Alerted, o.id, o.data, []schema.FieldChange{{Field: a.field, Before: before, After: figure(value)}}, text)
	}
	t.s.Reported = kept
}

func figure(v float64) json.RawMessage { return strconv.AppendFloat(nil, v, 'f', -1, 64) }

// resample is the interval at which a number that has not moved is recorded.
const resample = 24 * time.Hour

// sample records the numbers that have moved, and once a day those that have not.
func (t *telling) sample(figures map[string]float64) {
	if t.s.Sampled == nil {
		t.s.Sampled = map[string]sampled{}
	}
	for _, field := range slices.Sorted(maps.Keys(figures)) {
		value := figures[field]
		last, ok := t.s.Sampled[field]
		if ok && last.Value == value && t.at.Sub(last.At) < resample {
			continue
		}
		t.s.Sampled[field] = sampled{value, t.at}
		t.samples = append(t.samples, Sample{Field: field, At: t.at, Value: value})
	}
}

// walked is the part of a list that a poll has read.
type walked struct {
	items   []object // in the order of the list
	more    bool     // the list continues after them
	cut     string   // why the walk ended early; "" when it ended by itself
	asked   int      // of a search of several platforms, how many there are
	missing []string // those of them that could not be read
}

// list compares a list with what is known of it.
func (t *telling) list(w walked, first bool) {
	s := t.s
	if first {
		s.add(w.items, map[uint64]bool{})
		s.Floor = floorOf(w)
		t.follow(w)
		t.tell(Ready, "", nil, nil, "")
		t.gaps(w)
		s.Unread = w.missing
		return
	}
	names := s.Seen.names()
	for i := range w.items { // the first read of a platform is its baseline
		if o := &w.items[i]; slices.Contains(s.Unread, o.platform) {
			names[o.name()] = true
		}
	}
	gone := map[uint64]bool{}
	for _, l := range s.Lost {
		gone[l.Name] = true
	}
	fresh, told := 0, map[uint64]bool{}
	for i := len(w.items) - 1; i >= 0; i-- { // the oldest is reported first
		o := &w.items[i]
		name := o.name()
		switch {
		case told[name]: // a list may contain an item twice
		case gone[name]:
			t.tell(Back, o.id, o.data, nil, "")
		case !names[name] && !s.old(o):
			t.tell(New, o.id, o.data, nil, "")
			fresh++
		}
		told[name] = true
	}
	if w.cut != "" {
		t.tell(Gap, "", nil, nil, fmt.Sprintf("%s: of the items between %s and %s, only %d were seen",
			w.cut, s.At.UTC().Format(time.RFC3339), t.at.UTC().Format(time.RFC3339), fresh))
	}
	t.gaps(w)
	t.compareFollowed(w)
	s.Unread = slices.DeleteFunc(s.Unread, func(on string) bool { return !slices.Contains(w.missing, on) })
	s.Lost = slices.DeleteFunc(s.Lost, func(l lost) bool { return told[l.Name] })
	s.add(w.items, s.Seen.names())
	t.follow(w)
}

// gaps reports the platforms of a search that this poll could not read and the poll before could.
func (t *telling) gaps(w walked) {
	for _, on := range w.missing {
		if !slices.Contains(t.s.Missing, on) {
			t.tell(Gap, on, nil, nil, "this platform could not be read: new items of it may be missing")
			c := &t.changes[len(t.changes)-1]
			c.Platform, c.Key = new(on), nil
		}
	}
	t.s.Asked, t.s.Missing = w.asked, w.missing
}

// old reports whether an item that has not been seen must have existed before, because it is older than everything
// known.
func (s *Snapshot) old(o *object) bool {
	return !o.created.IsZero() && !s.Floor.IsZero() && o.created.Before(s.Floor)
}

// leading is how many items at the beginning of a list may be pinned.
const leading = 3

// ordered reports whether items are newest first, except for pinned ones at the beginning.
func ordered(items []object) bool {
	if len(items) <= leading {
		return false
	}
	for i := leading; i < len(items); i++ {
		if items[i].created.IsZero() || i > leading && items[i].created.After(items[i-1].created) {
			return false
		}
	}
	return true
}

// floorOf returns the time before which everything counts as known: that of the last item if the list is newest first,
// otherwise that of the oldest item. A list without times, or without items, has none.
func floorOf(w walked) time.Time {
	if ordered(w.items) {
		return w.items[len(w.items)-1].created
	}
	floor := time.Time{}
	for i := range w.items {
		if at := w.items[i].created; !at.IsZero() && (floor.IsZero() || at.Before(floor)) {
			floor = at
		}
	}
	return floor
}

// connected reports whether a page reaches what is known, so that no new item follows it.
func (s *Snapshot) connected(page []object, names map[uint64]bool, firstPage bool) bool {
	if len(page) == 0 {
		return false
	}
	is := func(i int) bool { return names[page[i].name()] || s.old(&page[i]) }
	if ordered(page) {
		return is(len(page) - 1)
	}
	for i := range page {
		pinned := firstPage && i < leading && i < len(page)-1 && !is(len(page)-1)
		if is(i) && !pinned {
			return true
		}
	}
	return false
}

// compareFollowed adds what has changed in the followed items, and which are gone.
func (t *telling) compareFollowed(w walked) {
	s := t.s
	here := make(map[uint64]*object, len(w.items))
	for i := range w.items {
		here[w.items[i].name()] = &w.items[i]
	}
	last := -1 // the last followed item that was seen
	for i := range s.Followed {
		if here[s.Followed[i].Name] != nil {
			last = i
		}
	}
	kept := s.Followed[:0]
	for i, f := range s.Followed {
		o := here[f.Name]
		if o != nil {
			if !o.has(f.Fields, t.m.Fields) {
				now := o.fields(t.m.Fields, f.Fields)
				if moved := differing(f.Fields, now); len(moved) > 0 {
					t.tell(Changed, o.id, o.data, moved, "")
				}
				f.Fields = now
			}
			f.By, f.Misses, f.Read = o.by(f.By), 0, t.at
			kept = append(kept, f)
			continue
		}
		if covered := !w.more && w.cut == "" || i < last; covered && len(w.missing) == 0 {
			f.Misses++
		}
		if f.Misses < misses {
			kept = append(kept, f)
			continue
		}
		t.tell(Gone, f.Key, nil, nil, "")
		t.changes[len(t.changes)-1].Platform = new(f.Site)
		s.Lost = append([]lost{{f.Name}}, s.Lost...)
	}
	s.Followed = kept
	s.Lost = s.Lost[:min(len(s.Lost), MaxFollow)]
}

// follow selects the items to follow: the newest of those read and of those followed before.
func (t *telling) follow(w walked) {
	if t.m.Follow == 0 {
		t.s.Followed = nil
		return
	}
	before := map[uint64]followed{}
	for _, f := range t.s.Followed {
		before[f.Name] = f
	}
	var all []followed
	dated := true
	for i := range w.items {
		o := &w.items[i]
		f, ok := before[o.name()]
		if !ok {
			f = followed{
				Name: o.name(), Key: o.id, Site: o.platform, Created: o.created, Fields: o.fields(t.m.Fields, nil), By: o.by(nil),
				Read: t.at,
			}
		}
		delete(before, o.name())
		if !slices.ContainsFunc(all, func(a followed) bool { return a.Name == f.Name }) {
			all = append(all, f)
		}
		dated = dated && !f.Created.IsZero()
	}
	for _, f := range t.s.Followed { // those that this poll has not read, after the others
		if _, ok := before[f.Name]; ok {
			all = append(all, f)
			dated = dated && !f.Created.IsZero()
		}
	}
	if dated {
		slices.SortStableFunc(all, func(a, b followed) int { return b.Created.Compare(a.Created) })
	}
	t.s.Followed = slices.Clip(all[:min(len(all), t.m.Follow)])
}
