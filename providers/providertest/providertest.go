// Package providertest is the suite that every provider passes.
//
// A provider's test passes a [Suite] to [Run]: how to build the provider with an *http.Client, and which calls to make.
// The client answers from testdata/MANIFEST.json, a list of exchanges in the upstream's format:
//
//	{"file": "user.json", "request": {"method": "GET", "url": "https://api.github.com/users/ann"}, "status": 200, "headers": {}}
//
// The result of each call is compared with testdata/<name>.golden.json; go test -update rewrites these files. In
// addition every call is made against hostile upstreams (HTML, half a JSON document, a wrong shape or an endless body
// must not be accepted as an answer or cause a panic), with every status of the common error table, and with a context
// that has ended. A provider that is [providers.Provider.Prompt] must return from every call within a second of the end
// of its context.
package providertest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fetchedAt is the fetch time of every object in the tests.
var fetchedAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Suite describes a provider to [Run].
type Suite struct {
	// New returns the chain of the package; all its requests must use client.
	New func(client *http.Client) providers.Chain
	// Upstream names the provider of the chain to test; "" means the first.
	Upstream string
	// Others are providers of the same platform in other packages: the first provider of the platform normalizes
	// addresses for all of them, so the addresses in the goldens must be accepted by it.
	Others providers.Chain
	// NoAddress lists the kinds of things whose addresses do not contain their identifier.
	NoAddress []providers.Subject
	// Dir contains MANIFEST.json, its answers and the goldens; "" means testdata.
	Dir string
	// Calls are made against MANIFEST.json.
	Calls []Call
	// Fails are calls that must return an error.
	Fails []Fail
	// Inputs are identifiers as people paste them, with their normalized form.
	Inputs []Input
	// Lone lists, for operations that read many things in one call, the keys of Calls and Fails that are read alone
	// nevertheless.
	Lone map[providers.Op][]string
	// Platforms are the platforms that the provider may name, for a provider of a platform that is not built in; nil
	// means the built-in ones.
	Platforms *platform.Table
	// Drift configures the drift suite; nil omits it.
	Drift *Drift
	// BareAbsence states that this upstream answers with an empty 404 for what does not exist.
	BareAbsence bool
	// Witness states that this upstream's empty lists need a witness. Every call of a list is then also made without
	// the rows of its answers, and a page that had items must fail.
	Witness bool
	// Witnessed lists the rows that may be missing nevertheless, because the rest of the answer states that there are
	// none. An entry is a file, a space, and the rows: the path of a list in JSON, or ".class" or "<tag>" for the
	// elements of a page.
	Witnessed []string
}

// validate checks an object of the provider.
func (s Suite) validate(o interface{ Check() error }) error {
	return schema.NewValidator(cmp.Or(s.Platforms, platform.Specified())).Validate(o)
}

// open returns the provider to test.
func (s Suite) open(t *testing.T, client *http.Client) providers.Provider {
	t.Helper()
	for _, p := range s.New(client) {
		if s.Upstream == "" || p.Name == s.Upstream {
			return p
		}
	}
	t.Fatalf("no provider %q in the chain", s.Upstream)
	return providers.Provider{}
}

// Off checks that p, which was switched off by its setting own, serves no operation and reports why.
func Off(t *testing.T, p providers.Provider) {
	t.Helper()
	for _, op := range providers.Ops() {
		if p.Serves(op) {
			t.Errorf("%s: %s is served although own is off", p.Name, op)
		}
	}
	for op, missing := range p.Missing {
		if !slices.Contains(missing, "own") {
			t.Errorf("%s: %s misses %v, want own", p.Name, op, missing)
		}
	}
	if len(p.Missing) == 0 {
		t.Errorf("%s names no setting that would switch it on", p.Name)
	}
}

// Call is a read whose result is compared with a golden file. Create it with [Profile], [Posts] and the like, or with
// [One] or [List] for any other read; [Call.From] starts a list at a cursor.
type Call struct {
	name   string
	cursor string // of the first page
	list   bool
	asked  string // the id or handle of the one object; "" if it is unknown
	op     providers.Op
	key    string // the key with which op reads one thing; "" for any other read
	query  any    // the parameters of op besides the key; nil for none
	pages  func(ctx context.Context, p providers.Provider, cursor string) ([]page, error)
}

// From returns c starting at a cursor, such as one that the upstream has forgotten.
func (c Call) From(cursor string) Call {
	c.cursor = cursor
	return c
}

// about returns c with the check that its answer names the requested object in every place where it names one.
func (c Call) about(asked string) Call {
	c.asked = asked
	return c
}

