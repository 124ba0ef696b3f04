package schema

import (
	"encoding/json"
	"time"
)

// Monitor is a call that is repeated and whose changes are reported.
type Monitor struct {
	Name      string            `json:"name" min:"1"`                                        // its name, chosen by the account
	Operation string            `json:"operation" min:"1"`                                   // the operation that is called, such as "posts"
	Platform  *string           `json:"platform"`                                            // the platform; null for a search of several platforms
	Params    map[string]string `json:"params"`                                              // the parameters of the operation
	Each      *string           `json:"each"`                                                // the parameter of which each member has another value; null if the monitor is not a panel
	Member    *string           `json:"member"`                                              // the value of that parameter, of a member of a panel; null for others
	Every     string            `json:"every" min:"1"`                                       // the interval, as a duration such as 15m, or the times, as a cron line such as 0 9 * * 1-5 Europe/Berlin
	Pages     int64             `json:"pages" min:"1" max:"10"`                              // maximum number of pages in a poll
	Follow    int64             `json:"follow" min:"0" max:"100"`                            // number of the newest items that are also compared
	Fields    []string          `json:"fields"`                                              // the fields that are compared; empty means all
	Alerts    []string          `json:"alerts"`                                              // the numbers that raise an alert, such as followers:5%
	State     string            `json:"state" words:"active paused starved failing stopped"` // its state
	CreatedAt time.Time         `json:"created_at"`                                          // when it was created
	NextAt    *time.Time        `json:"next_at"`                                             // the next poll; null if there is none
	LastAt    *time.Time        `json:"last_at"`                                             // the last poll
	Problem   *MonitorProblem   `json:"problem"`                                             // the problem of the last poll, if it failed; of a panel, that of one of its members
	Gone      bool              `json:"gone"`                                                // whether the object no longer exists
	Feed      bool              `json:"feed"`                                                // whether it has a feed
	Coverage  *MonitorCoverage  `json:"coverage"`                                            // how much of it was read: of a panel, its members; of a search of several platforms, the platforms; null for others
	Credits   int64             `json:"credits_month" min:"0"`                               // credits charged for its polls this month (UTC)
	PricePoll MonitorPrice      `json:"price_poll"`                                          // the price of a poll, of all members of a panel
	Price     MonitorPrice      `json:"price_month"`                                         // the price of 30 days at this interval
}

// MonitorCoverage is how much a Monitor that reads several things has read of them.
type MonitorCoverage struct {
	Members int64 `json:"members" min:"0"` // how many there are
	Read    int64 `json:"read" min:"0"`    // those that the last poll of each has read
	Failed  int64 `json:"failed" min:"0"`  // those that could not be read, or do not exist
	Gone    int64 `json:"gone" min:"0"`    // those that no longer exist
	Unread  int64 `json:"unread" min:"0"`  // those that were not polled yet, or for which there were too few credits
}

// MonitorFeed is the feed of a Monitor: the newest of its changes of the type new, for readers of Atom and JSON Feed.
type MonitorFeed struct {
	Monitor string  `json:"monitor" min:"1"` // the name of the monitor
	Secret  *string `json:"secret"`          // the address of the feed without its ending, .atom or .json: anyone who has it can read the feed. It is shown only this once; null if the monitor had a feed already, and in a repeated answer. It is a path if the service does not know its public address

	New bool `json:"-"` // whether it was created by this call
}

// MonitorProblem is the problem of a Monitor's last poll.
type MonitorProblem struct {
	Code   string `json:"code" min:"1"` // the code of the problem
	Detail string `json:"detail"`       // the problem in words
}

// MonitorPrice is the price of polls.
type MonitorPrice struct {
	Least int64 `json:"least" min:"0"` // credits, if each poll reads one page
	Most  int64 `json:"most" min:"0"`  // credits, if each poll reads the maximum number of pages
}

// Change is one change that a Monitor found, or that concerns the account.
type Change struct {
	ID        string          `json:"id" min:"1"`   // the same each time the change is sent
	Seq       int64           `json:"seq" min:"1"`  // its position among the changes of the account
	At        time.Time       `json:"at"`           // when it was found
	Monitor   *string         `json:"monitor"`      // the name of the monitor; null for a change that concerns the account
	Type      string          `json:"type" min:"1"` // the type of change, such as new or changed
	Platform  *string         `json:"platform"`     // the platform
	Operation *string         `json:"operation"`    // the operation of the monitor
	Member    *string         `json:"member"`       // the member of a panel that has changed; null if the monitor is not a panel, or all of it is meant
	Key       *string         `json:"key"`          // the id of the object on its platform
	Object    json.RawMessage `json:"object"`       // the current object; null if there is none
	Fields    []FieldChange   `json:"fields"`       // the fields that have changed, by name
	Detail    *string         `json:"detail"`       // further details, in words
}

// FieldChange is one field of an object before and after a change.
type FieldChange struct {
	Field  string          `json:"field" min:"1"` // its name, with dots between the parts
	Before json.RawMessage `json:"before"`        // the previous value
	After  json.RawMessage `json:"after"`         // the current value
}

// HistoryPoint is a number of a Monitor's object in one period.
type HistoryPoint struct {
	At    time.Time `json:"at"`    // when the period begins, or when the number was read
	Value float64   `json:"value"` // the last value in it
	Min   float64   `json:"min"`   // the minimum in it
	Max   float64   `json:"max"`   // the maximum in it
}

// Endpoint is a URL to which changes of an account are sent, as specified by Standard Webhooks 1.0.0.
type Endpoint struct {
	Name      string    `json:"name" min:"1"`                  // its name, chosen by the account
	URL       string    `json:"url" min:"1"`                   // where changes are sent
	Types     []string  `json:"types"`                         // the types of changes that are sent; empty means all
	Monitors  []string  `json:"monitors"`                      // the monitors whose changes are sent; empty means all, and the changes that concern the account
	State     string    `json:"state" words:"active disabled"` // active, or disabled: then nothing is sent
	Detail    *string   `json:"detail"`                        // why it is disabled
	CreatedAt time.Time `json:"created_at"`                    // when it was created
}

// MadeEndpoint is an endpoint that was created, changed, or given a new secret.
type MadeEndpoint struct {
	Endpoint
	Secret *string `json:"secret"` // the signing secret, shown only this once; null in a repeated answer, and if no secret was created

	New bool `json:"-"` // whether it was created by this call
}

// MadeMonitor is a monitor that was created or changed.
type MadeMonitor struct {
	Monitor
	New bool `json:"-"` // whether it was created by this call
}

// Delivery is the delivery of a Change to an Endpoint.
type Delivery struct {
	ID       string     `json:"id" min:"1"`                             // the id of the delivery
	Endpoint string     `json:"endpoint" min:"1"`                       // the name of the endpoint
	Change   string     `json:"change" min:"1"`                         // the id of the change, which is the webhook-id
	Seq      int64      `json:"seq" min:"0"`                            // the position of the change in the feed; 0 for a test
	Type     string     `json:"type" min:"1"`                           // the type of the change
	State    string     `json:"state" words:"waiting delivered failed"` // its state
	Attempts int64      `json:"attempts" min:"0"`                       // number of attempts so far
	QueuedAt time.Time  `json:"queued_at"`                              // when it was queued
	NextAt   *time.Time `json:"next_at"`                                // the next attempt; null if there is none
	LastAt   *time.Time `json:"last_at"`                                // the last attempt
	Status   *int64     `json:"status"`                                 // the HTTP status of the last answer; null if there was none
	Detail   *string    `json:"detail"`                                 // why the last attempt failed
}
