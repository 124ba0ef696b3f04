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
	// ErrNoEndpoint means that there is no such endpoint.
	ErrNoEndpoint = errors.New("watch: there is no such endpoint")
	// ErrNoDelivery means that there is no such delivery, or that its change was removed.
	ErrNoDelivery = errors.New("watch: there is no such delivery")
	// ErrEndpointsFull means that the account has the maximum number of endpoints.
	ErrEndpointsFull = errors.New("watch: the account has the maximum number of endpoints")
)

// Disabled is the state of an endpoint to which nothing is sent. The other state is Active.
const Disabled = "disabled"

// The states of a delivery.
const (
	Waiting   = "waiting"   // for its first attempt, or for the next one
	Delivered = "delivered" // the endpoint has answered 2xx
	Failed    = "failed"    // the maximum number of attempts has failed
)

// The types of changes that concern the account and no monitor.
const (
	// EndpointDisabled means that nothing is sent to one of the endpoints any more. Its key is the name of the endpoint.
	EndpointDisabled = "endpoint.disabled"
	// CreditsLow means that the balance has fallen below the threshold of the account. Its field credits is the balance.
	CreditsLow = "credits.low"
	// CreditsExhausted means that no credits are left, or too few for a call. Its field credits is the balance.
	CreditsExhausted = "credits.exhausted"
	// BulkWaiting means that a bulk job waits: for credits, for space, or for a platform. Its key is the name of the job.
	BulkWaiting = "bulk.waiting"
	// BulkDone means that each line of a bulk job has its result. Its key is the name of the job.
	BulkDone = "bulk.done"
	// BulkEnded means that a bulk job has ended before that. Its key is the name of the job.
	BulkEnded = "bulk.ended"
	// KeyRevoked means that a key of the account was revoked. Its key is the id of that key.
	KeyRevoked = "key.revoked"
	// PlatformDown means that the breakers of all upstreams of a platform are open. Its platform says which one.
	PlatformDown = "platform.down"
	// PlatformUp means that a platform that was down is read again.
	PlatformUp = "platform.up"
)

// Endpoint is a URL to which an account has changes sent, with its state.
type Endpoint struct {
	Account string
	Name    string
	URL     string
	// Types and Monitors select what is sent; an empty one selects everything.
	Types    []string
	Monitors []string

	Secret      []byte // sealed; the store does not read it
	Before      []byte // the previous sealed secret, which also signs until BeforeUntil; nil when there is none
	BeforeUntil time.Time
	CreatedAt   time.Time

	Problem      string    // why it is disabled; "" while it is active
	FailingSince time.Time // the first failure after the last attempt that succeeded; zero when there is none
	Position     int64     // the Seq of the last change that was queued or skipped
}

// State returns Active or Disabled.
func (e *Endpoint) State() string {
	if e.Problem != "" {
		return Disabled
	}
	return Active
}

// Shape returns e as the API shows it, without its secret.
func (e *Endpoint) Shape() schema.Endpoint {
	out := schema.Endpoint{
		Name: e.Name, URL: e.URL, Types: append([]string{}, e.Types...), Monitors: append([]string{}, e.Monitors...),
		State: e.State(), CreatedAt: e.CreatedAt,
	}
	if e.Problem != "" {
		out.Detail = new(e.Problem)
	}
	return out
}

// Wants reports whether a change is sent to e.
func (e *Endpoint) Wants(c *schema.Change) bool {
	return (len(e.Types) == 0 || slices.Contains(e.Types, c.Type)) &&
		(len(e.Monitors) == 0 || c.Monitor != nil && slices.Contains(e.Monitors, *c.Monitor))
}

// Replace applies the definition of another endpoint to e, as described for [Outbox.PutEndpoint]. It is for
// implementations of [Outbox].
func (e *Endpoint) Replace(by Endpoint) {
	e.URL, e.Types, e.Monitors = by.URL, slices.Clone(by.Types), slices.Clone(by.Monitors)
	e.Problem, e.FailingSince = "", time.Time{}
}

// Delivery is the delivery of a change to an endpoint. It refers to the change, and is removed with it.
type Delivery struct {
	Account  string
	Endpoint string // its name
	Seq      int64  // of the change
	Change   string // the id of the change
	Type     string // of the change
	State    string // Waiting, Delivered or Failed
	Attempts int    // number of attempts so far
	QueuedAt time.Time
	NextAt   time.Time // of the next attempt; zero when there is none
	LastAt   time.Time // of the last attempt; zero before the first
	Status   int       // of the last answer; 0 when there was none
	Detail   string    // why the last attempt failed
}

// ID returns an identifier of the delivery that is unique in its account.
func (d *Delivery) ID() string { return d.Endpoint + "." + strconv.FormatInt(d.Seq, 10) }

