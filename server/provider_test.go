package server_test

import (
	"context"
	"reflect"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/providers"
)

// counted returns p with a counter of its calls.
func counted(p providers.Provider) (providers.Provider, *enginetest.Counter) {
	calls := &enginetest.Counter{}
	v := reflect.ValueOf(&p).Elem()
	for _, f := range v.Fields() {
		if f.Kind() == reflect.Func && !f.IsNil() && takesContext(f.Type()) {
			inner := reflect.ValueOf(f.Interface())
			f.Set(reflect.MakeFunc(f.Type(), func(in []reflect.Value) []reflect.Value {
				calls.Add()
				return inner.Call(in)
			}))
		}
	}
	return p, calls
}

func takesContext(t reflect.Type) bool {
	return t.NumIn() > 0 && t.In(0) == reflect.TypeFor[context.Context]()
}
