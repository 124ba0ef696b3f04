package cli

import (
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// The output of commands with --output. Each has one shape in every command; doc.go lists them.

// keyShape is an API key. It has its secret only if it is new.
type keyShape struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Prefix       string     `json:"prefix"`
	Account      string     `json:"account"`
	Environment  string     `json:"environment"`
	CreatedAt    time.Time  `json:"created_at"`
	LastUsedAt   *time.Time `json:"last_used_at"`
	RevokedAt    *time.Time `json:"revoked_at"`
	DayCap       *int64     `json:"day_cap"`
	TotalCap     *int64     `json:"total_cap"`
	RateCapacity *int64     `json:"rate_capacity"`
	RateRefill   *float64   `json:"rate_refill"`
	Manage       bool       `json:"manage"`
	Secret       *string    `json:"secret"`
}

func shapeOfKey(k keys.Key, secret string) keyShape {
	s := keyShape{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Account: k.Account, Environment: string(k.Environment),
		CreatedAt: k.CreatedAt.UTC(), LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt, DayCap: k.DayCap,
		TotalCap: k.TotalCap,
		Manage:   k.Manage,
	}
	if k.Rate != nil {
		s.RateCapacity, s.RateRefill = &k.Rate.Capacity, &k.Rate.Refill
	}
	if secret != "" {
		s.Secret = &secret
	}
	return s
}

// shownAccount is an account with its keys.
type shownAccount struct {
	schema.Account
	Keys []keyShape `json:"keys"`
}

// entryShape is an entry of an account.
type entryShape struct {
	Seq       int64     `json:"seq"`
	Time      time.Time `json:"time"`
	Kind      string    `json:"kind"`
	Amount    int64     `json:"amount"`
	Balance   int64     `json:"balance"`
	Operation string    `json:"operation"`
	Platform  string    `json:"platform"`
	Cache     string    `json:"cache"`
	RequestID string    `json:"request_id"`
	Key       string    `json:"key"`
	Reason    string    `json:"reason"`
}

func shapeOfEntry(n credits.Entry) entryShape {
	return entryShape{
		n.Seq, n.Time().UTC(), string(n.Kind), n.Amount, n.Balance, n.Operation, n.Platform, n.Cache, n.RequestID, n.Key,
		n.Reason,
	}
}

// servedShape is an operation of a platform.
type servedShape struct {
	Platform  string   `json:"platform"`
	Operation string   `json:"operation"`
	Available bool     `json:"available"`
	Providers []string `json:"providers"`
	Missing   []string `json:"missing"`
	Note      string   `json:"note"`
}

// routeShape is a route of a platform that is answered in its own form.
type routeShape struct {
	Platform  string   `json:"platform"`
	Route     string   `json:"route"`
	Available bool     `json:"available"`
	Missing   []string `json:"missing"`
}

// auditShape is the result of an audit.
type auditShape struct {
	InOrder  bool        `json:"in_order"`
	Accounts int64       `json:"accounts"`
	Keys     int64       `json:"keys"`
	Entries  int64       `json:"entries"`
	Credits  int64       `json:"credits"`
	Problems []string    `json:"problems"`
	Losses   []lossShape `json:"losses"`
	Changed  []string    `json:"changed_keys"`
}

// lossShape is a loss that was accepted.
type lossShape struct {
	Accepted   time.Time `json:"accepted"`
	At         time.Time `json:"at"`
	HadEntries int64     `json:"had_entries"`
	HadCredits int64     `json:"had_credits"`
	Entries    int64     `json:"entries"`
	Credits    int64     `json:"credits"`
}

func shapeOfReport(r bookkeeping.Report) auditShape {
	losses := make([]lossShape, len(r.Losses))
	for i, l := range r.Losses {
		losses[i] = lossShape(l)
	}
	return auditShape{
		r.OK(), r.Accounts, r.Keys, r.Entries, r.Credits, append([]string{}, r.Problems...), losses,
		append([]string{}, r.Changed...),
	}
}

// checkShape is one check of the doctor.
type checkShape struct {
	OK      bool   `json:"ok"`
	Warning bool   `json:"warning"` // it works, but may be unintended
	Check   string `json:"check"`
	Says    string `json:"says"`
}

// quotaShape is one of an upstream's limits. The sum of used and left is limit.
type quotaShape struct {
	Platform string     `json:"platform"`
	Provider string     `json:"provider"`
	Name     *string    `json:"name"`   // null if the provider has no known limit
	Limit    *int64     `json:"limit"`  // null when it is not known
	Used     *int64     `json:"used"`   // null when it is not known
	Left     *int64     `json:"left"`   // null when it is not known
	Resets   *time.Time `json:"resets"` // when it resets; null when that is not known
	Shared   bool       `json:"shared"` // whether use by other processes is included
}

func shapeOfQuota(q observe.Quota) quotaShape {
	s := quotaShape{Platform: string(q.Platform), Provider: q.Provider, Shared: q.Shared}
	if q.Name != "" {
		s.Name = &q.Name
	}
	if q.Limit > 0 {
		s.Limit, s.Used, s.Left = &q.Limit, &q.Used, &q.Left
	}
	if !q.Resets.IsZero() {
		s.Resets = new(q.Resets.UTC())
	}
	return s
}

// versionShape is what the program was built from.
type versionShape struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}
