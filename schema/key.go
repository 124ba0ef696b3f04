package schema

import "time"

// KeyEnvironment is the environment of a key.
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
	Name        string         `json:"name"`              // its name, chosen by its owner
	Prefix      string         `json:"prefix" min:"1"`    // the first characters of the key
	Environment KeyEnvironment `json:"environment"`       // the environment of the key
	Manage      bool           `json:"manage"`            // whether the key may manage the account
	CreatedAt   time.Time      `json:"created_at"`        // when it was created
	LastUsedAt  *time.Time     `json:"last_used_at"`      // its last call; null before the first
	RevokedAt   *time.Time     `json:"revoked_at"`        // when it was revoked; null while it is valid
	FormerUntil *time.Time     `json:"former_until"`      // until when the value before the last rotation is valid; null if there is none
	DayCap      *int64         `json:"day_cap" min:"0"`   // maximum credits in one UTC day; null for no limit
	TotalCap    *int64         `json:"total_cap" min:"0"` // maximum credits in total; null for no limit
	Rate        *KeyRate       `json:"rate"`              // its rate limit; null for the limit of the service
	Bounds      KeyBounds      `json:"bounds"`            // the maximum that the account may set for these limits
}

// KeyRate is the rate limit of a key.
type KeyRate struct {
	Capacity   int64   `json:"capacity" min:"1"`       // number of calls at once
	RefillPerS float64 `json:"refill_per_s" above:"0"` // calls added each second, more than 0
}

// KeyBounds is the set of limits that the operator of the service has given a key.
type KeyBounds struct {
	DayCap   *int64   `json:"day_cap" min:"0"`   // credits in one UTC day; null for no limit
	TotalCap *int64   `json:"total_cap" min:"0"` // credits in total; null for no limit
	Rate     *KeyRate `json:"rate"`              // rate limit; null for the limit of the service
}

// MadeKey is a key that was created or rotated.
type MadeKey struct {
	Key
	Secret *string `json:"secret"` // the value of the key, shown only this once; null in a repeated answer, and if no value was created

	New bool `json:"-"` // whether it was created by this call
}

// AccountSettings is what an account sets for itself.
type AccountSettings struct {
	CreditsLow *int64 `json:"credits_low" min:"0"` // the balance below which credits.low is reported, 0 for never; null for a tenth of the last grant
}