// with returns c as a read of one thing by its key.
func (c Call) with(op providers.Op, key string, query any) Call {
	c.op, c.key, c.query = op, key, query
	return c
}

func (c Call) read(ctx context.Context, p providers.Provider) ([]page, error) {
	return c.pages(ctx, p, c.cursor)
}

// Fail is a read that must return Want, one of the sentinel errors of the providers package.
type Fail struct {
	Call
	Want error
}

// Input is an identifier as people paste it. An empty Want means that it must be refused.
type Input struct {
	Subject  providers.Subject
	In, Want string
}

type page struct {
	Items []any           `json:"items"`
	Next  string          `json:"next"`
	Raw   json.RawMessage `json:"raw,omitempty"`
}

// One is a call that returns one object. name is that of its golden file.
func One[T any](name string, read func(ctx context.Context, p providers.Provider) (T, error)) Call {
	return Call{name: name, pages: func(ctx context.Context, p providers.Provider, _ string) ([]page, error) {
		v, err := read(ctx, p)
		if err != nil {
			return nil, err
		}
		return []page{{Items: []any{stamp(p, &v)}}}, nil
	}}
}

// List is a call that returns a list; all pages are read, up to 10.
func List[T any](name string, read func(ctx context.Context, p providers.Provider, cursor string) (providers.Page[T], error)) Call {
	return Call{name: name, list: true, pages: func(ctx context.Context, p providers.Provider, cursor string) ([]page, error) {
		var pages []page
		for range 10 {
			got, err := read(ctx, p, cursor)
			if err != nil {
				return pages, err
			}
			out := page{Items: []any{}, Next: got.Next, Raw: got.Raw}
			for i := range got.Items {
				out.Items = append(out.Items, stamp(p, &got.Items[i]))
			}
			pages = append(pages, out)
			if cursor = got.Next; cursor == "" {
				return pages, nil
			}
		}
		return pages, errors.New("the list has no end within 10 pages")
	}}
}

func stamp(p providers.Provider, v any) any {
	if o, ok := v.(schema.Object); ok {
		p.Stamp(o, fetchedAt)
		return o
	}
	if r, ok := v.(*schema.SearchResult); ok {
		p.Stamp(*r, fetchedAt)
		return *r
	}
	if s, ok := v.(*providers.Storefront); ok {
		s.Platform = p.Platform
	}
	return v
}

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	t.Helper()
	s.Dir = cmp.Or(s.Dir, "testdata")
	manifest := load(t, s.Dir)
	t.Run("answers", func(t *testing.T) {
		for _, c := range s.Calls {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				up := &validators{next: logging{t, manifest}}
				p := s.open(t, &http.Client{Transport: up})
				golden(t, s, s.Dir, c, p)
				lone := up.lone()
				golden(t, s, s.Dir, c, p) // with answers that the upstream does not send again
				if again := up.reset(); lone && again.asked > 0 && again.unchanged != again.asked {
					t.Errorf("read again, %d of %d answers were 304; want all", again.unchanged, again.asked)
				}
			})
		}
	})
	t.Run("failures", func(t *testing.T) {
		for _, f := range s.Fails {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				_, err := f.read(t.Context(), s.open(t, &http.Client{Transport: manifest}))
				if !errors.Is(err, f.Want) {
					t.Errorf("got error %v, want %v", err, f.Want)
				}
			})
		}
	})
	t.Run("batches", func(t *testing.T) { batches(t, s, manifest) })
	t.Run("addresses", func(t *testing.T) { addresses(t, s, manifest) })
	t.Run("names", func(t *testing.T) { named(t, s, manifest) })
	t.Run("inputs", func(t *testing.T) { inputs(t, s) })
	t.Run("hostile upstream", func(t *testing.T) { hostile(t, s) })
	t.Run("a caller who has gone", func(t *testing.T) { gone(t, s) })
	t.Run("an upstream that never answers", func(t *testing.T) { prompt(t, s) })
	if s.Witness {
		t.Run("without rows", func(t *testing.T) { rowless(t, s, manifest) })
	}
	if s.Drift != nil {
		t.Run("drift", func(t *testing.T) { drift(t, s, manifest) })
		t.Run("files", func(t *testing.T) { files(t, s) })
	}
	t.Run("every empty cell of what is served elsewhere has a reason or is plainly absent", func(t *testing.T) { table(t, s) })
}

