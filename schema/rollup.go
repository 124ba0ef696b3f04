package schema

// Rollup is the usage of one group: of a day, a key, a platform or an operation.
type Rollup struct {
	Group    *string      `json:"group"`            // the UTC day such as 2026-11-23, the key's id, the platform or the operation; null for calls that have none
	Calls    int64        `json:"calls" min:"0"`    // paid, free and failed ones together
	Paid     int64        `json:"paid" min:"0"`     // charges, from the books: of a search over several platforms one for each that answered
	Free     int64        `json:"free" min:"0"`     // answers that cost nothing, from the request log
	Failed   int64        `json:"failed" min:"0"`   // calls that ended with a problem, from the request log
	Errors   []ErrorCount `json:"errors"`           // the failed calls by the code of their problem
	Hits     int64        `json:"hits" min:"0"`     // of the paid ones, those that the cache answered
	Credits  int64        `json:"credits" min:"0"`  // charged, from the books
	Refunded int64        `json:"refunded" min:"0"` // credits given back, from the books; they belong to no key, platform or operation
	Dropped  int64        `json:"dropped" min:"0"`  // calls that the request log has lost: so many may be missing in free and failed
	P50MS    *float64     `json:"p50_ms"`           // half of the calls took no longer, in milliseconds, within a tenth; null when none was timed
	P95MS    *float64     `json:"p95_ms"`           // 95 of 100 calls took no longer
}

// ErrorCount is how many calls ended with one kind of problem.
type ErrorCount struct {
	Code  string `json:"code" min:"1"`  // of the problem
	Calls int64  `json:"calls" min:"0"` // that ended with it
}
