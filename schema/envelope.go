package schema

import (
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// CacheState says whether an answer came from the cache.
type CacheState string

// The cache states.
const (
	Hit  CacheState = "HIT"
	Miss CacheState = "MISS"
)

// PlatformState is how far one platform of a fan-out search has come.
type PlatformState string

// The platform states. Pending becomes OK or Failed; both are final.
const (
	OK      PlatformState = "ok"
	Failed  PlatformState = "error"
	Pending PlatformState = "pending"
)

// Meta is what an answer says about itself.
type Meta struct {
	CreditsUsed      int64                         `json:"credits_used"`      // charged for this call
	CreditsRemaining int64                         `json:"credits_remaining"` // what the account can still spend
	Cache            CacheState                    `json:"cache"`
	DataAgeS         int64                         `json:"data_age_s"` // seconds
	RequestID        string                        `json:"request_id"`
	NextCursor       string                        `json:"next_cursor,omitempty"` // absent when there is no more
	Raw              json.RawMessage               `json:"raw,omitempty"`         // the page, where objects have no raw of their own
	Platforms        map[platform.ID]PlatformState `json:"platforms,omitempty"`   // fan-out search and its job only
	JobID            string                        `json:"job_id,omitempty"`      // present while a platform is pending
}

// Envelope is every successful answer: the data and what is to be said about it.
type Envelope[T any] struct {
	Data T    `json:"data"`
	Meta Meta `json:"meta"`
}

// Me is the calling key, its account's balance and its rate limit.
type Me struct {
	Key     MeKey     `json:"key"`
	Credits MeCredits `json:"credits"`
	Limits  MeLimits  `json:"limits"`
}

// MeKey is the calling key; its value is never shown again.
type MeKey struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Prefix      string     `json:"prefix"`      // the first characters of the key
	Environment string     `json:"environment"` // "live" or "test"
	CreatedAt   time.Time  `json:"created_at"`
	LastUsedAt  *time.Time `json:"last_used_at"`
}

// MeCredits is the account's balance.
type MeCredits struct {
	Balance int64 `json:"balance"` // what the account can still spend
}

// MeLimits holds the key's limits.
type MeLimits struct {
	Rate *RateLimit `json:"rate"` // nil when the key has none
}

// RateLimit is the state of a token bucket.
type RateLimit struct {
	Capacity   int64   `json:"capacity"`     // calls that a full bucket allows at once
	RefillPerS float64 `json:"refill_per_s"` // calls that come back each second
	Remaining  float64 `json:"remaining"`
}

// HealthState is how well a platform's upstreams have answered lately.
type HealthState string

// The health states.
const (
	Healthy  HealthState = "ok"       // under a tenth of the recent calls failed
	Degraded HealthState = "degraded" // more did
	Down     HealthState = "down"     // no provider can be called
	Unknown  HealthState = "unknown"  // no call lately
)

// Health is the state of the service. It stands alone, without an envelope.
type Health struct {
	Status      string                      `json:"status"` // always "ok"
	Environment string                      `json:"environment"`
	Platforms   map[platform.ID]HealthState `json:"platforms"`
}

// Usage is one entry of an account's books.
type Usage struct {
	ID        string      `json:"id"`
	At        time.Time   `json:"at"`
	Kind      string      `json:"kind"`      // "charge", "grant" or "refund"
	Amount    int64       `json:"amount"`    // credits; negative for a charge
	Balance   int64       `json:"balance"`   // of the account, after this entry
	KeyID     *string     `json:"key_id"`    // nil for a grant
	Operation *string     `json:"operation"` // nil for a grant
	Platform  *string     `json:"platform"`
	RequestID *string     `json:"request_id"`
	Cache     *CacheState `json:"cache"`
	Reason    *string     `json:"reason"` // of a grant or refund
}

// PlatformInfo is what the service can read from one platform.
type PlatformInfo struct {
	Platform    platform.ID     `json:"platform"`
	Name        string          `json:"name"`
	BaseCredits int64           `json:"base_credits"`
	Meaning     *string         `json:"meaning"` // what the universal objects mean there
	Operations  []OperationInfo `json:"operations"`
}

// OperationInfo is one operation of one platform.
type OperationInfo struct {
	Operation string              `json:"operation"` // such as "collection/posts"
	Available bool                `json:"available"`
	Sources   []Source            `json:"sources"`     // who serves it, first choice first
	CacheTTLS int64               `json:"cache_ttl_s"` // seconds
	Filters   map[string][]string `json:"filters"`     // what the platform can filter by; an empty list means any value
	Missing   []string            `json:"missing"`     // the settings that would switch it on
	Note      *string             `json:"note"`        // why it is not offered, or what to know
}
