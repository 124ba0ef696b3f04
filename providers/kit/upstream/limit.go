package upstream

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/socialdata/socialdata/providers"
)

const (
	windowParts = 60          // parts of a window in which usage is saved
	worthSaved  = time.Minute // windows shorter than this are not saved
	smallPart   = 20          // a limit is expensive if it is at most 1/20 of the provider's largest
)

// Limits returns a provider's limits: the quotas by name, sorted. A quota whose rate is at most a twentieth of the
// largest one's is expensive, as if by [Quota.Dear]. Nil quotas are left out.
func Limits(quotas map[string]*Quota) []providers.Limit {
	largest := 0.0
	for _, q := range quotas {
		largest = max(largest, q.pace())
	}
	var out []providers.Limit
	for _, name := range slices.Sorted(maps.Keys(quotas)) {
		if q := quotas[name]; q != nil {
			q.dear = q.dear || q.n > 0 && q.pace()*smallPart <= largest
			out = append(out, &limit{q, name})
		}
	}
	return out
}

// Dear returns q as an expensive quota, whatever its reads cost: a share of it is reserved (see [providers.Shares]), and
// a read that fails is not repeated.
func (q *Quota) Dear() *Quota {
	q.dear = true
	return q
}

// Quota returns the quota of every read without one of its own; nil for none.
func (c *Client) Quota() *Quota { return c.cfg.Quota }

// pace returns the limit in reads per second; 0 when it is unknown.
func (q *Quota) pace() float64 {
	if q == nil || q.n == 0 || q.window <= 0 {
		return 0
	}
	return float64(q.n) / q.window.Seconds()
}

// limit is a [Quota] as the engine sees it: a shared quota has a name in each provider.
type limit struct {
	*Quota
	name string
}

// Name implements [providers.Limit].
func (l *limit) Name() string { return l.name }

// State implements [providers.Limit].
func (l *limit) State() providers.LimitState {
	q, now := l.Quota, time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(now)
	limit, left := q.state(now)
	s := providers.LimitState{Limit: limit, Left: left, Used: limit - left, Unsaved: q.unsaved}
	switch {
	case now.Before(q.told.reset):
		s.Reset = q.told.reset
	case s.Used > 0:
		s.Reset = now.Add(q.until(q.used+q.usedElsewhere-1, now))
	}
	if q.closed.After(now) && q.closed.After(s.Reset) {
		s.Reset = q.closed
	}
	return s
}

// Share implements [providers.Limit].
func (l *limit) Share(s providers.Shares) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shares = s
}

// slice is the usage in one part of a window.
type slice struct {
	end  time.Time
	cost int64
}

// saved is what all processes together have saved about a limit.
type saved struct {
	// Used is the usage of each process, keyed by the end of the part of the window, in seconds since 1970.
	Used map[string]map[int64]int64 `json:"used,omitempty"`
	// The upstream's last announcement.
	Limit int64     `json:"limit,omitempty"`
	Left  int64     `json:"left,omitempty"`
	Began time.Time `json:"began,omitzero"`
	Reset time.Time `json:"reset,omitzero"`
}

// Save implements [providers.Limit].
func (l *limit) Save(before string) string {
	q, now := l.Quota, time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(now)
	q.saving = q.unsaved
	var s saved
	if json.Unmarshal([]byte(before), &s) != nil {
		s = saved{} // of another version, or empty: counting starts again
	}
	if q.saves() {
		q.saveUsed(&s, now)
	}
	if now.Before(q.told.reset) && !q.told.began.Before(s.Began) {
		s.Limit, s.Left, s.Began, s.Reset = q.told.limit, max(0, q.told.left), q.told.began, q.told.reset
	}
	if !now.Before(s.Reset) {
		s.Limit, s.Left, s.Began, s.Reset = 0, 0, time.Time{}, time.Time{}
	}
	if len(s.Used) == 0 && s.Limit == 0 {
		return ""
	}
	b, _ := json.Marshal(s) // only numbers and times
	return string(b)
}

// saves reports whether the usage is saved.
func (q *Quota) saves() bool { return q.n > 0 && q.window >= worthSaved }

// OnUnsaved implements [providers.Limit].
func (l *limit) OnUnsaved(save func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.save = save
}

// saveNow saves the usage. The quota is not locked.
func (q *Quota) saveNow() error {
	q.mu.Lock()
	save := q.save
	q.mu.Unlock()
	return save()
}

// saveUsed replaces this process's saved usage with the current one, and removes what no longer counts.
func (q *Quota) saveUsed(s *saved, now time.Time) {
	q.identity = cmp.Or(q.identity, rand.Text())
	part := max(1, int64(q.window.Seconds())/windowParts)
	own := map[int64]int64{}
	for _, m := range q.sent[q.from:] {
		if m.cost > 0 {
			own[(m.at.Unix()/part+1)*part] += m.cost
		}
	}
	if s.Used == nil {
		s.Used = map[string]map[int64]int64{}
	}
	s.Used[q.identity] = own
	for id, used := range s.Used {
		maps.DeleteFunc(used, func(end, _ int64) bool { return !time.Unix(end, 0).Add(q.window).After(now) })
		if len(used) == 0 {
			delete(s.Used, id)
		}
	}
}

// Restore implements [providers.Limit].
func (l *limit) Restore(text string) {
	q, now := l.Quota, time.Now()
	var s saved
	if json.Unmarshal([]byte(text), &s) != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(now)
	q.restoreUsed(&s, now)
	if now.Before(s.Reset) && s.Reset.Sub(now) < 48*time.Hour && s.Limit > 0 &&
		(!now.Before(q.told.reset) || q.told.began.Equal(s.Began) && s.Left < q.told.left) {
		q.told = announced{left: s.Left, limit: s.Limit, began: s.Began, reset: s.Reset}
	}
}

// restoreUsed adds the usage of other processes.
func (q *Quota) restoreUsed(s *saved, now time.Time) {
	sum := map[int64]int64{}
	for id, used := range s.Used {
		if id == q.identity {
			continue
		}
		for end, cost := range used {
			if cost > 0 && time.Unix(end, 0).Before(now.Add(q.window)) {
				sum[end] += min(cost, q.n)
			}
		}
	}
	q.others, q.usedElsewhere = nil, 0
	q.unsaved, q.saving = q.unsaved-q.saving, 0
	for _, end := range slices.Sorted(maps.Keys(sum)) {
		q.others = append(q.others, slice{time.Unix(end, 0), sum[end]})
		q.usedElsewhere += sum[end]
	}
	q.expire(now)
}
