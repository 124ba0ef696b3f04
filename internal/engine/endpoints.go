package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

const (
	// mostEndpoints is the maximum number of endpoints of an account.
	mostEndpoints = 50
	// mostChosen is the maximum number of types, and of monitors, that an endpoint names.
	mostChosen = 100
	// bothSecrets is for how long deliveries are signed with the previous secret of an endpoint as well.
	bothSecrets = 24 * time.Hour
	// endpointsPage and deliveriesPage are the numbers of items on a page.
	endpointsPage  = mostEndpoints
	deliveriesPage = 100
)

// EndpointDefinition is the definition of an endpoint by its account.
type EndpointDefinition struct {
	URL      string
	Types    []string // empty means all
	Monitors []string // empty means all, and the events of the account
}

// endpointing is the operation in logs and problems of changes of endpoints.
var endpointing = &operation.Operation{
	Name: "endpoints", Path: "/manage/endpoints/{name}", Service: true,
}

// sends starts the sender, unless the engine is closed, and makes a running one look for due deliveries at once. With
// monitors in memory, the sender starts with the first endpoint.
func (w *watching) sends() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.sender != nil:
		w.sender.Nudge()
	case !w.closed:
		w.sender = webhooks.Start(webhooks.Config{
			Store: w.store, Safe: w.safe, Guard: w.guard, Now: w.engine.cfg.Now, Log: w.engine.cfg.Log,
		})
		w.engine.accountEvents.start()
	}
}

// wake makes the sender, if it runs, look for due deliveries at once.
func (w *watching) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sender != nil {
		w.sender.Nudge()
	}
}

// AccountEndpoints makes, changes, tests and ends the webhook endpoints of the session's account.
type AccountEndpoints struct{ session *Session }

// Endpoints returns the endpoints of the session's account.
func (s *Session) Endpoints() AccountEndpoints { return AccountEndpoints{s} }

// fail translates err for the caller and logs it, as [Session.fail] does.
func (a AccountEndpoints) fail(ctx context.Context, id string, err error) error {
	return a.session.fail(ctx, endpointing, operation.Call{RequestID: id}, err)
}

// Put makes an endpoint, or changes the one with that name, and reports whether it is new. The secret is "" unless it
// is new.
func (a AccountEndpoints) Put(
	ctx context.Context, name string, d EndpointDefinition,
) (e schema.Endpoint, secret string, made bool, err error) {
	ctx, id := named(ctx, "")
	saved, secret, made, err := a.put(ctx, name, d)
	if err != nil {
		return e, "", false, a.fail(ctx, id, err)
	}
	return saved.Shape(), secret, made, nil
}

func (a AccountEndpoints) put(
	ctx context.Context, name string, d EndpointDefinition,
) (e watch.Endpoint, secret string, made bool, err error) {
	owner, err := a.session.owner()
	if err == nil {
		err = watch.CheckName(name)
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return e, "", false, err
	}
	ctx, cancel := a.session.bounded(ctx)
	defer cancel()
	if err := a.session.watching.guard.Check(ctx, d.URL); err != nil {
		return e, "", false, err
	}
	secret, sealed, err := a.session.watching.safe.New(owner, name)
	if err != nil {
		return e, "", false, err
	}
	e, made, err = a.session.watching.store.PutEndpoint(ctx, watch.Endpoint{
		Account: owner, Name: name, URL: d.URL, Types: d.Types, Monitors: d.Monitors, Secret: sealed,
		CreatedAt: a.session.cfg.Now().UTC(),
	}, mostEndpoints)
	if err == nil {
		a.session.watching.sends()
		a.session.accountEvents.endpointed(owner)
	}
	if !made {
		secret = ""
	}
	return e, secret, made, stored(ctx, err)
}

