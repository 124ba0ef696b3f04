package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// answered is the answer for one key of a batch, without the key.
type answered struct {
	data    []byte
	raw     json.RawMessage // the upstream's answer, if data does not contain it
	problem *problem.Error
	state   schema.CacheState
	age     int64  // seconds
	tag     string // covers everything but the age; "" if a repeated call may get a better answer
	ttl     time.Duration
	next    string            // the cursor of a list
	call    *schema.BatchCall // of an address
}

// answer makes the answer, and reports whether its enrichment is charged.
func (b *batch) answer(ctx context.Context) (*operation.Answer, bool, error) {
	parts, enriched, err := b.answers(ctx)
	if err != nil {
		return nil, false, err
	}
	if b.lines != nil {
		a, err := b.lines.answer(parts, enriched)
		return a, enriched, err
	}
	a := &operation.Answer{
		Fresh: b.Options.Flag("fresh"), TTL: b.row.TTL,
		Meta: schema.Meta{RequestID: b.call.RequestID, Cache: schema.Hit},
	}
	data, raws, whole := []byte{'['}, []json.RawMessage{}, true
	var tags []string
	for i, key := range b.Queries.Keys {
		one := answered{state: schema.Miss, tag: string(problem.InvalidRequest), ttl: a.TTL}
		if key.Err == nil {
			one = parts[key.Read]
		} else {
			o, on := b.refused(i)
			one.problem = b.problem(o, on, key.Err)
		}
		if b.addresses != nil && b.addresses[i].made != nil {
			made := *b.addresses[i].made
			made.NextCursor = one.next
			one.call = &made
		}
		if i > 0 {
			data = append(data, ',')
		}
		if data, err = one.append(data, key.Shown); err != nil {
			return nil, false, err
		}
		if one.state == schema.Miss {
			a.Meta.Cache = schema.Miss
		}
		a.TTL, a.Meta.DataAgeS = min(a.TTL, one.ttl), max(a.Meta.DataAgeS, one.age)
		tags, whole = append(tags, key.Shown, one.tag), whole && one.tag != ""
		raws = append(raws, one.raw)
	}
	a.Data = append(data, ']')
	if whole && b.addresses == nil { // addresses have no lifetime of their own
		a.Tag = read.Tag(tags...)
	}
	a.Meta.Raw, err = listed(raws)
	return a, enriched, err
}

// listed returns raws as a list, with null for a missing one; nil when all are missing.
func listed(raws []json.RawMessage) (json.RawMessage, error) {
	for _, raw := range raws {
		if raw != nil {
			return schema.Marshal(raws)
		}
	}
	return nil, nil
}

// answers returns the answer of each read, and whether the enrichment is charged: it is if something was enriched and
// nothing failed (D11, D65).
func (b *batch) answers(ctx context.Context) ([]answered, bool, error) {
	out, enriched, failed := make([]answered, len(b.parts)), false, false
	for i, p := range b.parts {
		if p.Err != nil {
			out[i] = b.failed(p)
			continue
		}
		a := &operation.Answer{}
		if err := b.reader.Fill(ctx, a, p.Entry, p.Query); err != nil {
			return nil, false, err
		}
		if p.Query.Enrich {
			switch b.reader.Enrich(ctx, p.Query, p.Entry, a) {
			case read.AllEnriched:
				enriched = true
			case read.PartlyEnriched:
				failed = true
			case read.NothingToEnrich:
			}
		}
		out[i] = answered{
			data: a.Data, raw: a.Meta.Raw, state: p.State, age: a.Meta.DataAgeS, tag: a.Tag, ttl: a.TTL, next: a.Meta.NextCursor,
		}
	}
	return out, enriched && !failed, nil
}

// failed returns the answer of a read that found nothing, or failed.
func (b *batch) failed(p *read.Part) answered {
	out := answered{problem: b.problem(p.Query.Row.Operation, string(p.Query.Platform), p.Err), state: schema.Miss}
	out.tag = string(out.problem.Code)
	if absent := p.Entry; absent != nil && absent.NotFound {
		out.ttl = absent.TTL - b.ageOf(absent)
	}
	if out.problem.Remembered {
		out.state, out.age = schema.Hit, int64(out.problem.Age.Seconds())
	}
	return out
}

// ageOf returns the age of an entry.
func (b *batch) ageOf(e *cache.Entry) time.Duration { return max(0, b.cfg.Now().Sub(e.FetchedAt)) }

// append appends one element of the answer, encoded like [schema.BatchItem].
func (a *answered) append(out []byte, key string) ([]byte, error) {
	name, err := schema.Marshal(key)
	if err != nil {
		return nil, err
	}
	out = append(append(out, `{"key":`...), name...)
	out = append(out, `,"data":`...)
	if a.problem != nil {
		said, err := schema.Marshal(a.problem)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `null,"problem":`...), said...)
	} else {
		out = append(append(out, a.data...), `,"problem":null`...)
	}
	out = append(append(out, `,"cache":"`...), a.state...)
	out = strconv.AppendInt(append(out, `","data_age_s":`...), a.age, 10)
	if a.call != nil {
		call, err := schema.Marshal(a.call)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"call":`...), call...)
	}
	return append(out, '}'), nil
}
