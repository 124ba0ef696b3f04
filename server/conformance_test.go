package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
)

// pair is a set of engines with the same configuration: one is called as a Go library, one over HTTP, and one over HTTP
// by the client of package remote. The same call must have the same result on all of them.
type pair struct {
	t      *testing.T
	o      *operation.Operation
	inside *enginetest.Engine
	web    *site
	far    *site
	doc    *description
	most   int64          // credits, from the estimate of the last call
	client *remote.Client // calls far
}

func newPair(t *testing.T, o *operation.Operation, cfg enginetest.Config) *pair {
	t.Helper()
	if cfg.Providers == nil { // an account that changes with the clock is the same on every side
		cfg.Providers = mock.New(mock.Config{Faults: true, Now: func() time.Time { return enginetest.Start }})
	}
	p := &pair{t: t, o: o, inside: enginetest.New(t, cfg), web: open(t, cfg), far: open(t, cfg)}
	p.doc = newDescription(t)
	var err error
	if p.client, err = remote.New(p.far.web.URL, remote.Config{Key: p.far.Secret, Retries: -1}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*enginetest.Engine{p.inside, p.web.Engine, p.far.Engine} {
		switch o.Tag {
		case "bulk":
			e.Bulk(t)
		case "monitors":
			e.Monitor(t)
		}
	}
	return p
}

// outcome is the result of a call on one side.
type outcome struct {
	Data    any
	Meta    schema.Meta
	Problem *problem.Error
}

// both makes a call on all sides, reports differences, and returns its outcome.
func (p *pair) both(name string, params url.Values) outcome {
	p.t.Helper()
	expected := p.estimate(name, params)
	got, want := p.neutral(p.overHTTP(name, params)), p.neutral(p.inProcess(params))
	p.compare(name, expected, got)
	for way, out := range map[string]outcome{"over HTTP": got, "by package remote": p.neutral(p.byRemote(params))} {
		if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(schema.Meta{}, "RequestID"),
			cmpopts.IgnoreFields(problem.Error{}, "RequestID", "Type"),
			cmpopts.IgnoreUnexported(problem.Error{}), cmpopts.EquateEmpty()); diff != "" {
			p.t.Errorf("%s: (-in process +%s):\n%.3000s", name, way, diff)
		}
	}
	for way, of := range map[string]*site{"over HTTP": p.web, "by package remote": p.far} {
		if diff := cmp.Diff(p.inside.Charges(p.t), of.Charges(p.t)); diff != "" {
			p.t.Errorf("%s: charges (-in process +%s):\n%s", name, way, diff)
		}
	}
	return got
}

// neutral removes from the problems inside a batch what is different in each call. If the only key of a batch was not
// found, it makes that problem the outcome of the call.
func (p *pair) neutral(out outcome) outcome {
	items, _ := out.Data.([]any)
	if p.o.Of == "" {
		return out
	}
	for _, item := range items {
		inside, ok := item.(map[string]any)["problem"].(map[string]any)
		if !ok {
			continue
		}
		delete(inside, "request_id")
		delete(inside, "type") // the address of the server's documentation, if there is one
		if len(items) == 1 {
			out.Problem = &problem.Error{Code: problem.Code(inside["code"].(string)), Detail: inside["detail"].(string)}
		}
	}
	return out
}

// objects returns the objects of an answer: of a batch, those in its items.
func (p *pair) objects(got outcome) []any {
	objects, ok := got.Data.([]any)
	if !ok {
		return []any{got.Data}
	}
	if p.o.Of == "" {
		return objects
	}
	var out []any
	for _, item := range objects {
		out = append(out, item.(map[string]any)["data"])
	}
	return out
}

// path returns the route of the operation with parameters.
func (p *pair) path(params url.Values) string {
	path := strings.NewReplacer("{platform}", "mock", "{provider}", "mock", "{path...}",
		"users/salma_haddad").Replace(p.o.Path)
	return path + "?" + params.Encode()
}

