package schema_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/schema"
)

// TestCopiesOfEveryResource checks that a copy shares nothing: every field is filled, and every place that can be
// reached from the copy is written to; the original must not change, whichever fields are added later.
func TestCopiesOfEveryResource(t *testing.T) {
	t.Parallel()
	testClone[schema.Profile](t)
	testClone[schema.Audience](t)
	testClone[schema.LinkedProfile](t)
	testClone[schema.Suggestion](t)
	testClone[schema.Post](t)
	testClone[schema.Comment](t)
	testClone[schema.Transcript](t)
	testClone[schema.LiveStream](t)
	testClone[schema.Collection](t)
	testClone[schema.Track](t)
	testClone[schema.Product](t)
	testClone[schema.Review](t)
	testClone[schema.Ad](t)
	testClone[schema.Advertiser](t)
	testClone[schema.Event](t)
	testClone[schema.WebPage](t)
	for _, kind := range schema.ResultKinds() {
		r := schema.NewResult(kind)
		fillAll(reflect.ValueOf(r.Object).Elem())
		wantOwn(t, string(kind), func() schema.SearchResult { return r }, cloned(&r))
	}
}

func testClone[T any, P schema.Resource[T]](t *testing.T) {
	t.Helper()
	var v, empty T
	fillAll(reflect.ValueOf(&v).Elem())
	name := reflect.TypeFor[T]().Name()
	wantOwn(t, name, func() T { return v }, cloned[T, P](&v))
	list := []T{v, empty, v}
	wantOwn(t, name+" in a list", func() []T { return list }, schema.CloneAll[T, P](list))
	P(&empty).Fill() // empty lists stay empty lists
	if diff := cmp.Diff(empty, cloned[T, P](&empty)); diff != "" {
		t.Errorf("the copy of an empty %s (-want +got):\n%s", name, diff)
	}
	if got := schema.CloneAll[T, P](nil); got != nil {
		t.Errorf("the copy of no list of %s is %v", name, got)
	}
}

func cloned[T any, P schema.Resource[T]](v *T) (out T) {
	schema.Clone[T, P](&out, v)
	return out
}

// wantOwn checks that a copy is equal, and that nothing in it points to the original.
func wantOwn[T any](t *testing.T, name string, original func() T, clone T) {
	t.Helper()
	if diff := cmp.Diff(original(), clone); diff != "" {
		t.Errorf("%s: the copy differs (-want +got):\n%s", name, diff)
	}
	before := fmt.Sprint(dump(reflect.ValueOf(original())))
	overwrite(reflect.ValueOf(&clone).Elem())
	if diff := cmp.Diff(before, fmt.Sprint(dump(reflect.ValueOf(original())))); diff != "" {
		t.Errorf("%s: writing to the copy has changed the original (-want +got):\n%s", name, diff)
	}
}

// fillAll sets every field that can be reached from v.
func fillAll(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(at))
		return
	case !v.CanSet():
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillAll(v.Elem())
	case reflect.Struct:
		for _, f := range v.Fields() {
			fillAll(f)
		}
	case reflect.Slice: // with spare capacity, in which appends to two copies would collide
		v.Set(reflect.MakeSlice(v.Type(), 2, 4))
		for i := range v.Len() {
			fillAll(v.Index(i))
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint('1')
	default:
		panic("a field of the kind " + v.Kind().String() + ": teach the test to fill it")
	}
}

// overwrite writes to every place that can be reached from v, and after the end of every list.
func overwrite(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(at.Add(time.Hour)))
		return
	case v.Kind() == reflect.Interface, v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			overwrite(v.Elem())
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			overwrite(f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
		behind := v.Slice(0, v.Cap())
		for i := v.Len(); i < v.Cap(); i++ {
			behind.Index(i).Set(reflect.Zero(v.Type().Elem()))
		}
		v.Set(reflect.AppendSlice(v, v))
	case reflect.String:
		v.SetString("overwritten")
	case reflect.Int64:
		v.SetInt(-1)
	case reflect.Float64:
		v.SetFloat(-1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Uint8:
		v.SetUint(0)
	default:
	}
}

// dump returns everything that can be reached from v, including what is after the end of its lists.
func dump(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return dump(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return v.Interface()
		}
		var out []any
		for _, f := range v.Fields() {
			out = append(out, dump(f))
		}
		return out
	case reflect.Slice:
		var out []any
		for i := range v.Cap() {
			out = append(out, dump(v.Slice(0, v.Cap()).Index(i)))
		}
		return out
	default:
		return v.Interface()
	}
}

func BenchmarkClone(b *testing.B) {
	for name, o := range full() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				switch o := o.(type) {
				case *schema.Post:
					cloned(o)
				case *schema.Profile:
					cloned(o)
				case *schema.Product:
					cloned(o)
				}
			}
		})
	}
}
