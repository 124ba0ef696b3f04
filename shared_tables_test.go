package socialdata_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// scribble overwrites everything that can be reached from v with its zero value, from the inside out.
func scribble(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the other kinds hold nothing that could be shared
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().CanSet() {
			scribble(v.Elem())
		}
		return
	case reflect.Interface, reflect.Func:
		return
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if value.Kind() == reflect.Slice || value.Kind() == reflect.Map {
				scribble(value)
			}
			v.SetMapIndex(key, reflect.Zero(value.Type()))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				scribble(field)
			}
		}
	}
	if v.CanSet() {
		v.SetZero()
	}
}

func TestSharedTablesCannotBeChanged(t *testing.T) {
	t.Parallel()
	provider := mock.New(mock.Config{})[0]
	provider.Missing = map[providers.Op][]string{providers.OpAd: {"token"}}
	provider.Charges = map[providers.Op]int64{providers.OpAd: 2}
	for name, table := range map[string]func() any{
		"Operations":          func() any { return socialdata.Operations() },
		"Operation":           func() any { return socialdata.Operation("search_across") },
		"read":                func() any { return socialdata.Operation("followers") },
		"platforms":           func() any { return platform.All() },
		"platform names":      func() any { return platform.Names() },
		"codes":               func() any { return problem.Codes() },
		"provider operations": func() any { return providers.Ops() },
		"provider":            func() any { p := provider.Clone(); return &p },
		"vocabularies":        func() any { return schema.Vocabularies() },
		"fields":              func() any { return schema.Fields(reflect.TypeFor[schema.Post]()) },
		"fields with words":   func() any { return schema.Fields(reflect.TypeFor[schema.Media]()) },
		"media":               func() any { return schema.MediaTypes() },
		"kinds":               func() any { return schema.ResultKinds() },
		"collections":         func() any { return schema.CollectionKinds() },
		"suggestions":         func() any { return schema.SuggestionKinds() },
		"dialects":            func() any { return schema.Dialects() },
		"sentiments":          func() any { return schema.SentimentLabels() },
		"entities":            func() any { return schema.EntityTypes() },
		"topics":              func() any { return schema.Topics() },
		"cache states":        func() any { return schema.CacheStates() },
		"platform states":     func() any { return schema.PlatformStates() },
		"health states":       func() any { return schema.HealthStates() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, mine := table(), table()
			if diff := cmp.Diff(want, mine, exported); diff != "" {
				t.Fatalf("two copies differ (-first +second):\n%s", diff)
			}
			scribble(reflect.ValueOf(mine))
			if cmp.Equal(want, mine, exported) {
				t.Fatal("the copy was not changed, so the test checks nothing")
			}
			if diff := cmp.Diff(want, table(), exported); diff != "" {
				t.Errorf("changed by a caller (-want +got):\n%s", diff)
			}
		})
	}
}

// exported compares what a caller can see: of functions only whether they are nil.
var exported = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && (f.Name() == "index" || f.Name() == "shape" || f.Name() == "data")
	}, cmp.Ignore()),
	cmp.Comparer(func(a, b reflect.Type) bool { return a == b }),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type().Kind() == reflect.Func },
		cmp.Transformer("given", func(f any) bool { return !reflect.ValueOf(f).IsNil() })),
}

func TestACallIgnoresChangesToItsOperation(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	row := socialdata.Operation("profile")
	row.TTL, row.Price, row.Params, row.Service = 1, operation.Free, nil, true
	call := enginetest.Call("handle", "salma")
	call.Platform = "mock"
	a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), row, call)
	if err != nil || a.Meta.CreditsUsed != 1 || a.TTL != socialdata.Operation("profile").TTL {
		t.Errorf("got %+v, %v; want the price and lifetime of the table", a, err)
	}
	for _, none := range []*operation.Operation{nil, {}, {Name: "nothing"}} {
		_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), none, call)
		enginetest.WantProblem(t, err, problem.NotFound)
		err = socialdata.FrontEnd(e.Client).Stream(t.Context(), none, call, func(operation.Event) bool { return true })
		enginetest.WantProblem(t, err, problem.NotFound)
	}
}
