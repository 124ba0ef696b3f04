package operation

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/schema"
)

// ParamFields and ParamLimit are the parameters of a [View].
const (
	ParamFields = "fields"
	ParamLimit  = "limit"
)

// Selects declares that callers of o may choose what they see of its answer, by the parameters fields and, for a list,
// limit. It is called once Data is set.
func (o *Operation) Selects() {
	o.Params = slices.DeleteFunc(o.Params, func(p Param) bool { return p.Name == ParamFields })
	if o.List() && !o.Has(ParamLimit) {
		p := shared[ParamLimit]
		p.Name, p.Form = ParamLimit, FormInt
		o.Params = append(o.Params, p)
	}
	fields := Param{
		Name: ParamFields, Form: FormFields, Option: true, Doc: "Only these fields of each object, such as " +
			"id,author.handle; platform, id, url and kind are always there.",
	}
	if o.Data.Kind() != reflect.Interface {
		fields.data = o.Data
	}
	o.Params = append(o.Params, fields)
}

// selects returns the choice of fields that a list of names makes.
func (p *Param) selects(list string) (*schema.Selection, error) {
	if p.data == nil {
		return nil, nil
	}
	return Select(list, p.data)
}

// Select returns the choice of fields that a list of names, separated by commas, makes in data of any of the types.
func Select(list string, types ...reflect.Type) (*schema.Selection, error) {
	names := strings.Split(list, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return schema.Select(names, types...)
}

// View is what a caller sees of an answer: the chosen fields of its first rows. The zero View shows all of it.
type View struct {
	fields *schema.Selection // nil means all
	limit  int               // 0 means all
}

// View returns what the caller wants to see of the answer to a call. Parameters that are wrong are ignored: they are
// refused when the call is bound.
func (o *Operation) View(call *Call) (v View) {
	given := call.Given()
	if at, n := given.lookup(ParamLimit); n > 0 && o.Has(ParamLimit) {
		v.limit, _ = strconv.Atoi(given[at].Value)
	}
	if at, n := given.lookup(ParamFields); n > 0 {
		for i := range o.Params {
			if o.Params[i].Form == FormFields {
				v.fields, _ = o.Params[i].selects(given[at].Value)
			}
		}
	}
	return v
}

// Show leaves out of an answer what the view does not have. A list that is cut short has no cursor: its cursor would
// go on behind rows that were left out.
func (v View) Show(a *Answer) {
	if v.limit > 0 && v.cut(a) {
		a.Meta.NextCursor = ""
	}
	a.Data = v.fields.Of(a.Data)
}

// cut cuts a list, and reports whether it was longer.
func (v View) cut(a *Answer) bool {
	if a.Envelope != nil {
		list := reflect.ValueOf(a.Envelope).Elem().FieldByName("Data")
		if list.Kind() != reflect.Slice || list.Len() <= v.limit {
			return false
		}
		list.SetLen(v.limit)
		return true
	}
	rows := jsontext.Elements(a.Data)
	if len(rows) <= v.limit {
		return false
	}
	a.Data = slices.Clone(a.Data[:1])
	for i, row := range rows[:v.limit] {
		if i > 0 {
			a.Data = append(a.Data, ',')
		}
		a.Data = append(a.Data, row...)
	}
	a.Data = append(a.Data, ']')
	return true
}

// Shows passes the events of a stream that the view has to yield. A search goes on behind the last result that is
// shown, without a cursor; a stream of changes ends there.
func (v View) Shows(o *Operation, yield func(Event) bool) func(Event) bool {
	if v == (View{}) {
		return yield
	}
	shown, cut := 0, false
	return func(e Event) bool {
		switch {
		case e.Result != nil && v.limit > 0 && shown == v.limit:
			cut = true
			return true
		case e.Result != nil:
			shown++
			e.Result = v.fields.Of(e.Result)
		case e.Meta != nil && cut:
			own := *e.Meta
			own.NextCursor = ""
			e.Meta = &own
		}
		return yield(e) && (o.Price != Free || v.limit == 0 || shown < v.limit)
	}
}
