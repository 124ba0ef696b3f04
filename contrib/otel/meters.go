package otel

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Our own attributes of spans. In metrics they have short names, which become labels.
const (
	operationKey = attribute.Key("socialdata.operation")
	platformKey  = attribute.Key("socialdata.platform")
	codeKey      = attribute.Key("socialdata.code")
	other        = "other"
	mostFields   = 500
)

// seconds are the bounds of a request's duration.
// https://opentelemetry.io/docs/specs/semconv/http/http-metrics/
var seconds = metric.WithExplicitBucketBoundaries(
	0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 15)

type meters struct {
	meter      metric.Meter
	operations map[string]bool // whether the answers of an operation are cached, by its name
	platforms  []platform.ID   // in addition to those of the specification
	fields     fields

	requests, upstream                      histogram
	calls, cache, charged, drifted, invents counter
	breakers                                gauge
}

// An instrument with its labels.
type (
	counter struct {
		metric.Int64Counter
		labels *labels
	}
	histogram struct {
		metric.Float64Histogram
		labels *labels
	}
	gauge struct {
		metric.Int64Gauge
		labels *labels
	}
)

func (c counter) add(n int64, w words) {
	c.Add(context.Background(), n, c.labels.get(w).add...)
}

func (h histogram) record(ctx context.Context, d time.Duration, w words) {
	h.Record(ctx, d.Seconds(), h.labels.get(w).record...)
}

func (g gauge) record(n int64, w words) {
	g.Record(context.Background(), n, g.labels.get(w).record...)
}

func newMeters(m metric.Meter, own []platform.ID) (*meters, error) {
	out := &meters{meter: m, platforms: own, operations: map[string]bool{}}
	out.requests.labels = newLabels(requestLabels)
	out.upstream.labels = named("platform", "provider", "outcome")
	out.calls.labels = named("operation", "platform", "code")
	out.cache.labels = named("class", "result")
	out.charged.labels = named("operation", "platform")
	out.drifted.labels = named("operation", "platform", "field")
	out.invents.labels = named("operation")
	out.breakers.labels = named("platform", "provider")
	for _, o := range socialdata.Operations() {
		out.operations[o.Name] = o.TTL > 0
	}
	var errs [8]error
	out.requests.Float64Histogram, errs[0] = m.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		seconds,
		metric.WithDescription("Duration of HTTP server requests."))
	out.upstream.Float64Histogram, errs[1] = m.Float64Histogram("socialdata.upstream.request.duration",
		metric.WithUnit("s"), seconds,
		metric.WithDescription("Duration of requests to upstreams, repeated ones included."))
	out.calls.Int64Counter, errs[2] = m.Int64Counter("socialdata.calls", metric.WithUnit("{call}"),
		metric.WithDescription("Calls of operations, by result."))
	out.cache.Int64Counter, errs[3] = m.Int64Counter("socialdata.cache.requests", metric.WithUnit("{call}"),
		metric.WithDescription("Calls that were answered from the cache, and those that were not."))
	out.charged.Int64Counter, errs[4] = m.Int64Counter("socialdata.credits.charged", metric.WithUnit("{credit}"),
		metric.WithDescription("Credits that were charged."))
	out.drifted.Int64Counter, errs[5] = m.Int64Counter("socialdata.schema.drift", metric.WithUnit("{field}"),
		metric.WithDescription("Fields of upstreams' answers that did not follow the schema."))
	out.invents.Int64Counter, errs[6] = m.Int64Counter("socialdata.enricher.invented.words", metric.WithUnit("{word}"),
		metric.WithDescription("Words that an enricher has made up."))
	out.breakers.Int64Gauge, errs[7] = m.Int64Gauge("socialdata.breaker.state",
		metric.WithDescription("State of a provider's circuit breaker: 0 closed, 1 half open, 2 open."))
	return out, errors.Join(errs[:]...)
}

// Observer returns an observer that records metrics, for [socialdata.WithObserver].
func (t *Telemetry) Observer() observe.Observer {
	if !t.measures {
		return observe.Observer{}
	}
	m := t.meters
	return observe.Observer{
		Call: func(c observe.Call) {
			m.calls.add(1, words{a: m.operation(c.Operation), b: m.platform(c.Platform), c: word(string(c.Code), "ok")})
			if c.Cache != "" && m.operations[c.Operation] {
				m.cache.add(1, words{a: c.Operation, b: strings.ToLower(string(c.Cache))})
			}
		},
		Charge: func(c observe.Charge) {
			m.charged.add(c.Credits, words{a: m.operation(c.Operation), b: m.platform(c.Platform)})
		},
		Upstream: func(u observe.Upstream) {
			m.upstream.record(context.Background(), u.Duration,
				words{a: m.platform(string(u.Platform)), b: u.Provider, c: outcome(u.UpstreamCall)})
		},
		Breaker: func(b observe.Breaker) {
			m.breakers.record(breakerStates[b.State], words{a: m.platform(string(b.Platform)), b: b.Provider})
		},
		Drift: func(d observe.Drift) {
			m.drifted.add(1, words{a: m.operation(d.Operation), b: m.platform(string(d.Platform)), c: m.fields.name(d.Field)})
		},
		Invented: func(i observe.Invented) {
			m.invents.add(int64(i.Words), words{a: m.operation(i.Operation)})
		},
	}
}

