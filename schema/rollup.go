package schema

// Rollup is the usage of one group: a day, a key, a platform or an operation.
type Rollup struct {
	Group    *string      `json:"group"`            // the UTC day such as 2026-11-23, the key's id, the platform or the operation; null for calls without one
	Calls    int64        `json:"calls" min:"0"`    // all calls: paid, free and failed
	Paid     int64        `json:"paid" min:"0"`     // charges, from the ledger: for a search over several platforms one for each that answered
	Free     int64        `json:"free" min:"0"`     // free answers, from the request log
	Failed   int64        `json:"failed" min:"0"`   // calls that ended with a problem, from the request log
	Errors   []ErrorCount `json:"errors"`           // the failed calls by the code of their problem
	Hits     int64        `json:"hits" min:"0"`     // the paid calls that were answered from the cache
	Credits  int64        `json:"credits" min:"0"`  // credits charged, from the ledger
	Refunded int64        `json:"refunded" min:"0"` // refunded credits, from the ledger; refunds have no key, platform or operation
	Dropped  int64        `json:"dropped" min:"0"`  // calls missing in the request log: free and failed may be too low by this number
	P50MS    *float64     `json:"p50_ms"`           // the median duration of the calls, in milliseconds, to within a tenth; null if none was timed
	P95MS    *float64     `json:"p95_ms"`           // the 95th percentile of the durations
}

// ErrorCount is the number of calls that ended with one kind of problem.
type ErrorCount struct {
	Code  string `json:"code" min:"1"`  // the code of the problem
	Calls int64  `json:"calls" min:"0"` // number of calls
}
