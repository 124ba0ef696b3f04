package schema

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// Columns returns the columns of rows of type t: the fields of the API description in its order. Fields of an object
// within a row are written with a dot, such as author.handle. The columns depend only on the type, never on the data. A
// list is one column. A search result has the fields of every kind.
func Columns(t reflect.Type) []string {
	var c columns
	c.open(element(t), "", nil)
	return c.names
}

// FieldNames returns the names that [Select] takes for data of any of the types: those of Columns, of the objects that
// have them, and of the fields of objects in lists.
func FieldNames(types ...reflect.Type) []string {
	c := columns{deep: true}
	for _, t := range types {
		_, objects := objectsIn(element(t))
		for _, o := range objects {
			c.open(o, "", nil)
		}
	}
	return c.names
}

// objectsIn returns which member of a row has its object, and the types that this can have: "" and the row's own type if
// the row is the object.
func objectsIn(row reflect.Type) (member string, types []reflect.Type) {
	switch {
	case row == reflect.TypeFor[Change]():
		return "object", foundObjects()
	case strings.HasPrefix(row.Name(), "BatchItem["):
		data, _ := row.FieldByName("Data")
		if of := element(data.Type); of.Kind() != reflect.Interface {
			return "data", []reflect.Type{of}
		}
		return "data", append(foundObjects(), reflect.TypeFor[Audience](), reflect.TypeFor[Transcript](), reflect.TypeFor[Advertiser]())
	}
	return "", []reflect.Type{row}
}

// foundObjects returns the types of the objects that a monitor can read.
func foundObjects() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[SearchResult](), reflect.TypeFor[LiveStream](), reflect.TypeFor[StoreSummary](), reflect.TypeFor[Ad](),
		reflect.TypeFor[Event](),
	}
}

// columns collects the names of fields.
type columns struct {
	deep  bool // also objects themselves, and what is in lists
	names []string
	kinds map[string]ColumnKind // by name
}

// add adds a name; t is the type of its values.
func (c *columns) add(name string, t reflect.Type) {
	if slices.Contains(c.names, name) {
		return
	}
	c.names = append(c.names, name)
	if c.kinds == nil {
		c.kinds = map[string]ColumnKind{}
	}
	c.kinds[name] = kindOf(t)
}

// open adds the fields of a value of type t at a name, or the name itself. within are the types around it.
func (c *columns) open(t reflect.Type, at string, within []reflect.Type) {
	if c.deep && at != "" {
		c.add(at, t)
		t = element(t)
	}
	switch {
	case t.Kind() == reflect.Pointer:
		c.open(t.Elem(), at, within)
	case t == reflect.TypeFor[Optional[Enrichment]]():
		c.open(reflect.TypeFor[Enrichment](), at, within)
	case t == reflect.TypeFor[problem.Error]():
		c.add(at+".code", reflect.TypeFor[string]())
		c.add(at+".detail", reflect.TypeFor[string]())
	case t == reflect.TypeFor[SearchResult]():
		c.add("kind", reflect.TypeFor[string]())
		for _, kind := range ResultKinds() {
			c.open(reflect.TypeOf(NewResult(kind).Object), at, within)
		}
		c.add("collection_kind", reflect.TypeFor[string]())
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !slices.Contains(within, t):
		for _, f := range Fields(t) {
			name := f.Name
			if at != "" {
				name = at + "." + name
			}
			c.open(f.Type, name, append(within, t))
		}
	case at != "":
		c.add(at, t)
	}
}
