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
	// mostEndpoints is how many endpoints an account has at most.
	mostEndpoints = 50
	// mostChosen is how many types, or monitors, an endpoint names at most.
	mostChosen = 100
	// bothSecrets is how long the secret before a new one signs as well.
	bothSecrets = 24 * time.Hour
	// endpointsPage and deliveriesPage are the sizes of pages.
	endpointsPage  = mostEndpoints
	deliveriesPage = 100
)

// EndpointDefinition is an endpoint as its account wants it.
type EndpointDefinition struct {
	URL      string
	Types    []string // none means all
	Monitors []string // none means all, and what concerns the account
}

// endpointing is what failures of endpoints are logged and told as.
var endpointing = &operation.Operation{
	Name: "endpoints", Func: "Endpoints", Path: "/manage/endpoints/{name}", Service: true,
}

// sends begins to send what is due, unless the engine has ended. In memory nothing is sent before there is an endpoint.
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
	}
}

// failEndpoint returns err as the problem that it is to callers.
func (s *Session) failEndpoint(ctx context.Context, id string, err error) error {
	return s.fail(ctx, endpointing, operation.Call{RequestID: id}, err)
}

// PutEndpoint makes an endpoint of the session's account, or changes the one of that name. The secret is "" unless it
// is new.
func (s *Session) PutEndpoint(
	ctx context.Context, name string, d EndpointDefinition,
) (e schema.Endpoint, secret string, made bool, err error) {
	ctx, id := named(ctx, "")
	stands, secret, made, err := s.putEndpoint(ctx, name, d)
	if err != nil {
		return e, "", false, s.failEndpoint(ctx, id, err)
	}
	return shownEndpoint(&stands), secret, made, nil
}

