package providers_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
)

// fill adds an entry to every table that can be reached from v, and sets every string.
func fill(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the other kinds contain nothing
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for _, f := range v.Fields() {
			fill(f)
		}
	case reflect.String:
		v.SetString("word")
	case reflect.Int64:
		v.SetInt(7)
	}
}

// spoil changes every table that can be reached from v.
func spoil(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the other kinds contain nothing that is shared
	case reflect.Map:
		for key, value := range v.Seq2() {
			spoil(value)
			v.SetMapIndex(key, reflect.Value{})
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			spoil(f)
		}
	}
}

// tables returns p without functions, as JSON.
func tables(t *testing.T, p providers.Provider) string {
	t.Helper()
	out := map[string]any{}
	for f, v := range reflect.ValueOf(p).Fields() {
		if v.Kind() != reflect.Func && f.Name != "Batches" { // it contains functions and numbers
			out[f.Name] = v.Interface()
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestACloneSharesNoTable(t *testing.T) {
	t.Parallel()
	var p providers.Provider
	fill(reflect.ValueOf(&p).Elem())
	want := tables(t, p)
	clone := p.Clone()
	if diff := cmp.Diff(want, tables(t, clone)); diff != "" {
		t.Fatalf("the clone differs (-want +got):\n%s", diff)
	}
	spoil(reflect.ValueOf(clone))
	if diff := cmp.Diff(want, tables(t, p)); diff != "" {
		t.Errorf("writing to the clone changes the original (-want +got):\n%s", diff)
	}
}
