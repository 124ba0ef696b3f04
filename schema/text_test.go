package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoPointerIsShownAsAnAddress(t *testing.T) {
	t.Parallel()
	for _, typ := range append(structs(), reflect.TypeFor[Common](), reflect.TypeFor[Envelope[Profile]](),
		reflect.TypeFor[Envelope[[]Post]](), reflect.TypeFor[Optional[Enrichment]](), reflect.TypeFor[SearchResult]()) {
		t.Run(typ.Name(), func(t *testing.T) {
			t.Parallel()
			v := reflect.New(typ)
			point(v.Elem())
			if m, ok := typ.MethodByName("String"); !ok || m.Type.In(0) != typ {
				t.Fatal("has no String method")
			}
			for _, shown := range []string{
				fmt.Sprint(v.Elem().Interface()), fmt.Sprintf("%+v", v.Elem().Interface()), fmt.Sprint(v.Interface()),
			} {
				want, err := Marshal(v.Elem().Interface())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), shown); diff != "" || strings.Contains(shown, "0xc0") {
					t.Errorf("is shown as (-JSON +got):\n%s", diff)
				}
			}
		})
	}
}

// point sets every pointer that can be reached from v, and gives every list an element.
func point(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the other kinds contain nothing
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		point(v.Elem())
	case reflect.Interface: // of a search result
		v.Set(reflect.ValueOf(new(Post)))
	case reflect.Slice:
		if v.Type() != rawType {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			point(v.Index(0))
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				point(f)
			}
		}
	}
}

func TestWhatIsNoJSONIsShownAllTheSame(t *testing.T) {
	t.Parallel()
	p := Profile{Common: Common{Raw: []byte("{")}}
	if got := fmt.Sprint(p); !strings.HasPrefix(got, "(cannot be shown: ") {
		t.Errorf("shown as %q", got)
	}
}