// expectation is an estimate, or the error instead of one.
type expectation struct {
	schema.Estimate
	Problem *problem.Error
}

// unpriced reports whether the operation has no estimate here. Estimates are in the log of requests too.
func (p *pair) unpriced() bool { return p.o.NoKey || p.o.Name == "estimate" || p.o.Name == "requests" }

// estimate asks on both sides for the price of a call.
func (p *pair) estimate(name string, params url.Values) (out expectation) {
	p.t.Helper()
	if p.unpriced() {
		return out
	}
	of := p.path(params)
	inside, err := p.inside.Client.Estimate(p.t.Context(), socialdata.EstimateRequest{Of: of})
	r := p.web.get(p.t, "/v1/estimate?"+url.Values{"of": {of}}.Encode())
	if err != nil {
		out.Problem = r.problem(p.t)
		failed, ok := errors.AsType[*problem.Error](err)
		if !ok || failed.Code != out.Problem.Code ||
			failed.DetailIn(func(p problem.Phrase) string { return p.HTTP }) != out.Problem.Detail {
			p.t.Errorf("%s: the estimate in process is %v, over HTTP %v", name, err, out.Problem)
		}
		return out
	}
	if err := json.Unmarshal(r.envelope(p.t).Data, &out.Estimate); err != nil {
		p.t.Fatal(err)
	}
	if diff := cmp.Diff(inside.Data, out.Estimate, cmpopts.EquateEmpty()); diff != "" {
		p.t.Errorf("%s: the estimate (-in process +over HTTP):\n%s", name, diff)
	}
	return out
}

// compare compares the outcome of a call with its estimate.
func (p *pair) compare(name string, want expectation, got outcome) {
	p.t.Helper()
	used := got.Meta.CreditsUsed
	switch {
	case p.unpriced():
	case want.Problem != nil:
		if got.Problem == nil || got.Problem.Code != want.Problem.Code || got.Problem.Detail != want.Problem.Detail {
			p.t.Errorf("%s is %v, and its estimate %v", name, got.Problem, want.Problem)
		}
	case got.Problem != nil:
		if got.Problem.Code == problem.InsufficientCredits == want.Affordable {
			p.t.Errorf("%s is %v, and its estimate says affordable: %t", name, got.Problem, want.Affordable)
		}
	case used < want.Credits.Least || used > want.Credits.Most || !want.Affordable:
		p.t.Errorf("%s cost %d, and its estimate was %+v, affordable: %t", name, used, want.Credits, want.Affordable)
	case p.o.Name != "job" && (got.Meta.Cache != want.Cache || got.Meta.DataAgeS != want.DataAgeS):
		p.t.Errorf("%s is %s of %d s, and its estimate %s of %d s", name, got.Meta.Cache, got.Meta.DataAgeS, want.Cache,
			want.DataAgeS)
	}
	p.most = want.Credits.Most
}

func (p *pair) overHTTP(name string, params url.Values) outcome {
	p.t.Helper()
	r := p.web.get(p.t, p.path(params))
	p.doc.check(p.t, p.o, r)
	if r.status >= 400 {
		return outcome{Problem: r.problem(p.t)}
	}
	if p.o.Bare {
		return outcome{Data: decode(p.t, r.body)}
	}
	e := r.envelope(p.t)
	for field, want := range map[string]string{
		"X-Cache": string(e.Meta.Cache), "X-Data-Age": strconv.FormatInt(e.Meta.DataAgeS, 10), "X-Request-Id": e.Meta.RequestID,
		"X-Credits-Used":      strconv.FormatInt(e.Meta.CreditsUsed, 10),
		"X-Credits-Remaining": strconv.FormatInt(e.Meta.CreditsRemaining, 10),
	} {
		if got := r.header.Get(field); got != want {
			p.t.Errorf("%s: %s is %q, meta says %q", name, field, got, want)
		}
	}
	if links := r.header.Values("Link"); strings.Contains(strings.Join(links, ", "),
		`rel="next"`) != (e.Meta.NextCursor != "") {
		p.t.Errorf("%s: Link is %q, next_cursor %q", name, links, e.Meta.NextCursor)
	}
	return outcome{Data: decode(p.t, e.Data), Meta: e.Meta}
}

