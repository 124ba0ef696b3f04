package schema

import "time"

// Request is an entry of the request log for one call of an account. The parameters of the call are not stored.
type Request struct {
	At        time.Time   `json:"at"`                 // when the call was received
	RequestID string      `json:"request_id" min:"1"` // its id, as in its meta.request_id
	AccountID string      `json:"account_id" min:"1"` // the account that called
	KeyID     string      `json:"key_id" min:"1"`     // the key that called
	Operation *string     `json:"operation"`          // the operation; null if the call was refused before it was known
	Platform  *string     `json:"platform"`           // the platform that was read
	Status    int         `json:"status" min:"100"`   // the HTTP status of the answer
	Code      *string     `json:"code"`               // the code of the problem; null if it succeeded
	Cache     *CacheState `json:"cache"`              // whether the answer came from the cache; null for a problem
	Credits   int64       `json:"credits" min:"0"`    // the credits charged
	TookMS    int64       `json:"took_ms" min:"0"`    // how long it took, in milliseconds
	Providers []string    `json:"providers"`          // the providers that were used, in order
}
