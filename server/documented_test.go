package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

var errDisk = errors.New("disk full")

// noLedger and noRecords are stores that fail.
type (
	noLedger  struct{}
	noRecords struct{}
)

func (noLedger) Reserve(context.Context, credits.Spender, time.Duration, ...int64) ([]credits.Hold, error) {
	return nil, errDisk
}

func (noLedger) Settle(context.Context, credits.Hold, credits.Charge) (credits.Receipt, error) {
	return credits.Receipt{}, errDisk
}
func (noLedger) Balance(context.Context, string) (int64, error) { return 0, errDisk }

func (noLedger) Entries(context.Context, credits.Query) ([]credits.Entry, error) {
	return nil, errDisk
}

func (noRecords) Get(context.Context, string) (records.Record, error) {
	return records.Record{}, errDisk
}

func (noRecords) Put(context.Context, records.Record, time.Duration) (int64, error) {
	return 0, errDisk
}
func (noRecords) Delete(context.Context, string, int64) error    { return errDisk }
func (noRecords) Keys(context.Context, string) ([]string, error) { return nil, errDisk }
func (noRecords) Erase(context.Context, privacy.Subject) (map[string]int, error) {
	return nil, errDisk
}

func (noRecords) Add(context.Context, records.Record, time.Duration) (records.Record, bool, error) {
	return records.Record{}, false, errDisk
}

var _ records.Store = noRecords{}

// pathTo returns the path of an ordinary call, with word as the handle, id, query or text.
func pathTo(o *operation.Operation, word string, more ...string) string {
	path := strings.NewReplacer("{platform}", "mock", "{provider}", "mock", "{path...}", "users/"+word).Replace(o.Path)
	return path + "?" + and(plain(o, word), more...).Encode()
}

// overloaded returns a site whose only place for calls is taken until the test ends.
func overloaded(t *testing.T) *site {
	t.Helper()
	entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	held := providers.Provider{
		Name: "held", Platform: platform.X, Source: schema.Own,
		Profile: func(ctx context.Context, _ string) (schema.Profile, error) {
			close(entered)
			select {
			case <-release:
			case <-ctx.Done():
			}
			return schema.Profile{}, providers.ErrNotFound
		},
	}
	s := open(t, enginetest.Config{Providers: []providers.Provider{held}}, server.WithLimits(server.Limits{InFlight: 1}))
	// The context of the test ends before the place is released.
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, s.web.URL+
		"/v1/x/profile?handle=salma", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Secret)
	go func() {
		defer close(ended)
		if res, err := s.web.Client().Do(r); err == nil {
			_ = res.Body.Close()
		}
	}()
	t.Cleanup(func() { close(release); <-ended })
	<-entered
	return s
}