// Shape returns d as the API shows it.
func (d *Delivery) Shape() schema.Delivery {
	out := schema.Delivery{
		ID: d.ID(), Endpoint: d.Endpoint, Change: d.Change, Seq: d.Seq, Type: d.Type, State: d.State,
		Attempts: int64(d.Attempts), QueuedAt: d.QueuedAt,
	}
	if !d.NextAt.IsZero() {
		out.NextAt = new(d.NextAt)
	}
	if !d.LastAt.IsZero() {
		out.LastAt = new(d.LastAt)
	}
	if d.Status != 0 {
		out.Status = new(int64(d.Status))
	}
	if d.Detail != "" {
		out.Detail = new(d.Detail)
	}
	return out
}

// ParseDeliveryID parses the result of [Delivery.ID]. It fails with ErrNoDelivery.
func ParseDeliveryID(id string) (endpoint string, seq int64, err error) {
	endpoint, number, _ := strings.Cut(id, ".")
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || CheckName(endpoint) != nil || seq < 1 {
		return "", 0, ErrNoDelivery
	}
	return endpoint, seq, nil
}

// Sending is a delivery that is due, owned by one process until Until.
type Sending struct {
	Delivery Delivery
	Endpoint Endpoint
	Change   schema.Change
	Lease    string
	Until    time.Time
}

// Attempt is the result of an attempt to deliver.
type Attempt struct {
	Sending Sending
	At      time.Time
	Status  int       // of the answer; 0 when there was none
	Detail  string    // why it failed; "" when it succeeded
	State   string    // of the delivery after it
	Next    time.Time // when a delivery that is Waiting is due again
	Disable string    // why the endpoint becomes disabled; "" when it does not
	Tell    []schema.Change
}

// Outgoing selects deliveries of an account, latest changes first, and for one change by endpoint.
type Outgoing struct {
	Account  string
	Endpoint string // "" for all
	// Before and After begin after the delivery of the change Before to the endpoint After; 0 begins with the latest.
	Before int64
	After  string
	Limit  int // maximum number; 0 is no limit
}

// EndpointRef names an endpoint.
type EndpointRef struct{ Account, Name string }

// Outbox stores endpoints and the deliveries to them. It is a part of a [Store], whose feed it sends.
type Outbox interface {
	// PutEndpoint makes an endpoint, which receives the changes from then on, or gives the one with that account and
	// name another URL, types and monitors. An endpoint that was disabled becomes active again, and continues at its
	// position. The secret is only used for a new one. It returns the endpoint as it is stored and whether it is new,
	// and fails with ErrEndpointsFull when the account has most already; 0 is no limit.
	PutEndpoint(ctx context.Context, e Endpoint, most int) (stored Endpoint, made bool, err error)
	// Endpoint returns one endpoint, or ErrNoEndpoint.
	Endpoint(ctx context.Context, account, name string) (Endpoint, error)
	// Endpoints returns up to limit endpoints of an account whose names follow after, sorted by name; 0 is no limit.
	Endpoints(ctx context.Context, account, after string, limit int) ([]Endpoint, error)
	// Active returns the active endpoints of all accounts, in no particular order.
	Active(ctx context.Context) ([]Endpoint, error)
	// EndEndpoint removes an endpoint with its deliveries. It fails with ErrNoEndpoint.
	EndEndpoint(ctx context.Context, account, name string) error
	// Rekey gives an endpoint another secret. The previous one becomes its Before until then. It fails with
	// ErrNoEndpoint.
	Rekey(ctx context.Context, account, name string, secret []byte, until time.Time) (Endpoint, error)

	// Tell adds changes to an account's feed. It leaves out changes whose id is in the feed already.
	Tell(ctx context.Context, account string, changes []schema.Change) error
	// Queue makes deliveries, due at now, of the changes that active endpoints have not received yet, and moves their
	// positions, both or neither. It handles up to n changes for each endpoint, and reports whether there may be more.
	Queue(ctx context.Context, now time.Time, n int) (more bool, err error)
	// ClaimDeliveries claims up to n deliveries that are due at now, for lease: up to each for one endpoint, oldest
	// changes first; one for an endpoint that is failing; and none for those that are disabled or in full. Of
	// concurrent calls, only one gets a delivery. A delivery whose lease has expired can be claimed again.
	ClaimDeliveries(ctx context.Context, now time.Time, n, each int, lease time.Duration, full []EndpointRef) ([]Sending, error)
	// Attempted writes the result of an attempt, completely or not at all, and ends its lease: the delivery, since when
	// the endpoint is failing, whether it is disabled, and the changes about it. It fails with ErrLease when the caller
	// no longer owns the delivery, or it was removed.
	Attempted(ctx context.Context, a Attempt) error
	// Deliveries returns deliveries. They are stored as long as their changes.
	Deliveries(ctx context.Context, q Outgoing) ([]Delivery, error)
	// Again makes a delivery due at now, whatever its state, as if it had never been attempted. It fails with
	// ErrNoDelivery.
	Again(ctx context.Context, account, endpoint string, seq int64, now time.Time) (Delivery, error)
}