func golden(t *testing.T, s Suite, dir string, c Call, p providers.Provider) {
	t.Helper()
	pages, err := c.read(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, pg := range pages {
		for i, item := range pg.Items {
			v, ok := item.(interface{ Check() error })
			if !ok {
				t.Fatalf("item %d is a %T without Check", i, item)
			}
			if err := s.validate(v); err != nil {
				t.Errorf("item %d breaks the schema: %v", i, err)
			}
			if o, ok := item.(schema.Object); ok && len(o.Shared().Raw) == 0 && len(pg.Raw) == 0 {
				t.Errorf("item %d has no raw, and neither has its page", i)
			}
		}
	}
	b, err := schema.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	var indented any
	if err := json.Unmarshal(b, &indented); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(indented); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, c.name+".golden.json")
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func inputs(t *testing.T, s Suite) {
	t.Helper()
	p := s.open(t, &http.Client{Transport: answer{status: 500}})
	for _, in := range s.Inputs {
		got, err := p.Normalize(in.Subject, in.In)
		agrees(t, p, in)
		switch {
		case in.Want == "" && !errors.Is(err, providers.ErrInvalid):
			t.Errorf("%s %q became %q (%v), want it refused", in.Subject, in.In, got, err)
		case in.Want != "" && (err != nil || got != in.Want):
			t.Errorf("%s %q became %q (%v), want %q", in.Subject, in.In, got, err, in.Want)
		case in.Want != "":
			if again, err := p.Normalize(in.Subject, got); err != nil || again != got {
				t.Errorf("%s %q is not stable: it became %q (%v)", in.Subject, got, again, err)
			}
		}
	}
}

// gone makes every call with a context that has ended: it must return an error at once.
func gone(t *testing.T, s Suite) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range s.Calls {
		if pages, err := c.read(ctx, s.open(t, &http.Client{Transport: answer{status: 200, body: "{}"}})); err == nil {
			t.Errorf("%s answered %v to a caller who has gone", c.name, pages)
		}
	}
}

// prompt makes every call of a provider that promises it with an upstream that never answers, and with one that breaks
// off in the middle of its answer: each must return within a second of the end of its context.
func prompt(t *testing.T, s Suite) {
	t.Helper()
	for _, up := range []hanging{{}, {after: "{"}} {
		for _, c := range s.Calls {
			synctest.Test(t, func(t *testing.T) {
				p := s.open(t, &http.Client{Transport: up})
				if !p.Prompt {
					return
				}
				promptly(t, c.name, func(ctx context.Context) bool {
					_, err := c.read(ctx, p)
					return err == nil
				})
			})
		}
	}
}

// promptly checks that a read, which reports whether it succeeded, fails and returns in time.
func promptly(t *testing.T, name string, read func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	began := time.Now()
	if read(ctx) {
		t.Errorf("%s was answered although its upstream never does", name)
	}
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("%s returned %v after the end of its context; Prompt promises a second", name, took-5*time.Second)
	}
	time.Sleep(time.Minute) // in the bubble: a token is fetched for several reads, and may outlast this one
}

// hanging is an upstream that sends the beginning of an answer, or nothing, and then waits for the end of the request.
type hanging struct{ after string }

// RoundTrip implements [http.RoundTripper].
func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	rest := waiting{r.Context()}
	if h.after == "" {
		_, err := rest.Read(nil)
		return nil, err
	}
	return &http.Response{
		Status: "200", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(io.MultiReader(strings.NewReader(h.after), rest)),
	}, nil
}

// waiting is a body that never comes.
type waiting struct{ ctx context.Context } //nolint:containedctx // it is the request's

// Read implements [io.Reader].
func (w waiting) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

func table(t *testing.T, s Suite) {
	t.Helper()
	p := s.open(t, &http.Client{Transport: answer{status: 500}})
	if p.Name == "" || !cmp.Or(s.Platforms, platform.Specified()).Has(p.Platform) || p.Source == "" {
		t.Errorf("provider %q of %q with source %q is not named whole", p.Name, p.Platform, p.Source)
	}
	for op := range p.Filters {
		if !p.Serves(op) {
			t.Errorf("filters for %s, which is not served", op)
		}
	}
	for op, names := range p.Required {
		for _, name := range names {
			if _, known := p.Filters[op][name]; !known {
				t.Errorf("%s requires %s, which is not among its filters", op, name)
			}
		}
	}
	if p.Searches != nil && !p.Serves(providers.OpSearch) {
		t.Error("the kinds of a search are declared by a provider that cannot search")
	}
	for op := range p.Missing {
		if p.Serves(op) {
			t.Errorf("%s is served and yet misses settings", op)
		}
	}
	if (p.Forward == nil && p.Missing[providers.OpRaw] == nil) != (len(p.Routes) == 0) {
		t.Error("Forward and Routes must come together")
	}
}

// answer is an upstream that always gives the same answer.
type answer struct {
	status int
	body   string
	err    error
}

