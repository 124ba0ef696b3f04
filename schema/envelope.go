package schema

import (
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// CacheState is whether an answer came from the cache.
type CacheState string

// The cache states.
const (
	Hit  CacheState = "HIT"
	Miss CacheState = "MISS"
)

// CacheStates lists every state of the cache.
func CacheStates() []CacheState { return []CacheState{Hit, Miss} }

// PlatformState is the state of one platform in a fan-out search.
type PlatformState string

// The platform states. Pending becomes OK or Failed; both are final.
const (
	OK      PlatformState = "ok"
	Failed  PlatformState = "error"
	Pending PlatformState = "pending"
)

// PlatformStates lists every state of a platform in a search.
func PlatformStates() []PlatformState { return []PlatformState{OK, Failed, Pending} }

// Meta describes an answer.
type Meta struct {
	// credits charged for this call; of a search over several platforms and its job, what the search has charged so far
	CreditsUsed      int64      `json:"credits_used" min:"0"`
	CreditsRemaining int64      `json:"credits_remaining" min:"0"` // credits that the account can still spend
	Cache            CacheState `json:"cache"`                     // whether the data came from the cache
	DataAgeS         int64      `json:"data_age_s" min:"0"`        // seconds since the data was fetched
	RequestID        string     `json:"request_id" min:"1"`        // the id of this call, for support requests
	// the cursor of the next page; absent if there is none
	NextCursor string `json:"next_cursor,omitempty" min:"1"`
	// the upstream's page; only with include_raw=true, and only if objects have no raw of their own
	Raw json.RawMessage `json:"raw,omitempty"`
	// the state of each platform; only in a search over several platforms and in its job
	Platforms map[platform.ID]PlatformState `json:"platforms,omitempty"`
	// why platforms of a search failed, by platform; absent if none did
	Errors map[platform.ID]PlatformError `json:"errors,omitempty"`
	// the id of the job that collects the rest of a search; present while a platform is pending
	JobID string `json:"job_id,omitempty" min:"1"`
}

// PlatformError is why one platform of a search failed. It was not charged.
type PlatformError struct {
	// the code of the problem, for programs
	Code   problem.Code `json:"code"`
	Detail string       `json:"detail"` // what went wrong, for people
}

// Envelope is the envelope of every successful answer: the data, and its metadata.
type Envelope[T any] struct {
	Data T    `json:"data"` // the result
	Meta Meta `json:"meta"` // metadata of the answer
}

// Me is the calling key, its account's balance and its rate limit.
type Me struct {
	Key     MeKey     `json:"key"`     // the calling key
	Credits MeCredits `json:"credits"` // the credits of its account
	Limits  MeLimits  `json:"limits"`  // the limits of the key
}

// MeKey is the calling key; its value is never shown again.
type MeKey struct {
	ID          string         `json:"id" min:"1"`     // its id
	Name        string         `json:"name"`           // its name, chosen by its owner
	Prefix      string         `json:"prefix" min:"1"` // its first characters
	Environment KeyEnvironment `json:"environment"`    // its environment
	CreatedAt   time.Time      `json:"created_at"`     // when it was created
	LastUsedAt  *time.Time     `json:"last_used_at"`   // its last call; null before the first
}

// MeCredits is the account's balance.
type MeCredits struct {
	Balance int64 `json:"balance" min:"0"` // credits that the account can still spend
}

// MeLimits is the set of the key's limits.
type MeLimits struct {
	Rate *RateLimit `json:"rate"` // the key's rate limit; null if it has none
}

// RateLimit is the state of a token bucket.
type RateLimit struct {
	Capacity   int64   `json:"capacity" min:"1"`       // number of calls that a full bucket allows at once
	RefillPerS float64 `json:"refill_per_s" above:"0"` // calls added each second, more than 0
	Remaining  float64 `json:"remaining" min:"0"`      // number of calls that the bucket allows now
}

// HealthState is the health of a platform's upstreams, according to recent calls, or of something that the service
// depends on.
type HealthState string

// The health states.
const (
	Healthy  HealthState = "ok"       // under a tenth of the recent calls failed
	Degraded HealthState = "degraded" // a tenth or more failed, or the service continues without the dependency
	Down     HealthState = "down"     // no provider can be called, or calls are refused because the dependency is missing
	Unknown  HealthState = "unknown"  // no recent calls
)

// SourceState is the health of one source of a platform.
type SourceState string

// The states of a source.
const (
	SourceHealthy  SourceState = "ok"       // under a tenth of the platform's recent calls failed
	SourceDegraded SourceState = "degraded" // a tenth or more failed, or one call is let through to test it
	SourceDown     SourceState = "down"     // it is not called now
	SourceUnknown  SourceState = "unknown"  // no recent calls to the platform
	SourceLimited  SourceState = "limited"  // every known limit of its upstream is used up
)

// SourceStates lists every state of a source.
func SourceStates() []SourceState {
	return []SourceState{SourceHealthy, SourceDegraded, SourceDown, SourceUnknown, SourceLimited}
}

// HealthStates lists every state of health.
func HealthStates() []HealthState { return []HealthState{Healthy, Degraded, Down, Unknown} }

// Health is the state of the service. It has no envelope.
type Health struct {
	Status      string `json:"status" words:"ok"` // always ok: a service with a failure does not answer
	Environment string `json:"environment"`       // the configured name of the environment, such as production
	// the health of each platform's upstreams according to recent calls
	Platforms map[platform.ID]HealthState `json:"platforms"`
	// the health of what the service depends on, such as a cache server, by name; absent if it depends on nothing
	Dependencies map[string]HealthState `json:"dependencies,omitempty"`
}

// Usage is one entry in an account's ledger.
type Usage struct {
	ID        string      `json:"id" min:"1"`                                // the id of the entry
	At        time.Time   `json:"at"`                                        // when it was booked
	Kind      string      `json:"kind" words:"charge grant refund reversal"` // the kind of entry
	Amount    int64       `json:"amount"`                                    // credits; negative for a charge and a reversal
	Balance   int64       `json:"balance" min:"0"`                           // credits of the account after this entry
	KeyID     *string     `json:"key_id"`                                    // the key that made the call; null for a grant
	Operation *string     `json:"operation"`                                 // the operation that was called; null for a grant
	Platform  *string     `json:"platform"`                                  // the platform that was read
	RequestID *string     `json:"request_id"`                                // the call, as in its meta.request_id
	Cache     *CacheState `json:"cache"`                                     // whether the answer came from the cache
	Reason    *string     `json:"reason"`                                    // the reason for a grant, refund or reversal
}

// PlatformInfo is what the service can read from one platform.
type PlatformInfo struct {
	Platform    platform.ID     `json:"platform"`             // its identifier in paths
	Name        string          `json:"name"`                 // its display name
	BaseCredits int64           `json:"base_credits" min:"0"` // the price of one plain call
	Meaning     *string         `json:"meaning"`              // what the objects of the API mean on this platform
	Operations  []OperationInfo `json:"operations"`           // all operations, including those that are not available
	RawRoutes   []RawRoute      `json:"raw_routes"`           // the allowed paths of raw reads, at this platform's price
	Redacted    []string        `json:"redacted"`             // what the operator has redacted in texts and raw: emails, phones, or nothing
}

// Resolved is one call that reads what an address identifies.
type Resolved struct {
	Platform  platform.ID       `json:"platform"`  // the platform of the address
	Operation string            `json:"operation"` // the operation to call, such as "collection/posts"
	Params    map[string]string `json:"params"`    // the operation's parameters, by name
	Path      string            `json:"path"`      // the path and query of the call
	URL       *string           `json:"url"`       // the address without irrelevant parts; null if only a name was given
	Available bool              `json:"available"` // whether it can be called
	Reason    *string           `json:"reason"`    // why it cannot be called; null when it can
}

// RawRoute is a route of a provider for raw reads.
type RawRoute struct {
	Provider string `json:"provider"` // the provider of the route
	// its path after /v1/raw/ and the provider's name; a segment in braces matches any one segment
	Path      string   `json:"path"`
	Available bool     `json:"available"` // whether it can be called
	Missing   []string `json:"missing"`   // the settings that would enable it
}

// OperationInfo is one operation of one platform.
type OperationInfo struct {
	Operation string   `json:"operation"` // its name, such as "collection/posts"
	Available bool     `json:"available"` // whether it can be called
	Reason    *string  `json:"reason"`    // why it cannot be called; null when it can
	Providers []string `json:"providers"` // the providers, first choice first: each is tried if those before it fail
	Sources   []Source `json:"sources"`   // the sources, first choice first
	// what each provider charges the operator of this service for a call, in its own credits
	UpstreamCredits map[string]int64 `json:"upstream_credits"`
	// the maximum number of keys in one request to the platform: 1 if each is read alone, 0 if the operation has no
	// batch or is not available
	KeysARequest int64 `json:"keys_a_request" min:"0"`
	CacheTTLS    int64 `json:"cache_ttl_s" min:"0"` // how long an answer is cached, in seconds
	// the filters that the platform supports, with their values; an empty list means any value
	Filters map[string][]string `json:"filters"`
	// the parameters that this platform requires, although the operation itself does not
	Required []string `json:"required"`
	Missing  []string `json:"missing"` // the settings that would enable it
	Note     *string  `json:"note"`    // why it is not offered, or what a user should know
}