// Health records the state of the dependencies whenever metrics are collected. Pass the method Health of a
// [socialdata.Client].
func (t *Telemetry) Health(health func(context.Context) (schema.Health, error)) error {
	gauge, err := t.meters.meter.Int64ObservableGauge("socialdata.dependency.state",
		metric.WithDescription("State of a dependency of the service: 0 ok, 1 degraded, 2 down, -1 unknown."))
	if err != nil {
		return err
	}
	_, err = t.meters.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		now, err := health(ctx)
		if err != nil {
			return err
		}
		for name, state := range now.Dependencies {
			o.ObserveInt64(gauge, healthStates[state], metric.WithAttributes(attribute.String("dependency", name)))
		}
		return nil
	}, gauge)
	return err
}

// Quotas records the limits of the upstreams whenever metrics are collected. Pass [socialdata.Operator.Quotas]. Limits
// that are not known are left out.
func (t *Telemetry) Quotas(quotas func() []observe.Quota) error {
	left, err := t.meters.meter.Int64ObservableGauge("socialdata.upstream.quota.left",
		metric.WithDescription("What is left of an upstream's limit, in its units."))
	if err != nil {
		return err
	}
	resets, err := t.meters.meter.Float64ObservableGauge("socialdata.upstream.quota.resets", metric.WithUnit("s"),
		metric.WithDescription("Seconds until an upstream's limit resets, or a part of it is available again."))
	if err != nil {
		return err
	}
	_, err = t.meters.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, q := range quotas() {
			if q.Limit == 0 {
				continue
			}
			of := metric.WithAttributes(attribute.String("provider", q.Provider), attribute.String("limit", q.Name))
			o.ObserveInt64(left, q.Left, of)
			if wait := time.Until(q.Resets).Seconds(); !q.Resets.IsZero() {
				o.ObserveFloat64(resets, max(0, wait), of)
			}
		}
		return nil
	}, left, resets)
	return err
}

var (
	breakerStates = map[observe.State]int64{observe.Closed: 0, observe.HalfOpen: 1, observe.Open: 2}
	healthStates  = map[schema.HealthState]int64{schema.Healthy: 0, schema.Degraded: 1, schema.Down: 2, schema.Unknown: -1}
)

// outcome returns the result of a request to an upstream in one word.
func outcome(c callctx.UpstreamCall) string {
	switch {
	case errors.Is(c.Err, providers.ErrTimeout), errors.Is(c.Err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(c.Err, context.Canceled):
		return "canceled"
	case c.Err != nil && c.Status == 0:
		return "unreachable"
	case c.Err != nil:
		return "unreadable"
	case c.Revalidated:
		return "not_modified"
	case c.Status < http.StatusMultipleChoices:
		return "ok"
	case c.Status == http.StatusNotFound, c.Status == http.StatusGone:
		return "not_found"
	case c.Status == http.StatusTooManyRequests:
		return "rate_limited"
	case c.Status == http.StatusUnauthorized, c.Status == http.StatusForbidden:
		return "refused"
	case c.Status < http.StatusInternalServerError:
		return "client_error"
	}
	return "server_error"
}

func (m *meters) operation(name string) string {
	if _, known := m.operations[name]; !known {
		return other
	}
	return name
}

// platform returns the platform of a call: "other" for an unknown text of a caller.
func (m *meters) platform(name string) string {
	if id := platform.ID(name); id != "" && !id.Valid() && !slices.Contains(m.platforms, id) {
		return other
	}
	return word(name, "none")
}

func word(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// fields are the names of fields that drift. Their number is limited. The zero value is ready to use.
type fields struct {
	mu    sync.Mutex
	known map[string]bool
}

func (f *fields) name(field string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]bool{"": true}
	}
	if !f.known[field] {
		if len(f.known) > mostFields {
			return other
		}
		f.known[field] = true
	}
	return word(field, "whole")
}
