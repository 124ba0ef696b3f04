package operation

import (
	"net/url"
	"reflect"
)

// shape describes where a request struct holds what is not a parameter. A nil index means that there is no such field.
type shape struct {
	platform []int // the platform or provider in the path
	path     []int // the rest of the path, of a raw read
	key      []int // the idempotency key
	more     []int // parameters that the operation does not declare
}

// Takes declares that Go programs describe a call of o with a struct of type t. The tags of its fields name the
// parameters (see [ParamsOf]), the parts of the path (path:"platform", path:"provider", path:"path"), the idempotency
// key (header:"Idempotency-Key") and further parameters, a map of lists (query:"*").
func (o *Operation) Takes(t reflect.Type) {
	o.Params, o.shape = ParamsOf(t), shape{}
	for i := range o.Params {
		if p := &o.Params[i]; p.Name == "max_age_s" && !o.Redirects { // the resulting call has a limit of its own
			p.Max = int(o.TTL.Seconds()) // nothing older is returned anyway
		}
	}
	for _, f := range reflect.VisibleFields(t) {
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
}

// CallOf returns the call that a request describes. Req must be the type passed to [Operation.Takes].
func CallOf[Req any](o *Operation, req *Req) Call {
	call := Call{
		Platform: text(o.shape.platform, req), Path: text(o.shape.path, req), IdempotencyKey: IdempotencyKey(o, req),
		Pairs: FromStruct(Pairs{}, o.Params, req),
	}
	if o.shape.more != nil {
		more, _ := reflect.TypeAssert[map[string][]string](reflect.ValueOf(*req).FieldByIndex(o.shape.more))
		call.Pairs = append(call.Pairs, PairsOf(url.Values(more))...)
	}
	return call
}

// IdempotencyKey returns the idempotency key of a request; "" when it has none.
func IdempotencyKey[Req any](o *Operation, req *Req) string { return text(o.shape.key, req) }

// text returns a text field; "" when there is no such field.
func text[Req any](index []int, req *Req) string {
	if index == nil {
		return ""
	}
	return reflect.ValueOf(req).Elem().FieldByIndex(index).String()
}
