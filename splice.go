package socialdata

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/schema"
)

// splice returns data, one object or an array of them, with one more field in each object: the value of the same
// place, or null where that is nil. The objects themselves are copied as they are.
func splice(data []byte, field string, values [][]byte) ([]byte, error) {
	if len(data) == 0 || data[0] != '[' {
		if len(values) == 0 {
			return data, nil
		}
		return appendField(nil, data, field, values[0]), nil
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(data, &objects); err != nil {
		return nil, err
	}
	if len(objects) != len(values) {
		return nil, fmt.Errorf("socialdata: %d values of %s for %d objects", len(values), field, len(objects))
	}
	out := []byte{'['}
	for i, o := range objects {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendField(out, o, field, values[i])
	}
	return append(out, ']'), nil
}

func appendField(out, object []byte, field string, value []byte) []byte {
	if value == nil {
		value = []byte("null")
	}
	out = append(out, bytes.TrimSuffix(object, []byte("}"))...)
	out = append(out, `,"`+field+`":`...)
	out = append(out, value...)
	return append(out, '}')
}

// DefaultEnricher returns the embedded Arabic model, which a Client uses unless it is told otherwise.
func DefaultEnricher() enrich.Enricher { return arabic.New() }

// enrichData adds an enrichment to each object of the answer, null where it failed, and tells whether all succeeded.
func (e *engine) enrichData(ctx context.Context, o *Operation, entry *cache.Entry, a *Answer) bool {
	texts, err := o.texts(entry.Data)
	if err != nil {
		e.log.ErrorContext(ctx, "the texts to enrich cannot be read", "operation", o.Name, "error", err)
		return false
	}
	values, all := make([][]byte, len(texts)), true
	for i, text := range texts {
		values[i], err = e.enrichText(ctx, text)
		if err != nil {
			e.log.WarnContext(ctx, "enrichment failed", "operation", o.Name, "request_id", a.Meta.RequestID, "error", err)
			all = false
		}
	}
	data, err := splice(a.Data, "enrichment", values)
	if err != nil {
		e.log.ErrorContext(ctx, "enrichment cannot be added", "operation", o.Name, "error", err)
		return false
	}
	a.Data = data
	a.Tag += "-arabic"
	if !all { // what failed may succeed the next time
		a.Tag = ""
	}
	return all
}

// enrichText returns the enrichment of text as JSON.
func (e *engine) enrichText(ctx context.Context, text string) (b []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			e.log.ErrorContext(ctx, "enricher panicked", "panic", v, "stack", string(debug.Stack()))
			b, err = nil, fmt.Errorf("socialdata: enricher panicked: %v", v)
		}
	}()
	got, err := e.enricher.Enrich(ctx, text)
	if err != nil {
		return nil, err
	}
	got.Fill()
	if err := got.Validate(); err != nil {
		return nil, fmt.Errorf("socialdata: enrichment breaks the schema: %w", err)
	}
	return schema.Marshal(got)
}
