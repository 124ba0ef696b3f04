package socialdata_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// request returns the type of the request that an operation's method takes, if it takes one.
func request(t *testing.T, o *operation.Operation) (reflect.Type, bool) {
	t.Helper()
	m, ok := reflect.TypeFor[*socialdata.Client]().MethodByName(o.Method())
	if !ok {
		t.Fatalf("there is no method %s", o.Method())
	}
	return m.Type.In(m.Type.NumIn() - 1), m.Type.NumIn() == 3
}

func TestEveryChargedRequestTakesAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	const key = "order-4711-of-salma"
	for _, o := range socialdata.Operations() {
		t.Run(o.Method(), func(t *testing.T) {
			t.Parallel()
			req, ok := request(t, o)
			if !ok {
				return // Health has no request
			}
			if _, has := req.FieldByName("IdempotencyKey"); has != (o.Price != operation.Free) {
				t.Fatalf("%s has a key: %t; its price is %q", req, has, o.Price)
			} else if !has {
				return
			}
			e := enginetest.New(t, enginetest.Config{})
			call := func(short bool) error {
				v := reflect.New(req).Elem()
				fill(v, o)
				v.FieldByName("IdempotencyKey").SetString(key)
				if short {
					v.FieldByName("IdempotencyKey").SetString("short")
				}
				out := reflect.ValueOf(e.Client).MethodByName(o.Method()).Call([]reflect.Value{reflect.ValueOf(t.Context()), v})
				err, _ := reflect.TypeAssert[error](out[1])
				return err
			}
			if err := call(true); !errors.Is(err, problem.InvalidRequest) || !strings.Contains(err.Error(), "dempotency") {
				t.Errorf("a short key leads to %v", err)
			}
			var spent [2]int64
			for i := range spent {
				if err := call(false); err != nil {
					t.Fatal(err)
				}
				balance, err := e.Ledger.Balance(t.Context(), e.Key.Account)
				if err != nil {
					t.Fatal(err)
				}
				spent[i] = 1000 - balance
			}
			if spent[0] == 0 || spent[1] != spent[0] {
				t.Errorf("one call costs %d, its repetition brings that to %d", spent[0], spent[1])
			}
		})
	}
}

// fill sets what a call of the sandbox needs.
func fill(v reflect.Value, o *operation.Operation) {
	set := func(name, text string) {
		if f := v.FieldByName(name); f.IsValid() {
			f.SetString(text)
		}
	}
	set("Platform", string(platform.Mock))
	set("Provider", "mock")
	set("Path", "echo/salma")
	one := false
	for _, p := range o.Params {
		if !p.Required && (!p.OneOf || one) {
			continue
		}
		one = one || p.OneOf
		for field := range v.Type().Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("param"), ","); name == p.Name {
				if p.Form == operation.FormKeys {
					v.FieldByIndex(field.Index).Set(reflect.ValueOf([]string{"salma", "omar"}))
					continue
				}
				v.FieldByIndex(field.Index).SetString("salma")
				if p.Form == operation.FormAddress {
					v.FieldByIndex(field.Index).SetString("https://mock.example/@salma")
				}
			}
		}
	}
	if f := v.FieldByName("Fresh"); f.IsValid() {
		f.SetBool(true)
	}
}

func TestCachedReadsTakeAnAge(t *testing.T) {
	t.Parallel()
	for _, o := range socialdata.Operations() {
		req, ok := request(t, o)
		if !ok {
			continue
		}
		fresh, _ := req.FieldByName("Fresh")
		for _, name := range []string{"MaxAge", "StaleIfError"} {
			f, has := req.FieldByName(name)
			if has != (fresh.Name != "") || has && f.Type != reflect.TypeFor[time.Duration]() {
				t.Errorf("%s has Fresh %t, and %s %t", req, fresh.Name != "", name, has)
			}
		}
		for _, p := range o.Params {
			if p.Name == "max_age_s" && !o.Redirects && p.Max != int(o.TTL.Seconds()) {
				t.Errorf("%s: max_age_s is at most %d, the lifetime %v", o.Name, p.Max, o.TTL)
			}
		}
	}
}

func TestAnAgeIsAPartOfAnIdempotentRequest(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	req := salma()
	req.IdempotencyKey, req.MaxAge = "order-4711-of-salma", time.Minute
	if _, err := e.Client.Profile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	req.MaxAge = 2 * time.Minute
	_, err := e.Client.Profile(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "another request")
}

func TestAnotherRequestUnderTheSameKeyIsRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	req := salma()
	req.IdempotencyKey = "order-4711-of-salma"
	if _, err := e.Client.Profile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	req.Handle = "omar"
	_, err := e.Client.Profile(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest)
}

func TestAWaitIsADuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		wait time.Duration
		want string
	}{
		{0, ""},
		{time.Second, "1"},
		{8 * time.Second, "8"},
		{1500 * time.Millisecond, "2"},
		{time.Nanosecond, "1"},
		{-time.Nanosecond, "-1"},
		{-time.Minute, "-60"},
	}
	row := socialdata.Operation("search_across")
	for _, tt := range tests {
		req := socialdata.SearchAcrossRequest{Query: "coffee", Wait: tt.wait}
		got := operation.FromStruct(nil, row.Params, &req).Values().Get("wait_s")
		if got != tt.want {
			t.Errorf("%v is sent as %q, want %q", tt.wait, got, tt.want)
		}
	}
	client := enginetest.New(t, enginetest.Config{}).Client
	for _, wait := range []time.Duration{-time.Second, 26 * time.Second} {
		_, err := client.SearchAcross(t.Context(), socialdata.SearchAcrossRequest{Query: "coffee", Wait: wait})
		enginetest.WantProblem(t, err, problem.InvalidRequest, "from 1 to 25")
	}
}

func TestAWatchedSearchIsTyped(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	var results []*schema.SearchResult
	var end *schema.Meta
	ended := map[platform.ID]schema.PlatformState{}
	err := e.Client.WatchSearch(t.Context(), socialdata.SearchAcrossRequest{Query: "coffee", Kind: schema.PostResult},
		func(ev socialdata.SearchEvent) bool {
			switch {
			case ev.Result != nil:
				results = append(results, ev.Result)
			case ev.Meta != nil:
				end = ev.Meta
			default:
				ended[ev.Platform] = ev.State
			}
			return true
		})
	if err != nil || len(results) == 0 || end == nil || ended[platform.Mock] != schema.OK {
		t.Fatalf("%d results, the platforms %v, the end %+v, %v", len(results), ended, end, err)
	}
	for _, r := range results {
		if p, ok := r.Object.(*schema.Post); !ok || r.Kind != schema.PostResult || p.Text == "" {
			t.Errorf("a result is %+v", r)
		}
	}
	err = e.Client.WatchSearch(t.Context(),
		socialdata.SearchAcrossRequest{Query: "coffee", IdempotencyKey: "order-4711-of-salma"},
		func(socialdata.SearchEvent) bool { t.Error("yields an event"); return true })
	enginetest.WantProblem(t, err, problem.InvalidRequest)
}
