package schema

import (
	"cmp"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// KeySpec is what a key may do. A limit that is left out is as high as the operator of the service allows.
type KeySpec struct {
	Environment KeyEnvironment `json:"environment,omitempty"`       // the environment of a new key, which cannot be changed later; live without it
	Manage      bool           `json:"manage,omitempty"`            // whether the key can also manage the account
	DayCap      *int64         `json:"day_cap,omitempty" min:"0"`   // credits that it may spend in one UTC day
	TotalCap    *int64         `json:"total_cap,omitempty" min:"0"` // credits that it may spend in total
	Rate        *KeyRate       `json:"rate,omitempty"`              // how often it may call
}

// KeyRotation is how a key gets a new value.
type KeyRotation struct {
	Overlap string `json:"overlap,omitempty"` // how long the previous value works: a duration such as 24h, at most 720h; 24h without it
}

// MonitorSpec is the call that a monitor repeats, how often, and what it reports.
type MonitorSpec struct {
	Operation string              `json:"operation" min:"1"`                  // the operation that is repeated, such as posts
	Platform  platform.ID         `json:"platform,omitempty"`                 // the platform; left out for a search of several platforms
	Params    map[string]string   `json:"params,omitempty"`                   // the parameters of the operation, without options of the answer and the cursor
	Each      map[string][]string `json:"each,omitempty"`                     // makes the monitor a panel: one parameter with up to 1,000 values, such as {"handle": ["ann", "bob"]}. Each value is a member, which is read and compared by itself
	Every     string              `json:"every,omitempty"`                    // the interval between polls, as a duration such as 15m, at most 31 days, or the times of polls, as a cron line with an optional time zone, such as 0 9 * * 1-5 Europe/Berlin; by default 15m, or the lifetime of answers if that is longer
	Pages     int                 `json:"pages,omitempty" min:"1" max:"10"`   // the maximum number of pages of a list that a poll reads, each of which is charged; 2 without it
	Follow    int                 `json:"follow,omitempty" min:"0" max:"100"` // how many of the newest items of a list are compared as well; of the others, only new ones are reported
	Fields    []string            `json:"fields,omitempty"`                   // the fields that are compared, such as bio or author.handle; all without it
	Alerts    []string            `json:"alerts,omitempty"`                   // the numbers of one object that raise an alert: when they have moved that far, as with followers:5%, or cross a bound, as with viewers:>=10000
	DryRun    bool                `json:"dry_run,omitempty"`                  // whether to answer what the monitor would be and cost, without creating or changing it
}

// EndpointSpec is where changes are sent, and which.
type EndpointSpec struct {
	URL      string   `json:"url" min:"1"`        // where changes are sent; it begins with https://
	Types    []string `json:"types,omitempty"`    // the types of changes to send, such as new or credits.low; all types without it
	Monitors []string `json:"monitors,omitempty"` // the monitors whose changes to send; without it all, and changes that concern the account
}

// EraseRequest is who or what is erased, by one of handle, id and url.
type EraseRequest struct {
	Platform platform.ID `json:"platform,omitempty"` // the platform; left out with url
	Handle   string      `json:"handle,omitempty"`   // the handle of the account to erase, with what it wrote and what is about it, except mentions in others' texts
	ID       string      `json:"id,omitempty"`       // the id of the object to erase, such as a post or a product, with what belongs to it
	URL      string      `json:"url,omitempty"`      // the public URL of the account or object to erase
	Block    bool        `json:"block,omitempty"`    // whether to block later reads of it as well
	Reason   string      `json:"reason,omitempty"`   // the reason, for the receipt, which is kept permanently; it must not contain a name
	DryRun   bool        `json:"dry_run,omitempty"`  // whether to count what would be erased, without erasing it
	By       string      `json:"-"`                  // what requests the erasure, for the receipt; "" means "program"
}

// Account is an account of the service, as its operator sees it.
type Account struct {
	ID        string     `json:"id"`         // its id, such as acct_…
	Name      string     `json:"name"`       // its name
	Balance   int64      `json:"balance"`    // credits that it can spend
	Monthly   int64      `json:"monthly"`    // credits that it is granted on the first of each month; 0 for none
	CreatedAt time.Time  `json:"created_at"` // when it was made
	ClosedAt  *time.Time `json:"closed_at"`  // when it was closed; null while it is open
}

// Accounts is a part of the list of accounts.
type Accounts struct {
	Accounts []Account `json:"accounts"` // oldest first
	Next     *string   `json:"next"`     // the value of after for the next part; null at the end
}

// AccountSpec is what an account begins with, and what it is granted every month.
type AccountSpec struct {
	Credits int64  `json:"credits,omitempty" min:"0"` // credits that a new account begins with
	Monthly *int64 `json:"monthly,omitempty" min:"0"` // credits that it is granted every month, unspent ones stay; without it that does not change
}

// CreditGrant is a gift of credits.
type CreditGrant struct {
	Credits int64  `json:"credits" min:"1"`  // how many
	Reason  string `json:"reason,omitempty"` // the reason, for the books; grant without it
	Key     string `json:"key,omitempty"`    // a key of your choice: the account gets all grants with the same key only once
}

// CreditRefund gives back what a request was charged, or a part of it.
type CreditRefund struct {
	Credits   int64  `json:"credits" min:"1"`    // how many of the credits that the request was charged
	RequestID string `json:"request_id" min:"1"` // the id of the request
	Reason    string `json:"reason,omitempty"`   // the reason, for the books; refund without it
	Key       string `json:"key,omitempty"`      // a key of your choice: the account gets all refunds with the same key only once
}

// OrKey sets the key if there is none.
func (g *CreditGrant) OrKey(key string) { g.Key = cmp.Or(g.Key, key) }

// OrKey sets the key if there is none.
func (r *CreditRefund) OrKey(key string) { r.Key = cmp.Or(r.Key, key) }
