package mock

import (
	"encoding/json"
	"reflect"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// inside returns the object that o points to, also for a search result; nil for a store, which is not an object.
func inside(o any) schema.Object {
	switch o := o.(type) {
	case *schema.SearchResult:
		return o.Object
	case schema.Object:
		return o
	default:
		return nil
	}
}

// spoil removes the id, which violates the schema.
func spoil(o any) {
	if store, ok := o.(*providers.Storefront); ok {
		store.ID = ""
		return
	}
	inside(o).Shared().ID = ""
}

// strip removes everything optional from an object.
func strip(o any) {
	object := inside(o)
	if object == nil {
		return
	}
	blank(reflect.ValueOf(object).Elem())
	id, err := json.Marshal(struct {
		ID string `json:"id"`
	}{object.Shared().ID})
	if err != nil {
		return
	}
	object.Shared().Raw = id
}

// blank sets all pointers and slices of v to nil.
func blank(v reflect.Value) {
	for _, f := range v.Fields() {
		switch f.Kind() {
		case reflect.Pointer, reflect.Slice:
			f.SetZero()
		case reflect.Struct:
			if f.Type() != reflect.TypeFor[schema.Common]() {
				blank(f)
			}
		default:
		}
	}
}