func (p *pair) inProcess(params url.Values) outcome {
	p.t.Helper()
	client := p.inside.Client
	if p.o.NoKey {
		client = p.inside.Open
	}
	if p.o.Name == "health" {
		return outcome{Data: encode(p.t, enginetest.Health(p.t, client))}
	}
	return p.typed(client, params)
}

func (p *pair) byRemote(params url.Values) outcome {
	p.t.Helper()
	if p.o.Name != "health" {
		return p.typed(p.client, params)
	}
	return outcome{Data: encode(p.t, enginetest.Health(p.t, p.client))}
}

// typed calls the method of a client that has the operation's name.
func (p *pair) typed(client socialdata.Reader, params url.Values) outcome {
	p.t.Helper()
	ctx, method := p.t.Context(), enginetest.Method(p.t, client, p.o)
	req := reflect.New(method.Type().In(1)).Elem()
	if p.o.Name == "raw" {
		req.Set(reflect.ValueOf(socialdata.RawRequest{Provider: "mock", Path: "users/salma_haddad"}))
	}
	if p.o.Of != "" {
		others, keys := maps.Clone(params), p.o.Key().Name
		delete(others, keys)
		fill(p.t, req.Field(0), others)
		req.Field(1).Set(reflect.ValueOf(p.o.Key().Split(params.Get(keys))))
	} else {
		fill(p.t, req, params)
	}
	out := method.Call([]reflect.Value{reflect.ValueOf(ctx), req})
	if err, _ := reflect.TypeAssert[error](out[1]); err != nil {
		var failed *problem.Error
		if !errors.As(err, &failed) {
			p.t.Fatalf("%v is not a problem.Error", err)
		}
		if failed.RequestID == "" {
			p.t.Error("a problem has no request id")
		}
		return outcome{Problem: written(p.t, failed)}
	}
	e := out[0].Elem()
	return outcome{
		Data: encode(p.t, e.FieldByName("Data").Interface()), Meta: e.FieldByName("Meta").Interface().(schema.Meta),
	}
}

// fill sets the fields of a request from parameters.
func fill(t *testing.T, req reflect.Value, params url.Values) {
	t.Helper()
	known := 0
	for _, f := range reflect.VisibleFields(req.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("param"), ",")
		field, v := req.FieldByIndex(f.Index), params.Get(name)
		switch {
		case f.Tag.Get("path") == "platform":
			field.SetString("mock")
			continue
		case name == "" || v == "":
			continue
		}
		known++
		switch x := field.Addr().Interface().(type) {
		case *bool:
			*x = v == "true"
		case *time.Duration:
			n, _ := strconv.Atoi(v)
			*x = time.Duration(n) * time.Second
		case *int64:
			*x, _ = strconv.ParseInt(v, 10, 64)
		case *time.Time:
			*x, _ = time.Parse(time.RFC3339, v)
		case *[]platform.ID:
			for id := range strings.SplitSeq(v, ",") {
				*x = append(*x, platform.ID(id))
			}
		default:
			field.SetString(v)
		}
	}
	if known != len(params) {
		t.Fatalf("%v has no fields for all of %v", req.Type(), params)
	}
}

