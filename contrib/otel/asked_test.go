package otel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/contrib/otel"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// planted is a word in every parameter of the tests. It must not be in anything that an operator reads.
const planted = "quillwort"

// failures are the ways in which a provider can fail, each with the planted word in every text.
func failures() map[string]func(context.Context) error {
	cause := func() error { return errors.New("nothing for " + planted) }
	ends := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	return map[string]func(context.Context) error{
		"not found":          ends(providers.NotFound("there is no %s", planted)),
		"not found, wrapped": ends(fmt.Errorf("profile %q: %w", planted, providers.ErrNotFound)),
		"not seen":           ends(providers.NotHere("%s is not seen", planted)),
		"unavailable":        ends(providers.Unavailable(cause(), "%s failed", planted)),
		"a status": ends(&providers.RequestError{
			Status: http.StatusBadGateway, Err: providers.Unavailable(cause(), "%s failed", planted),
		}),
		"walled":           ends(providers.Walled("a login for %s", planted)),
		"limited":          ends(providers.Limited("too much of "+planted, time.Second)),
		"unsupported":      ends(providers.Unsupported("not for %s", planted)),
		"invalid":          ends(providers.Invalid("%s is not one", planted)),
		"a dead cursor":    ends(fmt.Errorf("posts of %q: %w", planted, providers.ErrCursor)),
		"timeout":          ends(&providers.Error{Kind: providers.ErrTimeout, Detail: planted, Err: cause()}),
		"unreadable":       ends(providers.Unreadable(json.Unmarshal([]byte(`{"`+planted+`":"`+planted+`"}`), new(map[string]int)))),
		"no connection":    ends(providers.Unavailable(&url.Error{Op: "Get", URL: "https://example.com/" + planted, Err: cause()}, "")),
		"an unknown error": ends(cause()),
		"several":          ends(errors.Join(cause(), fmt.Errorf("%s: %w", planted, providers.ErrUnavailable))),
		"panic":            func(context.Context) error { panic("no place for " + planted) },
		"panic of an error": func(context.Context) error {
			panic(cause())
		},
		"hang": func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("%s: %w", planted, ctx.Err())
		},
		"rows that break the schema": ends(nil),
	}
}

// failing returns a provider that serves every operation, and whose calls end with the result of fail. If fail returns
// nil, the answer has the planted word in each of its texts and does not follow the schema. It calls reached for each
// call.
func failing(id platform.ID, fail func(context.Context) error, reached func(providers.Op)) providers.Provider {
	p := providers.Provider{
		Name: string(id), Platform: id, Source: schema.Official, Filters: map[providers.Op]providers.Filters{},
		Routes: providers.Routes(id, "notes/{id}"),
	}
	p.Forward = func(ctx context.Context, _ string, _ url.Values) (json.RawMessage, error) {
		reached(providers.OpRaw)
		return json.RawMessage(`"` + planted + `"`), fail(ctx)
	}
	v := reflect.ValueOf(&p).Elem()
	for field, f := range v.Fields() {
		op, ok := field.Tag.Lookup("op")
		if !ok {
			continue
		}
		p.Filters[providers.Op(op)] = providers.Filters{}
		f.Set(reflect.MakeFunc(f.Type(), func(in []reflect.Value) []reflect.Value {
			reached(providers.Op(op))
			ctx, _ := reflect.TypeAssert[context.Context](in[0])
			value, failure := reflect.New(f.Type().Out(0)).Elem(), reflect.New(f.Type().Out(1)).Elem()
			plant(value, 0)
			if err := fail(ctx); err != nil {
				failure.Set(reflect.ValueOf(err))
			}
			callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{"items[].title"}, LeftOut: true})
			return []reflect.Value{value, failure}
		}))
	}
	for _, o := range socialdata.Operations() {
		for _, param := range o.Params {
			if param.Filter && p.Filters[providers.Op(o.Name)] != nil {
				p.Filters[providers.Op(o.Name)][param.Name] = nil
			}
		}
	}
	return p
}

// plant writes the planted word into every text of v, and one row into every list.
func plant(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(planted)
	case reflect.Pointer:
		if depth < 5 {
			v.Set(reflect.New(v.Type().Elem()))
			plant(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if depth < 5 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			plant(v.Index(0), depth+1)
		}
	case reflect.Struct:
		for field, f := range v.Fields() {
			if field.IsExported() {
				plant(f, depth+1)
			}
		}
	default:
	}
}