// RoundTrip implements [http.RoundTripper].
func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if a.err != nil {
		return nil, a.err
	}
	var body io.Reader = strings.NewReader(a.body)
	if a.body == endless {
		body = spaces{}
	}
	return &http.Response{
		Status: fmt.Sprint(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {"3600"}}, Body: io.NopCloser(body), Request: r,
	}, nil
}

const endless = "endless"

// spaces is an endless reader.
type spaces struct{}

// Read implements [io.Reader].
func (spaces) Read(b []byte) (int, error) { return copy(b, blank), nil }

// blank is large, because reading one byte at a time is slow under the race detector.
var blank = strings.Repeat(" ", 1<<16)

// hostility is an upstream that sends garbage, with the errors that may result.
type hostility struct {
	name string
	up   answer
	want []error // any of these is allowed
}

// wants returns the errors that may result for a provider.
func (h hostility) wants(s Suite) []error {
	if s.BareAbsence && h.up.status == http.StatusNotFound && h.up.body == "" {
		return unavailable
	}
	return h.want
}

// proxyPage is how a proxy refuses a request; it says nothing about the requested thing.
const proxyPage = "<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1>Access blocked: invalid id</body></html>"

// doubtful are the errors that may result from a refusal that is not in the upstream's own form.
var doubtful = []error{providers.ErrUnavailable, providers.ErrTimeout, providers.ErrInvalid, providers.ErrCursor}

// hostiles are the answers of broken upstreams. Read only.
var hostiles = []hostility{
	{"HTML", answer{status: 200, body: "<!doctype html><html><body>Just a moment...</body></html>"}, unavailable},
	{"nothing", answer{status: 200}, unavailable},
	{"half an object", answer{status: 200, body: `{"id": 1, "name": "x`}, unavailable},
	{"a string", answer{status: 200, body: `"surprise"`}, unavailable},
	{"a number", answer{status: 200, body: `42`}, unavailable},
	{"nested rubbish", answer{status: 200, body: `{"data":{"data":[[[{"items":7}]]]},"items":"x","results":{},"id":[]}`}, unavailable},
	{"an endless body", answer{status: 200, body: endless}, unavailable},
	{"an internal error", answer{status: 500, body: "oops"}, unavailable},
	{"a bad gateway", answer{status: 502, body: "<html>"}, unavailable},
	{"a rate limit", answer{status: 429, body: "{}"}, unavailable},
	{"a refused credential", answer{status: 401, body: "{}"}, unavailable},
	{"an empty 404", answer{status: 404}, doubtful},
	{"a proxy's 404", answer{status: 404, body: proxyPage}, doubtful},
	{"a gateway's 404", answer{status: 404, body: `{"message":"no Route matched with those values"}`}, doubtful},
	{"a proxy's 410", answer{status: 410, body: proxyPage}, doubtful},
	{"a proxy's 400", answer{status: 400, body: proxyPage}, doubtful},
	{"a proxy's 403", answer{status: 403, body: proxyPage}, doubtful},
	{"a proxy's 451", answer{status: 451, body: proxyPage}, doubtful},
	{"a broken connection", answer{err: io.ErrUnexpectedEOF}, unavailable},
	{"a time-out", answer{err: context.DeadlineExceeded}, []error{providers.ErrTimeout}},
}

func hostile(t *testing.T, s Suite) {
	t.Helper()
	for _, tt := range hostiles {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// In a synctest bubble the pauses between attempts take no time.
			synctest.Test(t, func(t *testing.T) { survive(t, s, tt.up, tt.wants(s)) })
		})
	}
}

func survive(t *testing.T, s Suite, up answer, want []error) {
	t.Helper()
	for _, c := range s.Calls {
		pages, err := c.read(t.Context(), s.open(t, &http.Client{Transport: up}))
		if err == nil {
			// An empty list is a valid result if the format allows for one; an object is not.
			for _, pg := range pages {
				for _, item := range pg.Items {
					if v, ok := item.(interface{ Check() error }); ok && s.validate(v) == nil {
						t.Errorf("%s made %+v out of it", c.name, item)
					}
				}
			}
			if up.status != 200 || up.body == endless {
				t.Errorf("%s succeeded", c.name)
			}
			continue
		}
		if !isAny(err, want) {
			t.Errorf("%s: got error %v, want one of %v", c.name, err, want)
		}
	}
}

// unavailable are the errors that may result from garbage. Not found is valid for a body that can be read as "no such
// thing".
var unavailable = []error{providers.ErrUnavailable, providers.ErrNotFound}

func isAny(err error, wants []error) bool {
	for _, w := range wants {
		if errors.Is(err, w) {
			return true
		}
	}
	return false
}