// written returns a problem as its reader gets it: with its waiting time in whole seconds.
func written(t *testing.T, p *problem.Error) *problem.Error {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var out problem.Error
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func encode(t *testing.T, v any) any {
	t.Helper()
	return decode(t, marshal(t, v))
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return mask(v)
}

// mask removes what is different for every key or front end: ids, times of use, tokens that remain.
func mask(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if key, ok := v["key"].(map[string]any); ok {
			delete(key, "id")
			delete(key, "prefix")
			delete(key, "last_used_at")
			delete(v["limits"].(map[string]any)["rate"].(map[string]any), "remaining")
		}
		if _, ok := v["former_until"]; ok {
			delete(v, "id")
			delete(v, "prefix")
			delete(v, "last_used_at")
		}
		if _, ok := v["seq"]; ok {
			delete(v, "id")
		}
		if _, ok := v["attempts"]; ok {
			delete(v, "change")
		}
		delete(v, "next_at") // depends on a hash of the account
		if _, ok := v["key_id"]; ok {
			delete(v, "id")
			delete(v, "key_id")
			delete(v, "request_id")
			delete(v, "account_id")
			delete(v, "took_ms")
			delete(v, "source") // where it came from is the difference
			called, _ := v["providers"].([]any)
			for _, p := range called {
				delete(p.(map[string]any), "took_ms")
			}
		}
	case []any:
		for _, item := range v {
			mask(item)
		}
	}
	return v
}

// plain returns the parameters of an ordinary call: word is the handle, id or query.
func plain(o *operation.Operation, word string) url.Values {
	switch o.Name {
	case "enrich":
		return url.Values{"text": {word}}
	case "estimate":
		return url.Values{"of": {"/v1/mock/posts?handle=" + url.QueryEscape(word)}}
	case "job":
		return url.Values{"id": {word}}
	case "changes", "history": // names of monitors have no underscore
		name, _, _ := strings.Cut(word, "_")
		out := url.Values{"monitor": {name}}
		if o.Name == "history" {
			out.Set("field", "followers")
		}
		return out
	case "bulk_results": // nor have those of bulk jobs
		name, _, _ := strings.Cut(word, "_")
		return url.Values{"id": {name}}
	case "deliveries": // nor has that of an endpoint
		name, _, _ := strings.Cut(word, "_")
		return url.Values{"endpoint": {name}}
	case "trending":
		for _, w := range mock.Magic() {
			if w.Word == word {
				return url.Values{"region": {w.Region}}
			}
		}
	}
	for _, p := range o.Params {
		if p.Form == operation.FormAddress || p.Form == operation.FormAddresses {
			return url.Values{p.Name: {"https://mock.example/@" + word}}
		}
		if p.Required || p.OneOf {
			return url.Values{p.Name: {word}}
		}
	}
	return url.Values{}
}

func has(o *operation.Operation, param string) bool {
	for _, p := range o.Params {
		if p.Name == param {
			return true
		}
	}
	return false
}

func and(params url.Values, more ...string) url.Values {
	out := url.Values{}
	maps.Copy(out, params)
	for i := 0; i < len(more); i += 2 {
		out.Set(more[i], more[i+1])
	}
	return out
}

// call is one step of a scenario and its expected outcome.
type call struct {
	name   string
	params url.Values
	cost   int64
	cache  schema.CacheState
}

func (p *pair) steps() []call {
	base := int64(1)
	switch {
	case p.o.Price == operation.Free:
		base = 0
	case p.o.Name == "enrich":
		base = 3
	}
	again := schema.Hit
	if p.o.TTL == 0 && !p.o.Redirects && p.o.Of != "read" {
		again = schema.Miss
	}
	params := plain(p.o, "salma_haddad")
	out := []call{{"the first call", params, base, schema.Miss}, {"the same again", params, base, again}}
	if has(p.o, "include_raw") {
		out = append(out, call{"with raw", and(params, "include_raw", "true"), base, again})
	}
	if has(p.o, "enrich") {
		out = append(out, call{"enriched", and(params, "enrich", "arabic"), base + 3, again})
		out = append(out, call{"enriched with raw", and(params, "enrich", "arabic", "include_raw", "true"), base + 3, again})
	}
	if has(p.o, "fresh") {
		out = append(out, call{"fresh", and(params, "fresh", "true"), 2 * base, schema.Miss})
	}
	if has(p.o, "max_credits") {
		out = append(out, call{"at the bound", and(params, "max_credits", strconv.FormatInt(base, 10)), base, schema.Hit})
	}
	if has(p.o, "enrich") && has(p.o, "fresh") {
		out = append(out, call{
			"fresh and enriched", and(params, "enrich", "arabic", "fresh", "true"), 2*base + 3, schema.Miss,
		})
	}
	return out
}

