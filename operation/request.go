package operation

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// shape describes where a request struct holds what is not a parameter. A nil index means that there is no such field.
type shape struct {
	platform []int   // the platform or provider in the path
	path     []int   // the rest of the path, of a raw read
	key      []int   // the idempotency key
	more     []int   // parameters that the operation does not declare
	lacking  []Param // options that the struct has and the operation does not take
}

// Takes declares that Go programs describe a call of o with a struct of type t. The tags of its fields name the
// parameters (see [ParamsOf]), the parts of the path (path:"platform", path:"provider", path:"path"), the idempotency
// key (header:"Idempotency-Key") and further parameters, a map of lists (query:"*"). The tag of an embedded struct names
// the parameters in it that o does not take (without:"enrich").
func (o *Operation) Takes(t reflect.Type) {
	o.shape, o.Request = shape{}, t
	var lacks []string
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			lacks = append(lacks, strings.Fields(f.Tag.Get("without"))...)
		}
		switch f.Tag.Get("path") {
		case "platform", "provider":
			o.shape.platform = f.Index
		case "path":
			o.shape.path = f.Index
		}
		if f.Tag.Get("header") == "Idempotency-Key" {
			o.shape.key = f.Index
		}
		if f.Tag.Get("query") == "*" {
			o.shape.more = f.Index
		}
	}
	o.Params = nil
	for _, p := range ParamsOf(t) {
		p.Filter = p.Filter && !o.Redirects // the resulting call has those of its platform
		switch {
		case slices.Contains(lacks, p.Name):
			o.shape.lacking = append(o.shape.lacking, p)
			continue
		case p.Name == "max_age_s" && !o.Redirects: // the resulting call has a limit of its own
			p.Max = int(o.TTL.Seconds()) // nothing older is returned anyway
		case p.Name == ParamLimit && o.Price == Free:
			p.Doc = "At most so many rows; next_cursor goes on behind the last one."
		}
		o.Params = append(o.Params, p)
	}
}

// BatchOf returns the operation that reads many objects of one that reads one by a key. Its first parameter lists the
// keys, described by doc; the others are those of one. If one reads an address, the batch has the lines of a text, and no
// options of lists.
func BatchOf(one *Operation, summary, doc string) *Operation {
	o := &Operation{
		Name: one.Name + "/batch", Of: one.Name, Path: one.Path + "/batch", Tag: one.Tag, Also: one.Also, Summary: summary,
		Platforms: one.Platforms, TTL: one.TTL, Price: EachKey, Errors: one.Errors, Params: slices.Clone(one.Params),
		Request: one.Request, Service: one.Service,
	}
	o.Params[0] = Param{Name: one.Params[0].Name + "s", Doc: doc, Form: FormKeys, Required: true}
	lacks := []string{ParamFields, ParamLimit} // they are those of its own data
	if one.Redirects {
		o.Name, o.Path, o.Params[0].Form = one.Name+"s", one.Path+"s", FormAddresses
		lacks = append(lacks, "cursor", "pages", "since", "stop_at_id")
	}
	o.Params = slices.DeleteFunc(o.Params, func(p Param) bool { return slices.Contains(lacks, p.Name) })
	return o
}

// CallOf returns the call that a request describes. Req must be the type passed to [Operation.Takes].
func CallOf[Req any](o *Operation, req *Req) Call {
	call := Call{
		Platform: text(o.shape.platform, req), Path: text(o.shape.path, req), IdempotencyKey: text(o.shape.key, req),
		// Options that o does not take are among them, so that [Pairs.Bind] refuses them.
		Pairs: fields(fields(Pairs{}, o.Params, req), o.shape.lacking, req),
	}
	if o.shape.more != nil {
		more, _ := reflect.TypeAssert[map[string][]string](reflect.ValueOf(*req).FieldByIndex(o.shape.more))
		call.Pairs = append(call.Pairs, PairsOf(url.Values(more))...)
	}
	return call
}

// text returns a text field; "" when there is no such field.
func text[Req any](index []int, req *Req) string {
	if index == nil {
		return ""
	}
	return reflect.ValueOf(req).Elem().FieldByIndex(index).String()
}
