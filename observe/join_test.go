package observe_test

import (
	"reflect"
	"testing"

	"github.com/socialdata/socialdata/observe"
)

func TestJoinTellsEachOfEverything(t *testing.T) {
	t.Parallel()
	told := 0
	// counting returns an observer whose functions all count.
	counting := func() observe.Observer {
		var o observe.Observer
		for _, f := range reflect.ValueOf(&o).Elem().Fields() {
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { told++; return nil }))
		}
		return o
	}
	joined := reflect.ValueOf(observe.Join(counting(), observe.Observer{}, counting()))
	for field, f := range joined.Fields() {
		told = 0
		f.Call([]reflect.Value{reflect.Zero(f.Type().In(0))})
		if told != 2 {
			t.Errorf("%s told %d of 2", field.Name, told)
		}
	}
}