// changeTypes are the types of changes that an endpoint can choose.
var changeTypes = []string{
	watch.Alerted, watch.Back, watch.BulkDone, watch.BulkEnded, watch.BulkWaiting, watch.Changed, watch.CreditsExhausted, watch.CreditsLow, watch.EndpointDisabled,
	watch.Failing, watch.Gap, watch.Gone, watch.KeyRevoked, watch.New, watch.PlatformDown, watch.PlatformUp, watch.Ready,
	watch.Recovered, watch.Starved, watch.Stopped,
}

func (d *EndpointDefinition) check() error {
	if len(d.Types) > mostChosen || len(d.Monitors) > mostChosen {
		return fmt.Errorf("%w: at most %d types and %d monitors", watch.ErrInvalid, mostChosen, mostChosen)
	}
	for _, kind := range d.Types {
		if !slices.Contains(changeTypes, kind) {
			return fmt.Errorf("%w: types must be of %s%s", watch.ErrInvalid, strings.Join(changeTypes, ", "),
				problem.DidYouMean(kind, changeTypes))
		}
	}
	for _, name := range d.Monitors {
		if err := watch.CheckName(name); err != nil {
			return fmt.Errorf("%w: monitors must be names of monitors: 1 to 64 of a-z, 0-9 and -", watch.ErrInvalid)
		}
	}
	return nil
}

// End ends an endpoint, with the deliveries to it.
func (a AccountEndpoints) End(ctx context.Context, name string) error {
	ctx, id := named(ctx, "")
	owner, err := a.session.owner()
	if err == nil {
		bounded, cancel := a.session.bounded(ctx)
		defer cancel()
		err = stored(bounded, a.session.watching.store.EndEndpoint(bounded, owner, name))
	}
	if err != nil {
		return a.fail(ctx, id, err)
	}
	a.session.accountEvents.endpointed(owner)
	return nil
}

// Rekey gives an endpoint a new secret and returns it. Deliveries are signed with the previous one as well for a day.
func (a AccountEndpoints) Rekey(ctx context.Context, name string) (e schema.Endpoint, secret string, err error) {
	ctx, id := named(ctx, "")
	owner, err := a.session.owner()
	if err != nil {
		return e, "", a.fail(ctx, id, err)
	}
	bounded, cancel := a.session.bounded(ctx)
	defer cancel()
	secret, sealed, err := a.session.watching.safe.New(owner, name)
	var saved watch.Endpoint
	if err == nil {
		until := a.session.cfg.Now().UTC().Add(bothSecrets)
		saved, err = a.session.watching.store.Rekey(bounded, owner, name, sealed, until)
	}
	if err != nil {
		return e, "", a.fail(ctx, id, stored(bounded, err))
	}
	return saved.Shape(), secret, nil
}

// TestType is the type of what [AccountEndpoints.Test] sends.
const TestType = "test"

// Test sends a change of the type test to an endpoint, immediately and once, and returns the result. The change is not
// in the feed, and the delivery is not in the list of deliveries.
func (a AccountEndpoints) Test(ctx context.Context, name string) (schema.Delivery, error) {
	ctx, id := named(ctx, "")
	owner, err := a.session.owner()
	var e watch.Endpoint
	if err == nil {
		bounded, cancel := a.session.bounded(ctx)
		defer cancel()
		e, err = a.session.watching.store.Endpoint(bounded, owner, name)
		err = stored(bounded, err)
	}
	if err != nil {
		return schema.Delivery{}, a.fail(ctx, id, err)
	}
	a.session.watching.sends()
	now := a.session.cfg.Now().UTC()
	c := webhooks.Own(owner, TestType, now, []string{name, rand.Text()}, "a test of the endpoint "+name)
	d := watch.Delivery{
		Account: owner, Endpoint: name, Change: c.ID, Type: c.Type, State: watch.Failed, Attempts: 1, QueuedAt: now,
		LastAt: now,
	}
	got, err := a.session.watching.try(ctx, e, c)
	if err != nil {
		return schema.Delivery{}, a.fail(ctx, id, err)
	}
	if d.Status, d.Detail = got.Status, got.Detail; got.OK() {
		d.State = watch.Delivered
	}
	out := d.Shape()
	out.ID = name + "." + TestType
	return out, nil
}

