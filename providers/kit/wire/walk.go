package wire

import (
	"context"
	"reflect"
	"strings"
	"sync"

	"github.com/socialdata/socialdata/callctx"
)

// report reports what is malformed in dst to the trace of ctx; one such value was found before, at the path odd.
func report(ctx context.Context, odd string, dst any) {
	w := walk{tell: callctx.Of(ctx).Trace.Drift}
	paths := w.collect(nil, "", reflect.ValueOf(dst).Elem(), planOf(reflect.TypeOf(dst).Elem()))
	if odd != "" {
		paths = append(paths, odd)
	}
	if len(paths) > 0 {
		w.tell(callctx.Drift{Paths: paths})
	}
}

// plan describes where a type can contain malformed values: nowhere when it is nil.
type plan struct {
	leaf   bool
	fields []field // of a struct
	elem   *plan   // of a pointer or a list
}

type field struct {
	index int
	name  string
	plan  *plan
}

type walk struct {
	tell func(callctx.Drift)
}

// oddity is a value that knows whether it is malformed.
type oddity interface{ isOdd() bool }

// nested is an [Object] or [Rows]: it reports its own rows, and returns what is malformed around them.
type nested interface {
	tellOf(w walk, prefix string) (paths []string)
}

// plans holds the plan of each type that was decoded: its fields are read once per process.
var plans sync.Map // of reflect.Type to *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, planner{}.plan(t))
	return p.(*plan)
}

// planner holds the plans that are being made; a type may contain itself.
type planner map[reflect.Type]*plan

func (w planner) plan(t reflect.Type) *plan {
	if p, ok := w[t]; ok {
		return p
	}
	p := &plan{}
	w[t] = p
	if !w.fill(p, t) {
		w[t] = nil
		return nil
	}
	return p
}

// fill reports whether t can contain malformed values.
func (w planner) fill(p *plan, t reflect.Type) bool {
	v := reflect.Zero(reflect.PointerTo(t)).Interface()
	_, odd := v.(oddity)
	_, more := v.(nested)
	if odd || more {
		p.leaf = true
		return true
	}
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			if in := w.plan(f.Type); in != nil {
				p.fields = append(p.fields, field{f.Index[0], jsonName(f), in})
			}
		}
		return len(p.fields) > 0
	case reflect.Pointer, reflect.Slice, reflect.Array:
		p.elem = w.plan(t.Elem())
		return p.elem != nil
	default:
		return false
	}
}

// jsonName returns the name of f in paths; "" if its fields are promoted.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" && !f.Anonymous {
		name = f.Name
	}
	return name
}

// collect adds the paths of malformed values in v, which is at prefix, to paths.
func (w walk) collect(paths []string, prefix string, v reflect.Value, p *plan) []string {
	switch {
	case p == nil:
	case p.leaf:
		switch at := v.Addr().Interface().(type) {
		case oddity:
			if at.isOdd() {
				paths = append(paths, prefix)
			}
		case nested:
			paths = append(paths, at.tellOf(w, prefix)...)
		}
	case v.Kind() == reflect.Struct:
		for _, f := range p.fields {
			paths = w.collect(paths, join(prefix, f.name), v.Field(f.index), f.plan)
		}
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			paths = w.collect(paths, prefix, v.Elem(), p.elem)
		}
	default:
		for i := range v.Len() {
			paths = w.collect(paths, prefix+"[]", v.Index(i), p.elem)
		}
	}
	return paths
}

func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return prefix + name
	}
	return prefix + "." + name
}

func (c *Count) isOdd() bool { return c.odd }
func (s *Score) isOdd() bool { return s.odd }
func (f *Float) isOdd() bool { return f.odd }
func (f *Bool) isOdd() bool  { return f.odd }
func (t *Time) isOdd() bool  { return t.odd }
func (t *Token) isOdd() bool { return t.odd }

func (o *Object[T]) tellOf(w walk, prefix string) []string {
	if o.bad {
		return []string{prefix}
	}
	paths := w.collect(nil, prefix, reflect.ValueOf(&o.V).Elem(), planOf(reflect.TypeFor[T]()))
	if o.odd != "" {
		paths = append(paths, join(prefix, o.odd))
	}
	return paths
}

func (r *Rows[T]) tellOf(w walk, prefix string) []string {
	if r.bad {
		return []string{prefix}
	}
	for range r.lost {
		w.tell(callctx.Drift{Paths: []string{prefix + "[]"}, LeftOut: true})
	}
	for i := range r.list {
		if paths := r.list[i].tellOf(w, prefix+"[]"); len(paths) > 0 {
			w.tell(callctx.Drift{Paths: paths})
		}
	}
	return nil
}

// empty resets the field of v that is at path, which has the wrong type, to its zero value: its pointer has already
// been allocated. It returns the path without the indexes of lists and the keys of maps, and with the names of fields
// as the struct has them; a name that has a dot becomes a question mark. Nothing in it was written by the upstream.
func empty(v reflect.Value, path string) (names string) {
	for name := range strings.SplitSeq(path, ".") {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v = reflect.New(v.Type().Elem())
			}
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			v = reflect.New(v.Type().Elem()).Elem()
		case reflect.Struct:
			if v, name = named(v, name); !v.IsValid() {
				return join(names, "?")
			}
			names = join(names, name)
		default:
			return names
		}
	}
	if v.CanSet() && v.Kind() == reflect.Pointer {
		v.SetZero()
	}
	return names
}

// named returns the field of v that encoding/json decodes a member with that name into, and the name of that field: one
// with exactly that name, or one whose name differs in case.
func named(v reflect.Value, name string) (at reflect.Value, full string) {
	if at, full = find(v, func(full string) bool { return full == name }); at.IsValid() {
		return at, full
	}
	return find(v, func(full string) bool { return strings.EqualFold(full, name) })
}

// find returns the first field of v, or of the structs that are embedded in it, with a name that is sought.
func find(v reflect.Value, sought func(full string) bool) (at reflect.Value, full string) {
	for f, at := range v.Fields() {
		if full := jsonName(f); full != "" && f.IsExported() && sought(full) {
			return at, full
		}
	}
	for f, at := range v.Fields() {
		for at.Kind() == reflect.Pointer && !at.IsNil() {
			at = at.Elem()
		}
		if jsonName(f) == "" && at.Kind() == reflect.Struct {
			if at, full := find(at, sought); at.IsValid() {
				return at, full
			}
		}
	}
	return reflect.Value{}, ""
}
