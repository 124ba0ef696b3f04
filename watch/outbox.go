package watch

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// The errors of an [Outbox].
var (
	// ErrNoEndpoint says that there is no such endpoint.
	ErrNoEndpoint = errors.New("watch: there is no such endpoint")
	// ErrNoDelivery says that there is no such delivery, or that its change has been removed.
	ErrNoDelivery = errors.New("watch: there is no such delivery")
	// ErrEndpointsFull says that the account has as many endpoints as it may have.
	ErrEndpointsFull = errors.New("watch: the account has as many endpoints as it may have")
)

// Disabled is the state of an endpoint to which nothing is sent. The other one is Active.
const Disabled = "disabled"

// The states of a delivery.
const (
	Waiting   = "waiting"   // for its first attempt, or for the next one
	Delivered = "delivered" // the endpoint has answered 2xx
	Failed    = "failed"    // as many attempts have failed as are made
)

// EndpointDisabled is the type of a change that concerns the account and no monitor: nothing is sent to one of its endpoints
// any more. Its key is the name of the endpoint.
const EndpointDisabled = "endpoint.disabled"

// Endpoint is where an account has changes sent, and what has come of it.
type Endpoint struct {
	Account string
	Name    string
	URL     string
	// Types and Monitors select what is sent; an empty one selects everything.
	Types    []string
	Monitors []string

	Secret      []byte // sealed; the store does not look inside
	Before      []byte // the sealed secret before it, which signs too until BeforeUntil; nil when there is none
	BeforeUntil time.Time
	CreatedAt   time.Time

	Problem      string    // why it is disabled; "" while it is active
	FailingSince time.Time // the first failed attempt since the last one that succeeded; zero when there is none
	Position     int64     // the Seq of the last change that was queued, or passed over
}

// State returns Active or Disabled.
func (e *Endpoint) State() string {
	if e.Problem != "" {
		return Disabled
	}
	return Active
}

// Wants reports whether a change is sent to e.
func (e *Endpoint) Wants(c *schema.Change) bool {
	return (len(e.Types) == 0 || slices.Contains(e.Types, c.Type)) &&
		(len(e.Monitors) == 0 || c.Monitor != nil && slices.Contains(e.Monitors, *c.Monitor))
}

// Replace gives e what its account wants of another, as [Outbox.PutEndpoint] says. It is for those who write stores.
func (e *Endpoint) Replace(by Endpoint) {
	e.URL, e.Types, e.Monitors = by.URL, slices.Clone(by.Types), slices.Clone(by.Monitors)
	e.Problem, e.FailingSince = "", time.Time{}
}

// Delivery is a change on its way to an endpoint. It refers to the change, and is removed with it.
type Delivery struct {
	Account  string
	Endpoint string // its name
	Seq      int64  // of the change
	Change   string // the id of the change
	Type     string // of the change
	State    string // Waiting, Delivered or Failed
	Attempts int    // made so far
	QueuedAt time.Time
	NextAt   time.Time // of the next attempt; zero when there is none
	LastAt   time.Time // of the last attempt; zero before the first
	Status   int       // of the last answer; 0 when there was none
	Detail   string    // why the last attempt failed
}

// ID returns the name of a delivery within its account.
func (d *Delivery) ID() string { return d.Endpoint + "." + strconv.FormatInt(d.Seq, 10) }

// ParseDeliveryID returns what [Delivery.ID] has put together, or ErrNoDelivery.
func ParseDeliveryID(id string) (endpoint string, seq int64, err error) {
	endpoint, number, _ := strings.Cut(id, ".")
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || CheckName(endpoint) != nil || seq < 1 {
		return "", 0, ErrNoDelivery
	}
	return endpoint, seq, nil
}

// Sending is a delivery that is due, taken by one process until Until.
type Sending struct {
	Delivery Delivery
	Endpoint Endpoint
	Change   schema.Change
	Lease    string
	Until    time.Time
}

// Attempt is what an attempt to deliver came to.
type Attempt struct {
	Sending Sending
	At      time.Time
	Status  int       // of the answer; 0 when there was none
	Detail  string    // why it failed; "" when it did not
	State   string    // of the delivery from now on
	Next    time.Time // when a delivery that is Waiting is due again
	Disable string    // why the endpoint is disabled from now on; "" when it is not
	Tell    []schema.Change
}

// Outgoing selects deliveries of an account, those of the latest changes first, and of one change by endpoint.
type Outgoing struct {
	Account  string
	Endpoint string // "" for all
	// Before and After begin behind the delivery of the change Before to the endpoint After; 0 begins with the latest.
	Before int64
	After  string
	Limit  int // at most so many; 0 is no bound
}

// Lane names an endpoint.
type Lane struct{ Account, Name string }

// Outbox keeps endpoints and the deliveries to them. It is a part of a [Store], whose feed it sends.
type Outbox interface {
	// PutEndpoint makes an endpoint, which gets the changes that are told from then on, or gives the one of that account and name
	// another URL, types and monitors. One that was disabled is active again, and goes on where it was. The secret is that of
	// a new one alone. It returns the endpoint as it stands and whether it is new, and fails with ErrEndpointsFull when the
	// account has most already; 0 is no bound.
	PutEndpoint(ctx context.Context, e Endpoint, most int) (stands Endpoint, made bool, err error)
	// Endpoint returns one endpoint, or ErrNoEndpoint.
	Endpoint(ctx context.Context, account, name string) (Endpoint, error)
	// Endpoints returns the endpoints of an account, by name, those behind after, at most limit of them; 0 is no bound.
	Endpoints(ctx context.Context, account, after string, limit int) ([]Endpoint, error)
	// EndEndpoint removes an endpoint with its deliveries. It fails with ErrNoEndpoint.
	EndEndpoint(ctx context.Context, account, name string) error
	// Rekey gives an endpoint another secret. The one that it had is its Before until then. It fails with ErrNoEndpoint.
	Rekey(ctx context.Context, account, name string, secret []byte, until time.Time) (Endpoint, error)

	// Tell adds changes to an account's feed. One whose id is in the feed already is left out.
	Tell(ctx context.Context, account string, changes []schema.Change) error
	// Queue makes deliveries, due at now, of the changes that active endpoints have not got yet, and moves their positions, both
	// or neither. It deals with at most n changes of each endpoint, and reports whether there may be more.
	Queue(ctx context.Context, now time.Time, n int) (more bool, err error)
	// ClaimDeliveries takes at most n deliveries that are due at now, for lease: at most each to one endpoint, the oldest
	// changes first, one to an endpoint that is failing, and none to those that are disabled or in full. Of any number of
	// concurrent calls one gets each. A lease that has run out is nobody's.
	ClaimDeliveries(ctx context.Context, now time.Time, n, each int, lease time.Duration, full []Lane) ([]Sending, error)
	// Attempted writes what an attempt came to, all or nothing, and ends its lease: the delivery, since when the endpoint is
	// failing, whether it is disabled, and what is told of it. It fails with ErrLease when the delivery is another's by now, or gone.
	Attempted(ctx context.Context, a Attempt) error
	// Deliveries returns deliveries. They are kept as long as their changes.
	Deliveries(ctx context.Context, q Outgoing) ([]Delivery, error)
	// Again makes a delivery due at now, whatever has come of it, as one that has never been tried. It fails with ErrNoDelivery.
	Again(ctx context.Context, account, endpoint string, seq int64, now time.Time) (Delivery, error)
}