// try sends a change to an endpoint, unless the engine is closed.
func (w *watching) try(ctx context.Context, e watch.Endpoint, c schema.Change) (webhooks.Result, error) {
	w.mu.Lock()
	sender := w.sender
	w.mu.Unlock()
	if sender == nil {
		return webhooks.Result{}, errEnded
	}
	return sender.Try(ctx, e, c), nil
}

// Again queues a delivery once more, whatever its result was, and returns it in its new state.
func (a AccountEndpoints) Again(ctx context.Context, delivery string) (schema.Delivery, error) {
	ctx, id := named(ctx, "")
	d, err := a.again(ctx, delivery)
	if err != nil {
		return schema.Delivery{}, a.fail(ctx, id, err)
	}
	a.session.watching.sends()
	return d.Shape(), nil
}

func (a AccountEndpoints) again(ctx context.Context, delivery string) (watch.Delivery, error) {
	owner, err := a.session.owner()
	if err != nil {
		return watch.Delivery{}, err
	}
	name, seq, err := watch.ParseDeliveryID(delivery)
	if err != nil {
		return watch.Delivery{}, err
	}
	ctx, cancel := a.session.bounded(ctx)
	defer cancel()
	d, err := a.session.watching.store.Again(ctx, owner, name, seq, a.session.cfg.Now().UTC())
	return d, stored(ctx, err)
}

// listEndpoints returns a page of the account's endpoints, by name.
func listEndpoints(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	owner, err := s.owner()
	if err != nil {
		return nil, err
	}
	bound := boundTo(row, owner, in)
	after, err := s.position(ctx, bound, in)
	if err != nil {
		return nil, err
	}
	if name := in.Get("name"); name != "" {
		e, err := s.watching.store.Endpoint(ctx, owner, name)
		if err != nil {
			return nil, stored(ctx, err)
		}
		return s.paged(ctx, call, []schema.Endpoint{e.Shape()}, bound, "")
	}
	found, err := s.watching.store.Endpoints(ctx, owner, after, in.Limit(endpointsPage)+1)
	if err != nil {
		return nil, stored(ctx, err)
	}
	out, next := pageOf(found, in.Limit(endpointsPage),
		func(e *watch.Endpoint) string { return e.Name }, (*watch.Endpoint).Shape)
	return s.paged(ctx, call, out, bound, next)
}

// listDeliveries returns a page of the account's deliveries, those of the latest changes first.
func listDeliveries(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	owner, err := s.owner()
	if err != nil {
		return nil, err
	}
	q := watch.Outgoing{Account: owner, Endpoint: in.Get("endpoint"), Limit: in.Limit(deliveriesPage) + 1}
	bound := boundTo(row, owner, in)
	given, err := s.position(ctx, bound, in)
	if err != nil {
		return nil, err
	}
	if given != "" {
		seq, after, _ := strings.Cut(given, " ")
		if q.Before, err = strconv.ParseInt(seq, 10, 64); err != nil {
			return nil, cursor.ErrInvalid
		}
		q.After = after
	}
	found, err := s.watching.store.Deliveries(ctx, q)
	if err == nil && len(found) == 0 && q.Endpoint != "" { // the name may be mistyped
		_, err = s.watching.store.Endpoint(ctx, owner, q.Endpoint)
	}
	if err != nil {
		return nil, stored(ctx, err)
	}
	out, next := pageOf(found, in.Limit(deliveriesPage),
		func(d *watch.Delivery) string { return strconv.FormatInt(d.Seq, 10) + " " + d.Endpoint }, (*watch.Delivery).Shape)
	return s.paged(ctx, call, out, bound, next)
}

// isOfWatches reports whether an error of the store of monitors is the caller's and not a failure of the store.
func isOfWatches(err error) bool {
	for _, known := range []error{
		watch.ErrAbsent, watch.ErrFull, watch.ErrNoEndpoint, watch.ErrNoDelivery, watch.ErrEndpointsFull,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
