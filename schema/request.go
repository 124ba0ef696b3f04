package schema

import "time"

// Request is an entry of the request log for one call of an account. The parameters of the call are not stored.
type Request struct {
	At        time.Time         `json:"at"`                 // when the call was received
	RequestID string            `json:"request_id" min:"1"` // its id, as in its meta.request_id
	AccountID string            `json:"account_id" min:"1"` // the account that called
	KeyID     string            `json:"key_id" min:"1"`     // the key that called
	Source    CallSource        `json:"source"`             // where the call came from
	Operation *string           `json:"operation"`          // the operation; null if the call was refused before it was known
	Platform  *string           `json:"platform"`           // the platform that was read
	Status    int               `json:"status" min:"100"`   // the HTTP status of the answer
	Code      *string           `json:"code"`               // the code of the problem; null if it succeeded
	Detail    *string           `json:"detail"`             // the detail of the problem, with … for each value of the call; null if it succeeded
	Cache     *CacheState       `json:"cache"`              // whether the answer came from the cache; null for a problem
	Held      int64             `json:"held" min:"0"`       // the most credits that it could have cost, which were held meanwhile
	Credits   int64             `json:"credits" min:"0"`    // the credits charged
	TookMS    int64             `json:"took_ms" min:"0"`    // how long it took, in milliseconds
	Providers []RequestProvider `json:"providers"`          // the providers that were called, in order
}

// RequestProvider is a provider that was called for a call of an account.
type RequestProvider struct {
	Name   string `json:"name" min:"1"`    // its name
	Calls  int    `json:"calls" min:"1"`   // how often it was called
	TookMS int64  `json:"took_ms" min:"0"` // how long all of its calls took together, in milliseconds
}

// CallSource is where a call came from.
type CallSource string

// The sources of calls.
const (
	FromGo        CallSource = "go"        // a program that embeds the engine
	FromAPI       CallSource = "api"       // the HTTP API
	FromRemote    CallSource = "remote"    // the HTTP API, by its own Go client or command line; their User-Agent says so
	FromMCP       CallSource = "mcp"       // a tool of a language model
	FromDashboard CallSource = "dashboard" // a page of the dashboard
	FromMonitor   CallSource = "monitor"   // a poll of a monitor
	FromBulk      CallSource = "bulk"      // a bulk job
	FromCommand   CallSource = "command"   // the command line, without a server
)

// CallSources lists every source of calls.
func CallSources() []CallSource {
	return []CallSource{FromGo, FromAPI, FromRemote, FromMCP, FromDashboard, FromMonitor, FromBulk, FromCommand}
}
