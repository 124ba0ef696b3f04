package schema

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// CacheState says whether an answer came from the cache.
type CacheState string

// The cache states.
const (
	Hit  CacheState = "HIT"
	Miss CacheState = "MISS"
)

// CacheStates lists every state of the cache.
func CacheStates() []CacheState { return []CacheState{Hit, Miss} }

// PlatformState is how far one platform of a fan-out search has come.
type PlatformState string

// The platform states. Pending becomes OK or Failed; both are final.
const (
	OK      PlatformState = "ok"
	Failed  PlatformState = "error"
	Pending PlatformState = "pending"
)

// PlatformStates lists every state of a platform in a search.
func PlatformStates() []PlatformState { return []PlatformState{OK, Failed, Pending} }

// Meta is what an answer says about itself.
type Meta struct {
	CreditsUsed      int64      `json:"credits_used" min:"0"`      // credits charged for this call
	CreditsRemaining int64      `json:"credits_remaining" min:"0"` // credits that the account can still spend
	Cache            CacheState `json:"cache"`                     // whether the data came from the cache
	DataAgeS         int64      `json:"data_age_s" min:"0"`        // seconds since the data was fetched
	RequestID        string     `json:"request_id" min:"1"`        // the id of this call, to name it to others
	// what continues the list; absent when there is no more
	NextCursor string `json:"next_cursor,omitempty" min:"1"`
	// the upstream's page; only with include_raw=true, and where objects have no raw of their own
	Raw json.RawMessage `json:"raw,omitempty"`
	// how far each platform has come; of a search over several platforms and of its job only
	Platforms map[platform.ID]PlatformState `json:"platforms,omitempty"`
	// why a platform of a search failed, by platform; absent when none has
	Errors map[platform.ID]PlatformError `json:"errors,omitempty"`
	// what collects the rest of a search; present while a platform is pending
	JobID string `json:"job_id,omitempty" min:"1"`
}

// PlatformError is why one platform of a search failed. It cost nothing.
type PlatformError struct {
	// the kind of problem; callers act on it
	Code   problem.Code `json:"code"`
	Detail string       `json:"detail"` // what went wrong, for people
}

// AppendJSON appends m as [Marshal] writes it. It writes the fields that almost every meta has itself, in a tenth of
// the time.
func (m *Meta) AppendJSON(b []byte) ([]byte, error) {
	if m.Raw != nil || m.Platforms != nil || m.Errors != nil || !plain(string(m.Cache)) || !plain(m.RequestID) || !plain(m.NextCursor) || !plain(m.JobID) {
		whole, err := Marshal(m)
		return append(b, whole...), err
	}
	b = strconv.AppendInt(append(b, `{"credits_used":`...), m.CreditsUsed, 10)
	b = strconv.AppendInt(append(b, `,"credits_remaining":`...), m.CreditsRemaining, 10)
	b = append(append(b, `,"cache":"`...), m.Cache...)
	b = strconv.AppendInt(append(b, `","data_age_s":`...), m.DataAgeS, 10)
	b = append(append(b, `,"request_id":"`...), m.RequestID...)
	if m.NextCursor != "" {
		b = append(append(b, `","next_cursor":"`...), m.NextCursor...)
	}
	if m.JobID != "" {
		b = append(append(b, `","job_id":"`...), m.JobID...)
	}
	return append(b, `"}`...), nil
}

// plain reports whether a text needs no escapes in JSON.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Envelope is every successful answer: the data and what is to be said about it.
type Envelope[T any] struct {
	Data T    `json:"data"` // the result
	Meta Meta `json:"meta"` // what the answer says about itself
}

// Me is the calling key, its account's balance and its rate limit.
type Me struct {
	Key     MeKey     `json:"key"`     // the calling key
	Credits MeCredits `json:"credits"` // what is left of the account's credits
	Limits  MeLimits  `json:"limits"`  // what bounds the key
}

// MeKey is the calling key; its value is never shown again.
type MeKey struct {
	ID          string         `json:"id" min:"1"`     // its id
	Name        string         `json:"name"`           // what its owner calls it
	Prefix      string         `json:"prefix" min:"1"` // its first characters
	Environment KeyEnvironment `json:"environment"`    // what it is for
	CreatedAt   time.Time      `json:"created_at"`     // when it was made
	LastUsedAt  *time.Time     `json:"last_used_at"`   // when it last called; null before its first call
}

// MeCredits is the account's balance.
type MeCredits struct {
	Balance int64 `json:"balance" min:"0"` // credits that the account can still spend
}

// MeLimits holds the key's limits.
type MeLimits struct {
	Rate *RateLimit `json:"rate"` // the key's rate limit; null when it has none
}

// RateLimit is the state of a token bucket.
type RateLimit struct {
	Capacity   int64   `json:"capacity" min:"1"`       // calls that a full bucket allows at once
	RefillPerS float64 `json:"refill_per_s" above:"0"` // calls that come back each second, more than 0
	Remaining  float64 `json:"remaining" min:"0"`      // calls that the bucket allows now
}

// HealthState is how well a platform's upstreams have answered lately, or how well something that the service stands on
// does.
type HealthState string