func (s *Session) putEndpoint(
	ctx context.Context, name string, d EndpointDefinition,
) (e watch.Endpoint, secret string, made bool, err error) {
	owner, err := s.watcher()
	if err == nil {
		err = watch.CheckName(name)
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return e, "", false, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.watching.guard.Check(ctx, d.URL); err != nil {
		return e, "", false, err
	}
	secret, sealed, err := s.watching.safe.New(owner, name)
	if err != nil {
		return e, "", false, err
	}
	e, made, err = s.watching.store.PutEndpoint(ctx, watch.Endpoint{
		Account: owner, Name: name, URL: d.URL, Types: d.Types, Monitors: d.Monitors, Secret: sealed,
		CreatedAt: s.cfg.Now().UTC(),
	}, mostEndpoints)
	if err == nil {
		s.watching.sends()
	}
	if !made {
		secret = ""
	}
	return e, secret, made, stored(ctx, err)
}

// changeTypes are those that an endpoint can choose.
var changeTypes = []string{
	watch.Alerted, watch.Back, watch.Changed, watch.EndpointDisabled, watch.Failing, watch.Gap, watch.Gone, watch.New,
	watch.Ready,
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

// EndEndpoint ends an endpoint, with the deliveries to it.
func (s *Session) EndEndpoint(ctx context.Context, name string) error {
	ctx, id := named(ctx, "")
	owner, err := s.watcher()
	if err == nil {
		bounded, cancel := s.bounded(ctx)
		defer cancel()
		err = stored(bounded, s.watching.store.EndEndpoint(bounded, owner, name))
	}
	if err != nil {
		return s.failEndpoint(ctx, id, err)
	}
	return nil
}

// RekeyEndpoint gives an endpoint a new secret and returns it. The one before it signs as well for a day.
func (s *Session) RekeyEndpoint(ctx context.Context, name string) (e schema.Endpoint, secret string, err error) {
	ctx, id := named(ctx, "")
	owner, err := s.watcher()
	if err != nil {
		return e, "", s.failEndpoint(ctx, id, err)
	}
	bounded, cancel := s.bounded(ctx)
	defer cancel()
	secret, sealed, err := s.watching.safe.New(owner, name)
	var stands watch.Endpoint
	if err == nil {
		stands, err = s.watching.store.Rekey(bounded, owner, name, sealed, s.cfg.Now().UTC().Add(bothSecrets))
	}
	if err != nil {
		return e, "", s.failEndpoint(ctx, id, stored(bounded, err))
	}
	return shownEndpoint(&stands), secret, nil
}

// TestType is the type of what [Session.TestEndpoint] sends.
const TestType = "test"

// TestEndpoint sends a change of the type test to an endpoint, now and once, and returns what came of it. It is in no
// feed and in no list of deliveries.
func (s *Session) TestEndpoint(ctx context.Context, name string) (schema.Delivery, error) {
	ctx, id := named(ctx, "")
	owner, err := s.watcher()
	var e watch.Endpoint
	if err == nil {
		bounded, cancel := s.bounded(ctx)
		defer cancel()
		e, err = s.watching.store.Endpoint(bounded, owner, name)
		err = stored(bounded, err)
	}
	if err != nil {
		return schema.Delivery{}, s.failEndpoint(ctx, id, err)
	}
	s.watching.sends()
	now := s.cfg.Now().UTC()
	c := webhooks.Own(owner, TestType, now, []string{name, rand.Text()}, "a test of the endpoint "+name)
	d := watch.Delivery{
		Account: owner, Endpoint: name, Change: c.ID, Type: c.Type, State: watch.Failed, Attempts: 1, QueuedAt: now,
		LastAt: now,
	}
	got, err := s.watching.try(ctx, e, c)
	if err != nil {
		return schema.Delivery{}, s.failEndpoint(ctx, id, err)
	}
	if d.Status, d.Detail = got.Status, got.Detail; got.OK() {
		d.State = watch.Delivered
	}
	out := shownDelivery(&d)
	out.ID = name + "." + TestType
	return out, nil
}

// try sends a change to an endpoint, unless the engine has ended.
func (w *watching) try(ctx context.Context, e watch.Endpoint, c schema.Change) (webhooks.Result, error) {
	w.mu.Lock()
	sender := w.sender
	w.mu.Unlock()
	if sender == nil {
		return webhooks.Result{}, errEnded
	}
	return sender.Try(ctx, e, c), nil
}

// DeliverAgain makes a delivery again, whatever came of it, and returns it as it waits for that.
func (s *Session) DeliverAgain(ctx context.Context, delivery string) (schema.Delivery, error) {
	ctx, id := named(ctx, "")
	d, err := s.again(ctx, delivery)
	if err != nil {
		return schema.Delivery{}, s.failEndpoint(ctx, id, err)
	}
	s.watching.sends()
	return shownDelivery(&d), nil
}

func (s *Session) again(ctx context.Context, delivery string) (watch.Delivery, error) {
	owner, err := s.watcher()
	if err != nil {
		return watch.Delivery{}, err
	}
	name, seq, err := watch.ParseDeliveryID(delivery)
	if err != nil {
		return watch.Delivery{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	d, err := s.watching.store.Again(ctx, owner, name, seq, s.cfg.Now().UTC())
	return d, stored(ctx, err)
}

func shownEndpoint(e *watch.Endpoint) schema.Endpoint {
	return schema.Endpoint{
		Name: e.Name, URL: e.URL, Types: append([]string{}, e.Types...), Monitors: append([]string{}, e.Monitors...),
		State: e.State(), Detail: set(e.Problem), CreatedAt: e.CreatedAt,
	}
}

func shownDelivery(d *watch.Delivery) schema.Delivery {
	out := schema.Delivery{
		ID: d.ID(), Endpoint: d.Endpoint, Change: d.Change, Seq: d.Seq, Type: d.Type, State: d.State,
		Attempts: int64(d.Attempts),
		QueuedAt: d.QueuedAt, Detail: set(d.Detail),
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
	return out
}

// listEndpoints answers a page of the account's endpoints, by name.
func listEndpoints(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	owner, err := s.watcher()
	if err != nil {
		return nil, err
	}
	bound := boundTo(row, owner, in)
	after, err := s.place(ctx, bound, in)
	if err != nil {
		return nil, err
	}
	found, err := s.watching.store.Endpoints(ctx, owner, after, endpointsPage+1)
	if err != nil {
		return nil, stored(ctx, err)
	}
	next := ""
	if len(found) > endpointsPage {
		found = found[:endpointsPage]
		next = found[endpointsPage-1].Name
	}
	out := make([]schema.Endpoint, len(found))
	for i := range found {
		out[i] = shownEndpoint(&found[i])
	}
	return s.paged(ctx, call, out, bound, next)
}

// listDeliveries answers a page of the account's deliveries, those of the latest changes first.
func listDeliveries(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	owner, err := s.watcher()
	if err != nil {
		return nil, err
	}
	q := watch.Outgoing{Account: owner, Endpoint: in.Get("endpoint"), Limit: deliveriesPage + 1}
	bound := boundTo(row, owner, in)
	given, err := s.place(ctx, bound, in)
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
	if err == nil && len(found) == 0 && q.Endpoint != "" { // a mistyped name must not look like a quiet endpoint
		_, err = s.watching.store.Endpoint(ctx, owner, q.Endpoint)
	}
	if err != nil {
		return nil, stored(ctx, err)
	}
	next := ""
	if len(found) > deliveriesPage {
		found = found[:deliveriesPage]
		last := &found[deliveriesPage-1]
		next = strconv.FormatInt(last.Seq, 10) + " " + last.Endpoint
	}
	out := make([]schema.Delivery, len(found))
	for i := range found {
		out[i] = shownDelivery(&found[i])
	}
	return s.paged(ctx, call, out, bound, next)
}

// isOfWatches reports whether an error of the store of monitors says something of what was asked for.
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