func TestEveryOperationIsTheSameInProcessAndOverHTTP(t *testing.T) {
	t.Parallel()
	for _, o := range socialdata.Operations() {
		if o.Name == "job" {
			continue // it needs a job: TestJobIsTheSameInProcessAndOverHTTP
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, o, enginetest.Config{})
			left, next := p.web.Balance(t), ""
			if o.NoKey {
				left = 0 // no account, so no balance
			}
			if o.Name == "requests" {
				p.callMe()
			}
			p.refusesAboveTheBound()
			for _, c := range p.steps() {
				got := p.both(c.name, c.params)
				if got.Problem != nil {
					t.Fatalf("%s: %v", c.name, got.Problem)
				}
				if left -= c.cost; p.most != c.cost && !p.unpriced() {
					t.Errorf("%s costs %d, and its estimate was %d", c.name, c.cost, p.most)
				}
				if o.Bare {
					continue
				}
				if got.Meta.CreditsUsed != c.cost || got.Meta.CreditsRemaining != left || got.Meta.Cache != c.cache {
					t.Errorf("%s: used %d, %d remaining, %s; want %d, %d, %s", c.name,
						got.Meta.CreditsUsed, got.Meta.CreditsRemaining, got.Meta.Cache, c.cost, left, c.cache)
				}
				p.wantExtras(c, got)
				next = got.Meta.NextCursor
			}
			if next != "" {
				p.walk(next, left)
			}
		})
	}
}

// callMe makes a call, so that the log of requests has one.
func (p *pair) callMe() {
	p.t.Helper()
	p.web.get(p.t, "/v1/me")
	_, inside := p.inside.Client.Account().Me(p.t.Context(), accounts.MeRequest{})
	_, far := p.client.Account().Me(p.t.Context(), accounts.MeRequest{})
	if err := errors.Join(inside, far); err != nil {
		p.t.Fatal(err)
	}
}

// refusesAboveTheBound makes the call with max_credits below its price.
func (p *pair) refusesAboveTheBound() {
	p.t.Helper()
	params, price := plain(p.o, "salma_haddad"), 2
	switch {
	case p.o.Price == operation.Free:
		return
	case has(p.o, "fresh"):
		params = and(params, "fresh", "true")
	default: // the enrichment of a text
		price = 3
	}
	got := p.both("above the bound", and(params, "max_credits", strconv.Itoa(price-1))).Problem
	want := fmt.Sprintf("it may cost %d credits, and max_credits is %d", price, price-1)
	if got == nil || got.Code != problem.InsufficientCredits || !strings.Contains(got.Detail, want) {
		p.t.Errorf("above the bound: %v, want insufficient_credits: %s", got, want)
	}
}

// hasText reports whether an object has text that can be enriched (D65).
func hasText(object map[string]any) bool {
	for _, field := range []string{"bio", "text", "title", "description", "headline", "snippet", "name"} {
		if words, _ := object[field].(string); words != "" {
			return true
		}
	}
	return false
}

// wantExtras checks that raw and enrichment are present exactly when they were requested.
func (p *pair) wantExtras(c call, got outcome) {
	p.t.Helper()
	objects := p.objects(got)
	if len(objects) == 0 {
		p.t.Errorf("%s: no data", c.name)
	}
	for _, o := range objects {
		object, _ := o.(map[string]any)
		if _, shared := object["fetched_at"]; !shared {
			return // a store, or a resource of the service itself
		}
		raw, there := object["raw"]
		if there != c.params.Has("include_raw") || there && raw == nil && p.o.Name != "linked" {
			p.t.Errorf("%s: raw is present: %t (%v)", c.name, there, raw)
		}
		enrichment, there := object["enrichment"]
		if there != c.params.Has("enrich") || there && enrichment == nil && hasText(object) {
			p.t.Errorf("%s: enrichment is present: %t (%v)", c.name, there, enrichment)
		}
	}
}