// The health states.
const (
	Healthy  HealthState = "ok"       // under a tenth of the recent calls failed
	Degraded HealthState = "degraded" // more did, or the service goes on without it
	Down     HealthState = "down"     // no provider can be called, or calls are refused for want of it
	Unknown  HealthState = "unknown"  // no call lately
)

// SourceState is how well one source of a platform does.
type SourceState string

// The states of a source.
const (
	SourceHealthy  SourceState = "ok"       // under a tenth of the platform's recent calls failed
	SourceDegraded SourceState = "degraded" // more did, or one call is let through to try it
	SourceDown     SourceState = "down"     // it is not asked now
	SourceUnknown  SourceState = "unknown"  // no call to the platform lately
	SourceLimited  SourceState = "limited"  // every limit of its upstream that is known is used up
)

// SourceStates lists every state of a source.
func SourceStates() []SourceState {
	return []SourceState{SourceHealthy, SourceDegraded, SourceDown, SourceUnknown, SourceLimited}
}

// HealthStates lists every state of health.
func HealthStates() []HealthState { return []HealthState{Healthy, Degraded, Down, Unknown} }

// Health is the state of the service. It stands alone, without an envelope.
type Health struct {
	Status      string `json:"status" words:"ok"` // always ok: a service that is not well does not answer
	Environment string `json:"environment"`       // what the service calls itself, such as production
	// how well the upstreams of each platform have answered lately
	Platforms map[platform.ID]HealthState `json:"platforms"`
	// how well what the service stands on does, such as a cache server, by name; absent when it stands on nothing else
	Dependencies map[string]HealthState `json:"dependencies,omitempty"`
}

// Usage is one entry of an account's books.
type Usage struct {
	ID        string      `json:"id" min:"1"`                       // the id of the entry
	At        time.Time   `json:"at"`                               // when it was booked
	Kind      string      `json:"kind" words:"charge grant refund"` // what it is
	Amount    int64       `json:"amount"`                           // credits; negative for a charge
	Balance   int64       `json:"balance" min:"0"`                  // credits of the account after this entry
	KeyID     *string     `json:"key_id"`                           // the key that called; null for a grant
	Operation *string     `json:"operation"`                        // what was called; null for a grant
	Platform  *string     `json:"platform"`                         // the platform that was read
	RequestID *string     `json:"request_id"`                       // the call, as in its meta.request_id
	Cache     *CacheState `json:"cache"`                            // whether the call was answered from the cache
	Reason    *string     `json:"reason"`                           // why there was a grant or refund, in words
}

// PlatformInfo is what the service can read from one platform.
type PlatformInfo struct {
	Platform    platform.ID     `json:"platform"`             // its identifier, as it stands in paths
	Name        string          `json:"name"`                 // its name as people write it
	BaseCredits int64           `json:"base_credits" min:"0"` // the price of one plain call
	Meaning     *string         `json:"meaning"`              // what the universal objects mean there
	Operations  []OperationInfo `json:"operations"`           // all operations, those that are not available too
	RawRoutes   []RawRoute      `json:"raw_routes"`           // the allow-list of what is read unchanged, at this platform's price
	Redacted    []string        `json:"redacted"`             // what the operator has blanked in texts and raw: emails, phones, or nothing
}

// Resolved is one call that reads what an address names.
type Resolved struct {
	Platform  platform.ID       `json:"platform"`  // whose address it is
	Operation string            `json:"operation"` // what reads it, such as "collection/posts"
	Params    map[string]string `json:"params"`    // the operation's parameters, by name
	Path      string            `json:"path"`      // path and query of the call
	URL       *string           `json:"url"`       // the address without what does not matter; null where only a name was given
	Available bool              `json:"available"` // whether it can be called
	Reason    *string           `json:"reason"`    // why it cannot be called; null when it can
}

// RawRoute is a route of a provider that can be read unchanged.
type RawRoute struct {
	Provider string `json:"provider"` // whose route it is
	// its path, as it stands behind /v1/raw/ and the provider's name; a segment in braces stands for any one segment
	Path      string   `json:"path"`
	Available bool     `json:"available"` // whether it can be called
	Missing   []string `json:"missing"`   // the settings that would switch it on
}

// OperationInfo is one operation of one platform.
type OperationInfo struct {
	Operation string   `json:"operation"` // its name, such as "collection/posts"
	Available bool     `json:"available"` // whether it can be called
	Reason    *string  `json:"reason"`    // why it cannot be called; null when it can
	Providers []string `json:"providers"` // who is asked, first choice first: each next one when those before fail
	Sources   []Source `json:"sources"`   // who serves it, first choice first
	// what a provider charges the operator of this service for a call, in credits of its own, by provider
	UpstreamCredits map[string]int64 `json:"upstream_credits"`
	// how many keys of a batch one request to the platform takes: 1 where each key is read by itself, 0 where the operation
	// has no batch or is not available
	KeysARequest int64 `json:"keys_a_request" min:"0"`
	CacheTTLS    int64 `json:"cache_ttl_s" min:"0"` // how long an answer is good, in seconds
	// what the platform can filter by, and the values that it knows; an empty list means any value
	Filters map[string][]string `json:"filters"`
	// the parameters without which the platform does not serve it, though the operation itself does not require them
	Required []string `json:"required"`
	Missing  []string `json:"missing"` // the settings that would switch it on
	Note     *string  `json:"note"`    // why it is not offered, or what to know
}
