package schema

import "time"

// KeyEnvironment is what a key is for.
type KeyEnvironment string

// The environments of a key.
const (
	LiveKey KeyEnvironment = "live"
	TestKey KeyEnvironment = "test"
)

// KeyEnvironments returns all environments.
func KeyEnvironments() []KeyEnvironment { return []KeyEnvironment{LiveKey, TestKey} }

// Key is an API key of the account; its value is never shown again.
type Key struct {
	ID          string         `json:"id" min:"1"`        // the id of the key
	Name        string         `json:"name"`              // what its owner calls it
	Prefix      string         `json:"prefix" min:"1"`    // the first characters of the key
	Environment KeyEnvironment `json:"environment"`       // what the key is for
	Manage      bool           `json:"manage"`            // whether the key manages the account
	CreatedAt   time.Time      `json:"created_at"`        // when it was made
	LastUsedAt  *time.Time     `json:"last_used_at"`      // when it last called; null before its first call
	RevokedAt   *time.Time     `json:"revoked_at"`        // when it was revoked; null while it works
	FormerUntil *time.Time     `json:"former_until"`      // until when the value before the last rotation works; null without one
	DayCap      *int64         `json:"day_cap" min:"0"`   // credits that it may spend in one UTC day; null for no limit
	TotalCap    *int64         `json:"total_cap" min:"0"` // credits that it may spend in total; null for no limit
	Rate        *KeyRate       `json:"rate"`              // how often it may call; null for the limit of the service
	Bounds      KeyBounds      `json:"bounds"`            // what the account may set these limits to at most
}

// KeyRate is how often a key may call.
type KeyRate struct {
	Capacity   int64   `json:"capacity" min:"1"`       // calls that it may make at once
	RefillPerS float64 `json:"refill_per_s" above:"0"` // calls that come back each second, more than 0
}

// KeyBounds are the limits that were set for a key by the operator of the service.
type KeyBounds struct {
	DayCap   *int64   `json:"day_cap" min:"0"`   // credits in one UTC day; null for no limit
	TotalCap *int64   `json:"total_cap" min:"0"` // credits in total; null for no limit
	Rate     *KeyRate `json:"rate"`              // how often it may call; null for the limit of the service
}

// MadeKey is a key that was made or rotated.
type MadeKey struct {
	Key
	Secret *string `json:"secret"` // the value of the key, shown this once; null in a repeated answer, and when no value was made
}
