package socialdata_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers"
)

// helpers are the methods of a Client and of an Account that are not operations.
var helpers = []string{
	"Account", "As", "Authenticate", "ChangeSettings", "Close", "Key", "Operator", "Settings", "UsageBy", "Watch",
	"WatchSearch",
}

func TestEveryOperationIsAMethodAndEveryMethodAnOperation(t *testing.T) {
	t.Parallel()
	client := reflect.TypeFor[*socialdata.Client]()
	var want, got []string
	for _, o := range socialdata.Operations() {
		if o.Of == "" && o.Name != "bulk_results" { // that is a method of Bulk
			want = append(want, o.Method())
		}
	}
	for _, of := range []reflect.Type{client, reflect.TypeFor[accounts.Account]()} {
		for m := range of.Methods() {
			if !slices.Contains(helpers, m.Name) {
				got = append(got, m.Name)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("methods (-table +Client, Account):\n%s", diff)
	}
	if n := client.NumMethod(); n > 55 {
		t.Errorf("a Client has %d methods, which is more than 55", n)
	}
}

func TestEveryProviderOperationHasARow(t *testing.T) {
	t.Parallel()
	var want, got []string
	batches := reflect.TypeFor[providers.Batches]()
	for _, op := range providers.Ops() {
		want = append(want, string(op))
		for f := range batches.Fields() {
			if f.Tag.Get("op") == string(op) {
				want = append(want, string(op)+"/batch")
			}
		}
	}
	for _, o := range socialdata.Operations() {
		if rest, ok := strings.CutPrefix(o.Path, "/v1/{platform}/"); ok && rest != "stats" { // it is made of posts
			got = append(got, rest)
			if rest != o.Name {
				t.Errorf("the row %q has the path %s", o.Name, o.Path)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-providers +table):\n%s", diff)
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, o := range socialdata.Operations() {
		if names[o.Name] {
			t.Errorf("%s: is listed twice", o.Name)
		}
		names[o.Name] = true
		if o.Tag == "" || o.Summary == "" || o.Data == nil {
			t.Errorf("%s: tag, summary and data must be set", o.Name)
		}
		if o.Price != operation.Free && len(o.Errors) == 0 {
			t.Errorf("%s: can fail, and lists no errors", o.Name)
		}
		for _, p := range o.Params {
			if p.Doc == "" {
				t.Errorf("%s: the parameter %s has no description", o.Name, p.Name)
			}
		}
	}
}

func TestOperationsReturnsACopy(t *testing.T) {
	t.Parallel()
	first := socialdata.Operations()
	first[0] = nil
	if socialdata.Operations()[0] == nil {
		t.Error("writing to what Operations returned has changed the table")
	}
}
