package schema

import (
	"encoding/json"
	"time"
)

// Monitor asks an operation again and again and tells what changes.
type Monitor struct {
	Name      string            `json:"name" min:"1"`                                        // what the account calls it
	Operation string            `json:"operation" min:"1"`                                   // what is asked, such as "posts"
	Platform  *string           `json:"platform"`                                            // where; null for a search of several platforms
	Params    map[string]string `json:"params"`                                              // the parameters of the operation
	Every     string            `json:"every" min:"1"`                                       // how often, as a duration such as 15m
	Pages     int64             `json:"pages" min:"1" max:"10"`                              // how many pages a poll reads at most
	Follow    int64             `json:"follow" min:"0" max:"100"`                            // how many of the newest items are compared as well
	Fields    []string          `json:"fields"`                                              // the fields that are compared; none means all
	Alerts    []string          `json:"alerts"`                                              // the numbers that raise an alert, such as followers:5%
	State     string            `json:"state" words:"active paused starved failing stopped"` // how it does
	CreatedAt time.Time         `json:"created_at"`                                          // when it was made
	NextAt    *time.Time        `json:"next_at"`                                             // when it polls next; null while it does not
	LastAt    *time.Time        `json:"last_at"`                                             // when it polled last
	Problem   *MonitorProblem   `json:"problem"`                                             // what the last poll came to, where it failed
	Credits   int64             `json:"credits_month" min:"0"`                               // credits that its polls were charged this month (UTC)
	Price     MonitorPrice      `json:"price_month"`                                         // what a month of 30 days costs at this pace
}

// MonitorProblem is what the last poll of a Monitor failed with.
type MonitorProblem struct {
	Code   string `json:"code" min:"1"` // the code of the problem
	Detail string `json:"detail"`       // the same in words
}

// MonitorPrice is what the polls of 30 days cost.
type MonitorPrice struct {
	Least int64 `json:"least" min:"0"` // credits, when each poll reads one page
	Most  int64 `json:"most" min:"0"`  // credits, when each poll reads as many pages as it may
}

// Change is one thing that a Monitor found, or that happened to the account.
type Change struct {
	ID        string          `json:"id" min:"1"`   // the same however often the change is told
	Seq       int64           `json:"seq" min:"1"`  // its place among the changes of the account
	At        time.Time       `json:"at"`           // when it was found
	Monitor   *string         `json:"monitor"`      // the name of the monitor; null for what concerns the account
	Type      string          `json:"type" min:"1"` // what is told, such as new or changed
	Platform  *string         `json:"platform"`     // where it was found
	Operation *string         `json:"operation"`    // what had been asked
	Key       *string         `json:"key"`          // the id of the object on its platform
	Object    json.RawMessage `json:"object"`       // the object as it is now; null where there is none
	Fields    []FieldChange   `json:"fields"`       // what changed in it, by name
	Detail    *string         `json:"detail"`       // more about it, in words
}

// FieldChange is one field of an object before and after a change.
type FieldChange struct {
	Field  string          `json:"field" min:"1"` // its name, with dots between the parts
	Before json.RawMessage `json:"before"`        // what was there
	After  json.RawMessage `json:"after"`         // what is there now
}

// HistoryPoint is a number of the object of a Monitor in one stretch of time.
type HistoryPoint struct {
	At    time.Time `json:"at"`    // when the stretch begins, or when the number was read
	Value float64   `json:"value"` // the last one in it
	Min   float64   `json:"min"`   // the least one in it
	Max   float64   `json:"max"`   // the greatest one in it
}

// Endpoint is a URL to which an account has its changes sent, as Standard Webhooks 1.0.0 says.
type Endpoint struct {
	Name      string    `json:"name" min:"1"`                  // what the account calls it
	URL       string    `json:"url" min:"1"`                   // where changes are sent
	Types     []string  `json:"types"`                         // of the changes that are sent; none means all
	Monitors  []string  `json:"monitors"`                      // whose changes are sent; none means all, and what concerns the account
	State     string    `json:"state" words:"active disabled"` // whether anything is sent
	Detail    *string   `json:"detail"`                        // why it is disabled
	CreatedAt time.Time `json:"created_at"`                    // when it was made
}

// MadeEndpoint is an endpoint that was made, changed, or given a new secret.
type MadeEndpoint struct {
	Endpoint
	Secret *string `json:"secret"` // what signs, shown this once; null in a repeated answer, and when no secret was made
}

// Delivery is a Change on its way to an Endpoint.
type Delivery struct {
	ID       string     `json:"id" min:"1"`                             // the name of the delivery
	Endpoint string     `json:"endpoint" min:"1"`                       // the name of the endpoint
	Change   string     `json:"change" min:"1"`                         // the id of the change, which is the webhook-id
	Seq      int64      `json:"seq" min:"0"`                            // the place of the change in the feed; 0 for a test
	Type     string     `json:"type" min:"1"`                           // the type of the change
	State    string     `json:"state" words:"waiting delivered failed"` // what became of it
	Attempts int64      `json:"attempts" min:"0"`                       // how often it was tried
	QueuedAt time.Time  `json:"queued_at"`                              // since when it is on its way
	NextAt   *time.Time `json:"next_at"`                                // when it is tried next; null when it is not
	LastAt   *time.Time `json:"last_at"`                                // when it was tried last
	Status   *int64     `json:"status"`                                 // the HTTP status of the last answer; null when there was none
	Detail   *string    `json:"detail"`                                 // why the last attempt failed
}
