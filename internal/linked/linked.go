// Package linked derives the accounts that probably belong to the same person from their profiles, with several reads
// of one account each.
package linked

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

const (
	probeTime    = 3 * time.Second // for one read of another account
	crippledTTL  = 5 * time.Minute // of an incomplete answer
	mostProfiles = 50              // linked profiles that are read; no real profile has more
)

// Derive derives the accounts elsewhere from a profile: what the platform confirms, what the profile and its link page
// link to, and whether those accounts link back. It only reads accounts that something points to, and accounts with the
// same handle on the platforms that the caller names.
func Derive(ctx context.Context, r *read.Reader, q *read.Query) (read.Fetched, error) {
	d := deriver{reader: r, fresh: q.Fresh}
	handle := q.In.Values[0]
	me, at, err := r.ProfileOf(ctx, q.Platform, handle, q.Fresh)
	if err != nil {
		return read.Fetched{}, err
	}
	d.readAt(at)
	found := candidates{self: me}
	confirmed, at, err := r.Confirmed(ctx, q.Platform, handle, q.Fresh)
	if err != nil && !errors.Is(err, providers.ErrNotFound) { // a failed part is reported even if the rest succeeds
		return read.Fetched{}, err
	}
	d.readAt(at)
	for i := range confirmed {
		found.confirm(&confirmed[i])
	}
	d.follow(&found, me)
	d.openPages(ctx, &found)
	probed, err := d.reader.Probed(q)
	if err != nil {
		return read.Fetched{}, err
	}
	d.verify(ctx, &found, probed)
	return d.fetched(&found)
}

// deriver compares profiles.
type deriver struct {
	reader *read.Reader
	fresh  bool
	oldest time.Time     // when the oldest profile was fetched
	missed bool          // something could not be read
	failed []platform.ID // among those the caller named
}

func (d *deriver) readAt(at time.Time) {
	if !at.IsZero() && (d.oldest.IsZero() || at.Before(d.oldest)) {
		d.oldest = at
	}
}

// look is one account to read.
type look struct {
	platform platform.ID
	handle   string
	profile  *schema.Profile // nil when there is none, or when it could not be read
	at       time.Time
	err      error
}

// lookAt reads profiles in parallel, each with its own time limit. Accounts that no provider can read are skipped.
func (d *deriver) lookAt(ctx context.Context, looks []look) {
	var wg sync.WaitGroup
	for i := range looks {
		l := &looks[i]
		if !d.reader.Upstreams().Serves(l.platform, providers.OpProfile) {
			continue
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, probeTime)
			defer cancel()
			l.profile, l.at, l.err = d.reader.ProfileOf(ctx, l.platform, l.handle, d.fresh)
		})
	}
	wg.Wait()
	for _, l := range looks {
		d.readAt(l.at)
		d.missed = d.missed || l.missed()
	}
}

// missed reports whether the account may exist and could not be read.
func (l *look) missed() bool {
	if p, ok := errors.AsType[*problem.Error](l.err); ok && (p.Code == problem.NotFound || p.Code == problem.InvalidRequest) {
		return false
	}
	return l.err != nil && !errors.Is(l.err, providers.ErrInvalid)
}

// openPages follows the links of candidates whose profile is a page of links.
func (d *deriver) openPages(ctx context.Context, found *candidates) {
	var pages []look
	for _, c := range found.list[:min(len(found.list), mostProfiles)] {
		if d.linksOf(c.Platform) == platform.LinksPage {
			pages = append(pages, look{platform: c.Platform, handle: c.Handle})
		}
	}
	d.lookAt(ctx, pages)
	for _, p := range pages {
		if p.profile != nil {
			d.follow(found, p.profile)
		}
	}
}

// verify reads the accounts themselves, if possible, and accounts with the same handle on the named platforms, and
// checks whether they link back and whether the names are alike.
func (d *deriver) verify(ctx context.Context, found *candidates, probed []platform.ID) {
	looks := make([]look, len(found.list), len(found.list)+len(probed))
	for i, c := range found.list[:min(len(found.list), mostProfiles)] {
		looks[i] = look{platform: c.Platform, handle: c.Handle}
	}
	pointedTo := len(looks)
	for _, id := range probed {
		looks = append(looks, look{platform: id, handle: found.self.Handle})
	}
	d.lookAt(ctx, looks)
	for i, c := range found.list {
		d.compare(c, looks[i].profile, found.self)
	}
	for _, l := range looks[pointedTo:] {
		if l.missed() {
			d.failed = append(d.failed, l.platform)
		}
		if l.profile == nil {
			continue
		}
		if c := found.at(l.platform, l.profile.Handle, l.profile.URL); c != nil && len(c.Evidence) == 0 {
			d.compare(c, l.profile, found.self)
		}
	}
}

// fetched assembles the answer. A candidate that breaks the schema is our own mistake: it is left out, and no provider
// is blamed.
func (d *deriver) fetched(found *candidates) (read.Fetched, error) {
	out := read.Fetched{At: d.oldest, Failed: d.failed}
	if d.missed {
		out.TTL = crippledTTL
	}
	list := []schema.LinkedProfile{}
	for _, c := range found.list {
		c.settle()
		raw, err := d.reader.Complete(&providers.Provider{Platform: found.self.Platform, Source: c.source}, &c.LinkedProfile, d.oldest)
		if err != nil {
			continue
		}
		list = append(list, c.LinkedProfile)
		out.Raw = append(out.Raw, raw)
	}
	var err error
	out.Data, err = schema.Marshal(list)
	return out, err
}
