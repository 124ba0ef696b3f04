package mock

import (
	"encoding/json"
	"reflect"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// inside returns the object that o points to, be it a search result; nil for a store, which is no object.
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

// spoil takes the id away, which breaks the schema.
func spoil(o any) {
	if store, ok := o.(*providers.Storefront); ok {
		store.ID = ""
		return
	}
	inside(o).Shared().ID = ""
}

// strip leaves of an object only what it must have.
func strip(o any) {
	object := inside(o)
	if object == nil {
		return
	}
	blank(reflect.ValueOf(object).Elem())
	id, err := json.Marshal(struct {
		ID string `json:"id"`
	}{object.Shared().ID})
	if err == nil {
		object.Shared().Raw = id
	}
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