// walk reads all further pages.
func (p *pair) walk(next string, left int64) {
	p.t.Helper()
	for page := 2; next != "" && page < 10; page++ {
		name := "page " + strconv.Itoa(page)
		got := p.both(name, and(plain(p.o, "salma_haddad"), "cursor", next))
		if got.Problem != nil {
			p.t.Fatalf("%s: %v", name, got.Problem)
		}
		if left--; got.Meta.CreditsRemaining != left {
			p.t.Errorf("%s: %d credits remaining, want %d", name, got.Meta.CreditsRemaining, left)
		}
		next = got.Meta.NextCursor
	}
	if next != "" {
		p.t.Error("the walk does not end")
	}
}

// TestJobIsTheSameInProcessAndOverHTTP collects a search on every side: while a platform has not answered, when it has,
// and again when everything was collected.
func TestJobIsTheSameInProcessAndOverHTTP(t *testing.T) {
	t.Parallel()
	answers := make(chan struct{})
	late := enginetest.Searcher(platform.X, enginetest.Lists(10, enginetest.Some("x", 2)...))
	find := late.Search
	late.Search = func(
		ctx context.Context, q providers.SearchQuery, token string,
	) (providers.Page[schema.SearchResult], error) {
		<-answers
		return find(ctx, q, token)
	}
	p := newPair(t, socialdata.Operation("job"), enginetest.Config{Providers: []providers.Provider{
		enginetest.Searcher(platform.TikTok, enginetest.Lists(10, enginetest.Some("t", 2)...)), late,
	}})
	answer := sync.OnceFunc(func() { close(answers) })
	t.Cleanup(answer) // before the engines are closed
	jobs := map[*enginetest.Engine]string{}
	for _, e := range []*enginetest.Engine{p.inside, p.web.Engine, p.far.Engine} {
		first, err := e.Client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "coffee", Wait: time.Second})
		if err != nil || first.Meta.JobID == "" {
			t.Fatalf("a search leaves no job: %+v, %v", first.Meta, err)
		}
		jobs[e] = first.Meta.JobID
	}
	collect := func(name string, wait string, credits int64) {
		of := func(e *enginetest.Engine) url.Values { return url.Values{"id": {jobs[e]}, "wait_s": {wait}} }
		want := p.inProcess(of(p.inside))
		if want.Problem != nil || want.Meta.CreditsUsed != credits {
			t.Errorf("%s: %+v, %v; want %d credits", name, want.Meta, want.Problem, credits)
		}
		for way, out := range map[string]outcome{
			"over HTTP": p.overHTTP(name, of(p.web.Engine)), "by package remote": p.byRemote(of(p.far.Engine)),
		} {
			if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(schema.Meta{}, "RequestID", "JobID")); diff != "" {
				t.Errorf("%s: (-in process +%s):\n%.3000s", name, way, diff)
			}
		}
	}
	collect("pending", "0", 1)
	answer()
	collect("late", "9", 2)
	collect("whole", "0", 2)
}

func TestEveryOperationFailsTheSameInProcessAndOverHTTP(t *testing.T) {
	t.Parallel()
	for _, o := range socialdata.Operations() {
		if !strings.HasPrefix(o.Path, "/v1/{platform}/") {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, o, enginetest.Config{})
			for _, w := range mock.Magic() {
				if w.Word == "" || w.Word == "hang" || strings.HasPrefix(w.Word, "slow") || w.Word == "pending" {
					continue // they are slow, and have their own tests
				}
				before := p.web.Balance(t)
				params := plain(o, w.Word)
				got := p.both(w.Word, params)
				switch {
				case w.Word == "dead_cursor" && got.Meta.NextCursor != "":
					before--
					if got = p.both("after an expired cursor", and(params, "cursor", got.Meta.NextCursor)); got.Problem == nil ||
						got.Problem.Code != problem.InvalidRequest {
						t.Errorf("an expired cursor returned %v", got.Problem)
					}
				case w.Status >= 400 && w.Where == "every operation":
					if got.Problem == nil || got.Problem.HTTPStatus() != w.Status {
						t.Errorf("%s returned %v, want status %d", w.Word, got.Problem, w.Status)
					}
				case got.Problem != nil && w.Status == 200:
					t.Errorf("%s returned %v", w.Word, got.Problem)
				}
				if got.Problem != nil && p.web.Balance(t) != before {
					t.Errorf("%s was charged", w.Word)
				}
				if w.Word == "fail_enrichment" && has(o, "enrich") {
					p.wantRefund(params)
				}
			}
		})
	}
}