// targets returns URLs of an operation with the planted word: in all text parameters at once, for each parameter of
// which one is required; and in each parameter separately.
func targets(o *operation.Operation, id platform.ID) []string {
	path := strings.NewReplacer("{platform}", string(id), "{provider}", string(id), "{path...}", "notes/"+
		planted).Replace(o.Path)
	all := url.Values{}
	var one, out []string
	for _, p := range o.Params {
		switch {
		case p.OneOf:
			one = append(one, p.Name)
		case p.Name == "platforms":
			all.Set(p.Name, string(id))
		case p.Enum == nil && (p.Form == operation.FormText || p.Form == operation.FormProse):
			all.Set(p.Name, planted)
		case p.Required && p.Enum != nil:
			all.Set(p.Name, p.Enum[0])
		}
	}
	if one == nil {
		one = []string{""}
	}
	for _, name := range one {
		q := url.Values{}
		maps.Copy(q, all)
		if name != "" {
			q.Set(name, planted)
		}
		out = append(out, path+"?"+q.Encode())
		for _, p := range o.Params {
			switch {
			case p.Form == operation.FormBool:
				q.Set(p.Name, "true")
			case p.Name == "enrich":
				q.Set(p.Name, p.Enum[0])
			}
		}
		out = append(out, path+"?"+q.Encode())
		for _, p := range o.Params {
			bad := url.Values{}
			maps.Copy(bad, q)
			bad.Set(p.Name, planted)
			out = append(out, path+"?"+bad.Encode())
		}
	}
	return append(out, path+"?"+planted+"=1", path)
}

// notes collects log lines and what the observer received.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

func (n *notes) tell(event any) { _, _ = fmt.Fprintf(n, "observed: %+v\n", event) }

func TestParametersAreInNoLogSpanOrMetric(t *testing.T) {
	t.Parallel()
	for name, fail := range failures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { listen(t, fail) })
		})
	}
}

// listen makes every call while the provider fails, and searches everything that an operator can read for the planted
// word.
func listen(t *testing.T, fail func(context.Context) error) {
	t.Helper()
	var said notes
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	meter, page, err := otel.Prometheus()
	if err != nil {
		t.Fatal(err)
	}
	spans := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	telemetry, err := otel.New(otel.Config{Meter: meter, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	model := enrich.Func(func(context.Context, string) (schema.Enrichment, error) {
		return schema.Enrichment{}, errors.New("nothing to say of " + planted)
	})
	var mu sync.Mutex
	reached := map[providers.Op]bool{}
	reach := func(op providers.Op) {
		mu.Lock()
		defer mu.Unlock()
		reached[op] = true
	}
	platforms := []platform.ID{platform.Mock, platform.GitHub, platform.Bluesky} // the sandbox has no circuit breaker
	var failed []providers.Provider
	for _, id := range platforms {
		failed = append(failed, failing(id, fail, reach))
	}
	failed[2].Profile = mock.NewFor(platform.Bluesky, mock.Config{}).Profile // linked profiles are derived from it
	e := enginetest.New(t, enginetest.Config{
		Credits: 1_000_000, Providers: failed,
		Options: []socialdata.Option{
			socialdata.WithLogger(log), socialdata.WithEnricher(model),
			socialdata.WithObserver(observe.Join(telemetry.Observer(), observe.Observer{
				Call:     func(c observe.Call) { said.tell(c) },
				Charge:   func(c observe.Charge) { said.tell(c) },
				Upstream: func(u observe.Upstream) { said.tell(u) },
				Breaker:  func(b observe.Breaker) { said.tell(b) },
				Drift:    func(d observe.Drift) { said.tell(d) },
				Invented: func(i observe.Invented) { said.tell(i) },
			})),
		},
	})
	srv, err := server.New(e.Open, append(telemetry.Server(), server.WithLogger(log))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range socialdata.Operations() {
		for _, id := range platforms {
			for _, target := range targets(o, id) {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
				r.Header.Set("Authorization", "Bearer "+e.Secret)
				w := httptest.NewRecorder()
				srv.Handler().ServeHTTP(w, r)
				time.Sleep(2 * time.Minute) // so that circuit breakers close
				e.Clock.Advance(2 * time.Hour)
			}
		}
	}
	said.tell(e.Open.Operator().Drift())
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	_, _ = said.Write(w.Body.Bytes())
	for _, span := range spans.Ended() {
		_, _ = fmt.Fprintf(&said, "span: %s %s %v %v\n", span.Name(), span.Status().Description, span.Attributes(),
			span.Events())
	}
	for _, op := range append(providers.Ops(), providers.OpRaw) {
		if !reached[op] {
			t.Errorf("%s was never asked for", op)
		}
	}
	if len(spans.Ended()) < 100 || w.Code != http.StatusOK {
		t.Fatalf("%d spans, %d for the metrics: the test shows nothing", len(spans.Ended()), w.Code)
	}
	told := 0
	for line := range strings.Lines(said.text.String()) {
		if strings.Contains(strings.ToLower(line), planted) {
			if told++; told <= 5 {
				t.Errorf("a parameter is in: %.400s", line)
			}
		}
	}
}
