package remote_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/remote"
)

// TestOptionsThatAnOperationLacksAreRefused sets each option of each request, in process and over HTTP.
func TestOptionsThatAnOperationLacksAreRefused(t *testing.T) {
	t.Parallel()
	options := []struct {
		field, param string
		value        any
	}{
		{"IncludeRaw", "include_raw", true},
		{"Fresh", "fresh", true},
		{"MaxAge", "max_age_s", 20 * time.Second},
		{"StaleIfError", "stale_if_error_s", time.Minute},
		{"Enrich", "enrich", socialdata.Arabic},
		{"MaxCredits", "max_credits", 900},
		{"Cursor", "cursor", "x"},
		{"Limit", "limit", 1},
		{"Pages", "pages", 2},
		{"Since", "since", time.Unix(1_700_000_000, 0)},
		{"StopAtID", "stop_at_id", "x"},
	}
	e := enginetest.New(t, enginetest.Config{Credits: 1 << 30})
	web, _ := serve(t, e, remote.Config{Retries: -1})
	lacking := 0
	for _, o := range socialdata.Operations() {
		for _, opt := range options {
			for name, r := range map[string]socialdata.Reader{"in process": e.Client, "over HTTP": web} {
				has, err := callWith(t, r, o, opt.field, opt.value)
				if !has {
					continue // the compiler refuses it
				}
				takes := slices.ContainsFunc(o.Params, func(p operation.Param) bool { return p.Name == opt.param })
				if o.Redirects && slices.Contains([]string{"Cursor", "Limit", "Pages", "Since", "StopAtID"}, opt.field) {
					takes = false // the address is a profile's
				}
				refused := err != nil && (strings.Contains(err.Error(), opt.field+" cannot be set") ||
					strings.Contains(err.Error(), `unknown parameter "`+opt.param+`"`))
				if refused == takes || refused && !errors.Is(err, problem.InvalidRequest) {
					t.Errorf("%s with %s, %s: got %v, want it refused by name: %t", o.Name, opt.field, name, err, !takes)
				}
				if !takes {
					lacking++
				}
			}
		}
	}
	if lacking < 20 {
		t.Errorf("%d refusals were tested, want 20 or more", lacking)
	}
}

// callWith makes a call of the sandbox with one field set, and reports whether the request has it.
func callWith(
	t *testing.T, r socialdata.Reader, o *operation.Operation, field string, value any,
) (has bool, err error) {
	t.Helper()
	call := enginetest.Method(t, r, o)
	if call.Type().NumIn() < 2 {
		return false, nil // Health has no request
	}
	req := reflect.New(call.Type().In(1)).Elem()
	one := req
	if o.Of != "" {
		one = req.Field(0)
		req.Field(1).Set(reflect.ValueOf([]string{"salma", "omar"}))
	}
	f := one.FieldByName(field)
	if !f.IsValid() {
		return false, nil
	}
	enginetest.Fill(one, o)
	f.Set(reflect.ValueOf(value).Convert(f.Type()))
	out := call.Call([]reflect.Value{reflect.ValueOf(t.Context()), req})
	err, _ = reflect.TypeAssert[error](out[1])
	return true, err
}