// wantRefund checks that enrichment that fails is null and free of charge.
func (p *pair) wantRefund(params url.Values) {
	p.t.Helper()
	got := p.both("enrichment fails", and(params, "enrich", "arabic"))
	enrichment, there := p.objects(got)[0].(map[string]any)["enrichment"]
	if !there || enrichment != nil || got.Meta.CreditsUsed != 1 {
		p.t.Errorf("enrichment that fails is %v (present: %t), and costs %d", enrichment, there, got.Meta.CreditsUsed)
	}
}

func TestServiceOperationsFailTheSameInProcessAndOverHTTP(t *testing.T) {
	t.Parallel()
	tests := []struct {
		operation string
		params    url.Values
		want      problem.Code
	}{
		{"enrich", url.Values{}, problem.InvalidRequest},
		{"enrich", url.Values{"text": {strings.Repeat("س", 4001)}}, problem.InvalidRequest},
		{"enrich", url.Values{"text": {mock.FailEnrichment}}, problem.PlatformUnavailable},
		{"search_across", url.Values{}, problem.InvalidRequest},
		{"search_across", url.Values{"query": {"x"}, "platforms": {"nowhere"}}, problem.InvalidRequest},
		{"search_across", url.Values{"query": {"x"}, "platforms": {"github"}}, problem.PlatformUnavailable},
		{"search_across", url.Values{"query": {"x"}, "kind": {"nothing"}}, problem.InvalidRequest},
		{"search_across", url.Values{"query": {"x"}, "platforms": {"reddit"}, "enrich": {"arabic"}}, problem.InvalidRequest},
		{"search_across", url.Values{"query": {"upstream_error"}}, problem.PlatformUnavailable},
		{"search_across", url.Values{"query": {"timeout"}}, problem.UpstreamTimeout},
		{"search_across", url.Values{"query": {"x"}, "cursor": {"forged"}}, problem.InvalidRequest},
		{"search_across", url.Values{"query": {"x"}, "wait_s": {"26"}}, problem.InvalidRequest},
		{"job", url.Values{}, problem.InvalidRequest},
		{"job", url.Values{"id": {"job_unknown"}}, problem.NotFound},
		{"usage", url.Values{"cursor": {"forged"}}, problem.InvalidRequest},
	}
	for _, tt := range tests {
		t.Run(tt.operation+" "+tt.params.Encode()[:min(40, len(tt.params.Encode()))], func(t *testing.T) {
			t.Parallel()
			for _, o := range socialdata.Operations() {
				if o.Name != tt.operation {
					continue
				}
				p := newPair(t, o, enginetest.Config{})
				if got := p.both("failure", tt.params); got.Problem == nil || got.Problem.Code != tt.want {
					t.Errorf("got %v, want %s", got.Problem, tt.want)
				}
				if got := p.web.Charges(t); len(got) > 0 {
					t.Errorf("a failure was charged: %v", got)
				}
			}
		})
	}
}

func TestDoRefusesUnknownOperations(t *testing.T) {
	t.Parallel()
	_, err := enginetest.New(t, enginetest.Config{}).Do(context.Background(), &operation.Operation{Name: "nothing"},
		operation.Call{})
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != problem.NotFound {
		t.Errorf("got %v", err)
	}
}