// TestEveryDocumentedErrorOfEveryRoute causes each error that the description lists.
func TestEveryDocumentedErrorOfEveryRoute(t *testing.T) {
	t.Parallel()
	doc := newDescription(t)
	well := open(t, enginetest.Config{})
	poor := open(t, enginetest.Config{Credits: -1})
	busy := open(t, enginetest.Config{Rate: keys.Rate{Capacity: 1, Refill: 0.001}})
	busy.get(t, "/v1/me").envelope(t)
	broken := open(t, enginetest.Config{Options: []socialdata.Option{
		socialdata.WithLedger(noLedger{}), socialdata.WithRecords(noRecords{}),
	}})

	well.Monitor(t)
	if _, err := broken.Client.Account().Monitors().Make(t.Context(), accounts.WatchRequest{
		Name: "salma", Operation: "profile", Platform: platform.Mock, Params: map[string]string{"handle": "salma"},
	}); err != nil {
		t.Fatal(err)
	}

	if _, err := broken.Client.Account().Endpoints().Make(t.Context(), "salma", schema.EndpointSpec{
		URL: "http://127.0.0.1:1", Types: []string{"stopped"},
	}); err != nil {
		t.Fatal(err)
	}

	broken.StartBulk(t)

	provoke := func(t *testing.T, o *operation.Operation, code problem.Code) reply {
		t.Helper()
		switch code {
		case problem.Unauthorized:
			return well.getAs(t, "", pathTo(o, "salma"))
		case problem.RateLimited:
			return busy.get(t, pathTo(o, "salma"))
		case problem.InsufficientCredits:
			return poor.get(t, pathTo(o, "salma"))
		case problem.InvalidRequest:
			return well.get(t, pathTo(o, "salma", "fresh", "1", "nonsense", "1"))
		case problem.InternalError:
			return broken.get(t, pathTo(o, "salma"))
		case problem.NotFound:
			if o.Name == "estimate" {
				return well.get(t, "/v1/estimate?of=/v1/nowhere/profile")
			}
			if o.Name == "bulk" {
				return well.get(t, o.Path+"?id=not-found")
			}
			if o.Name == "resolve" {
				return well.get(t, o.Path+"?url=https://mock.example/login")
			}
			if o.Name == "reads" {
				return well.get(t, o.Path+"?urls=https://nowhere.example/")
			}
			if o.Of != "" { // the answer has a problem for each key instead
				return well.get(t, strings.Replace(pathTo(o, "salma"), "/mock/", "/nowhere/", 1))
			}
			return well.get(t, pathTo(o, "not_found"))
		case problem.PlatformUnavailable:
			if o.Name == "enrich" {
				return well.get(t, pathTo(o, mock.FailEnrichment))
			}
			// A platform without a provider is named, so that the circuit breaker of the sandbox stays closed.
			switch path := pathTo(o, "salma"); o.Name {
			case "search_across":
				return well.get(t, path+"&platforms=kwai")
			case "raw", "read", "reads":
				return well.get(t, pathTo(o, "rate_limited_upstream"))
			case "estimate":
				return well.get(t, strings.Replace(path, "%2Fmock%2F", "%2Fkwai%2F", 1))
			case "usage", "requests", "keys", "job", "resolve", "monitors", "changes", "history", "endpoints", "deliveries",
				"bulk", "bulk_results":
				return overloaded(t).get(t, pathTo(o, "salma"))
			default:
				return well.get(t, strings.Replace(path, "/mock/", "/kwai/", 1))
			}
		case problem.UpstreamTimeout:
			fresh := open(t, enginetest.Config{})
			return fresh.get(t, pathTo(o, "timeout"))
		default:
			t.Fatalf("the test does not know how to cause %s", code)
			return reply{}
		}
	}
	for _, o := range socialdata.Operations() {
		for _, code := range o.Errors {
			t.Run(o.Name+" "+string(code), func(t *testing.T) {
				t.Parallel()
				r := provoke(t, o, code)
				r.wantProblem(t, code)
				doc.check(t, o, r)
			})
		}
	}
}

func TestTheDescriptionSaysWhatCostsAndWhatIsPaged(t *testing.T) {
	t.Parallel()
	doc := newDescription(t)
	for _, o := range socialdata.Operations() {
		at := doc.find("paths", describedPath(o), "get")
		get, ok := at.(map[string]any)
		if !ok {
			t.Errorf("%s is not described", o.Name)
			continue
		}
		named := map[string]bool{}
		list, _ := get["parameters"].([]any)
		for _, p := range list {
			named[doc.resolve(p.(map[string]any))["name"].(string)] = true
		}
		for _, p := range o.Params {
			if !named[p.Name] {
				t.Errorf("%s: the parameter %s is not described", o.Name, p.Name)
			}
		}
		if _, open := get["security"]; open != o.NoKey {
			t.Errorf("%s: whether it needs a key is not described", o.Name)
		}
		if named["Idempotency-Key"] == (o.Price == operation.Free || o.Bare) {
			t.Errorf("%s: Idempotency-Key is described: %t", o.Name, named["Idempotency-Key"])
		}
	}
	if got := doc.find("info", "version"); got != "1.0.0" {
		t.Errorf("the version is %v", got)
	}
	if got, _ := doc.find("openapi").(string); !strings.HasPrefix(got, "3.1.") {
		t.Errorf("it is OpenAPI %v", got)
	}
}

func TestLongCursorsAreAccepted(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	cursor := ""
	for range 30 { // the most steps that a walk remembers
		params := url.Values{"handle": {"endless"}}
		if cursor != "" {
			params.Set("cursor", cursor)
		}
		if cursor = s.get(t, "/v1/mock/posts?"+params.Encode()).envelope(t).Meta.NextCursor; len(cursor) > 8192 {
			t.Fatalf("a cursor of %d characters", len(cursor))
		}
	}
}
