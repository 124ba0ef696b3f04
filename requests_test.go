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
	m := enginetest.Method(t, enginetest.New(t, enginetest.Config{}).Client, o).Type()
	req := m.In(m.NumIn() - 1)
	if o.Of != "" {
		req = req.Field(0).Type
	}
	return req, m.NumIn() == 2
}

func TestEveryChargedRequestTakesAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	const key = "order-4711-of-salma"
	for _, o := range socialdata.Operations() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			req, ok := request(t, o)
			if !ok {
				return // Health has no request
			}
			if _, has := req.FieldByName("IdempotencyKey"); has != (o.Price != operation.Free) {
				t.Fatalf("%s has an idempotency key: %t; want %t, since its price is %q", req, has, !has, o.Price)
			} else if !has {
				return
			}
			e := enginetest.New(t, enginetest.Config{})
			call := func(short bool) error {
				m := enginetest.Method(t, e.Client, o)
				v := reflect.New(m.Type().In(1)).Elem()
				one := v
				if o.Of != "" {
					one = v.Field(0)
					v.Field(1).Set(reflect.ValueOf([]string{"salma", "omar"}))
					if o.Service {
						v.Field(1).Set(reflect.ValueOf([]string{"https://mock.example/@salma", "https://mock.example/@omar"}))
					}
				}
				enginetest.Fill(one, o)
				if f := one.FieldByName("Fresh"); f.IsValid() {
					f.SetBool(true)
				}
				one.FieldByName("IdempotencyKey").SetString(key)
				if short {
					one.FieldByName("IdempotencyKey").SetString("short")
				}
				out := m.Call([]reflect.Value{reflect.ValueOf(t.Context()), v})
				err, _ := reflect.TypeAssert[error](out[1])
				return err
			}
			if err := call(true); !errors.Is(err, problem.InvalidRequest) || !strings.Contains(err.Error(), "dempotency") {
				t.Errorf("with a short key: %v; want %s of the idempotency key", err, problem.InvalidRequest)
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
				t.Errorf("a call and its repetition cost %d and %d in all; want the same", spent[0], spent[1])
			}
		})
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
				t.Errorf("%s has Fresh: %t, and %s: %t; want a duration beside Fresh alone", req, fresh.Name != "", name, has)
			}
		}
		for _, p := range o.Params {
			if p.Name == "max_age_s" && o.Tag != "addresses" && p.Max != int(o.TTL.Seconds()) {
				t.Errorf("%s: max_age_s is at most %d; want the lifetime, %v", o.Name, p.Max, o.TTL)
			}
		}
	}
}

func TestAUsedIdempotencyKeyRefusesOtherRequests(t *testing.T) {
	t.Parallel()
	req := salma()
	req.IdempotencyKey, req.MaxAge = "order-4711-of-salma", time.Minute
	handle, age := req, req
	handle.Handle, age.MaxAge = "omar", 2*time.Minute
	for _, other := range []socialdata.ProfileRequest{handle, age} {
		e := enginetest.New(t, enginetest.Config{})
		if _, err := e.Client.Profile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		_, err := e.Client.Profile(t.Context(), other)
		enginetest.WantProblem(t, err, problem.InvalidRequest, "another request")
	}
}

func TestWaitsAreSentInWholeSeconds(t *testing.T) {
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
		got := operation.CallOf(row, &req).Pairs.Values().Get("wait_s")
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

func TestWatchSearchYieldsTypedResults(t *testing.T) {
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
		t.Fatalf("%d results, platforms %v, meta %+v, %v; want all three", len(results), ended, end, err)
	}
	for _, r := range results {
		if p, ok := r.Object.(*schema.Post); !ok || r.Kind != schema.PostResult || p.Text == "" {
			t.Errorf("a result is %+v; want a post with a text", r)
		}
	}
	err = e.Client.WatchSearch(t.Context(),
		socialdata.SearchAcrossRequest{Query: "coffee", ReadOptions: socialdata.ReadOptions{IdempotencyKey: "order-4711-of-salma"}},
		func(socialdata.SearchEvent) bool { t.Error("yields an event"); return true })
	enginetest.WantProblem(t, err, problem.InvalidRequest)
}
