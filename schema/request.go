package schema

import "time"

// Request is what one call of an account came to. What was asked is not kept.
type Request struct {
	At        time.Time   `json:"at"`                 // when it came
	RequestID string      `json:"request_id" min:"1"` // its id, as in its meta.request_id
	AccountID string      `json:"account_id" min:"1"` // the account that called
	KeyID     string      `json:"key_id" min:"1"`     // the key that called
	Operation *string     `json:"operation"`          // what was called; null when it was refused before that was read
	Platform  *string     `json:"platform"`           // the platform that was read
	Status    int         `json:"status" min:"100"`   // of the HTTP answer
	Code      *string     `json:"code"`               // of the problem; null for an answer
	Cache     *CacheState `json:"cache"`              // whether it was answered from the cache; null for a problem
	Credits   int64       `json:"credits" min:"0"`    // what it was charged
	TookMS    int64       `json:"took_ms" min:"0"`    // how long it took, in milliseconds
	Providers []string    `json:"providers"`          // the providers that were asked for it, in order
}
