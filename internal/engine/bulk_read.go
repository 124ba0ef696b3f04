package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// bulkRead reads lines of a chunk with one call.
type bulkRead struct {
	session *Session
	chunk   *bulkjob.Chunk
	row     *read.Row // of the line's operation
	one     *read.Row // of the call, as logs and entries show it
	fields  *schema.Selection
	id      string // of the request
	of      calls.Request

	lines   []bulkjob.Line   // that the call reads
	keys    []read.Key       // of all lines of the chunk
	queries []*read.Query    // of the keys
	batch   *batch           // of the last call
	results []bulkjob.Result // that the last call has
	parts   []answered       // of the last call, if it has read
}

// plan checks the reads of all lines, as a change of the configuration may have made one impossible.
func (r *bulkRead) plan(ctx context.Context, s *Session, id string) (err error) {
	r.session, r.id = s, id
	first := r.chunk.Lines[0]
	if r.row, err = s.bulkRow(first.Operation); err != nil {
		return err
	}
	r.one = &read.Row{Op: r.row.Op, Of: r.row, Operation: r.row.Operation}
	if several := s.rows[r.row.Name+"/batch"]; several != nil {
		r.one = several
	}
	if r.fields, err = s.bulkFields(r.chunk.Job.Options.Fields); err != nil {
		r.fields = nil // of an earlier version
	}
	options := bulkPairs(&r.chunk.Job.Options)
	for _, line := range r.chunk.Lines {
		var params map[string]string
		if err := json.Unmarshal(line.Params, &params); err != nil {
			return err
		}
		key := read.Key{Shown: line.Key, Read: -1}
		q, err := s.reader.Plan(ctx, r.row, bulkCall(r.row, string(line.Platform), params, options))
		if key.Err = err; err == nil {
			for i, known := range r.queries {
				if q.Same(known) {
					key.Read = i
				}
			}
			if key.Read < 0 {
				key.Read, r.queries = len(r.queries), append(r.queries, q)
			}
		}
		r.keys = append(r.keys, key)
	}
	digest, err := s.books.conceal(ctx, "bulk "+r.chunk.IdempotencyKey())
	r.of = calls.Request{
		Who: s.who, ID: id, Record: bulkRecord(r.chunk), Once: digest, Digest: digest, Life: s.cfg.AnswerLife,
	}
	return err
}

// within cuts the lines down to the first ones that cost at most that many credits, and reports whether there were more.
func (r *bulkRead) within(credits int64) bool {
	price, enrich := int64(0), int64(0)
	seen := make([]bool, len(r.queries))
	for i := range r.lines {
		if at := r.keys[i].Read; at >= 0 && !seen[at] {
			seen[at] = true
			price, enrich = price+r.queries[at].Quote.Base, max(enrich, r.queries[at].Quote.Enrich)
		}
		if price+enrich > credits {
			r.lines = r.lines[:i]
			return true
		}
	}
	return false
}

// call reads the lines and charges for them, or returns what an earlier call has read.
func (r *bulkRead) call(ctx context.Context) error {
	s := r.session
	options := bulkPairs(&r.chunk.Job.Options)
	call := operation.Call{Platform: string(r.chunk.Lines[0].Platform), Pairs: append(operation.Pairs{}, options...), RequestID: r.id}
	keyed := r.keys[:len(r.lines)]
	reads := 0
	for _, key := range keyed {
		reads = max(reads, key.Read+1)
	}
	r.results, r.parts = nil, nil
	r.batch = newBatch(s, r.one, call, &read.Queries{Row: r.row, Keys: keyed, Reads: r.queries[:reads]})
	r.batch.lines = r
	begun := time.Now()
	answer, err := r.batch.charge(ctx, r.of)
	if errors.Is(err, errNothingRead) {
		err = nil
		answer = &operation.Answer{Meta: schema.Meta{Cache: schema.Miss}}
	} else if err == nil {
		r.results, err = bulkResults(answer.Data)
	}
	_, reported := s.report(ctx, r.one, call, begun, answer, err)
	if err != nil && errors.Is(reported, problem.InsufficientCredits) {
		return reported
	}
	return err
}

// bulkResults decodes results, of which absent parts are nil.
func bulkResults(data []byte) (out []bulkjob.Result, err error) {
	err = json.Unmarshal(data, &out)
	for i := range out {
		for _, part := range []*json.RawMessage{&out[i].Data, &out[i].Raw, &out[i].Problem} {
			if string(*part) == "null" {
				*part = nil
			}
		}
	}
	return out, err
}

// errNothingRead means that no line has a result that is final, so that nothing is stored.
var errNothingRead = errors.New("no line was read")

// answer makes the answer that is stored until the results are: those that are final.
func (r *bulkRead) answer(parts []answered, enriched bool) (*operation.Answer, error) {
	r.parts = parts
	results, err := r.outcomes(parts)
	if err != nil {
		return nil, err
	}
	final := []bulkjob.Result{}
	paid := map[int]bool{}
	enrich := int64(0)
	if enriched {
		enrich = r.batch.quote.Enrich
	}
	a := &operation.Answer{Meta: schema.Meta{RequestID: r.id, Cache: schema.Hit}}
	for i, result := range results {
		if result == nil || result.Again {
			a.Meta.Cache = schema.Miss
			continue
		}
		if at := r.keys[i].Read; result.Outcome == bulkjob.LineFound {
			if !paid[at] { // a read that several lines make is charged once
				p := r.batch.parts[at]
				result.Credits = r.session.reader.Priced(p.Query, p.Entry).Base + enrich
				paid[at], enrich = true, 0
			}
			if result.Cache == string(schema.Miss) {
				a.Meta.Cache = schema.Miss
			}
		}
		final = append(final, *result)
	}
	if len(final) == 0 {
		return nil, errNothingRead
	}
	a.Data, err = schema.Marshal(final)
	return a, err
}

// outcomes returns the result of each line; nil for one for which no upstream was called.
func (r *bulkRead) outcomes(parts []answered) ([]*bulkjob.Result, error) {
	out := make([]*bulkjob.Result, len(r.lines))
	for i := range r.lines {
		result := bulkjob.Result{Line: r.lines[i].Number, Key: r.lines[i].Key, Outcome: bulkjob.LineFailed}
		key, p := r.keys[i], (*problem.Error)(nil)
		if key.Err != nil {
			p = r.batch.problem(r.row.Operation, string(r.lines[i].Platform), key.Err)
		} else {
			one := parts[key.Read]
			if p = one.problem; p != nil && bulkClosedFor(r.batch.parts[key.Read].Err) > 0 {
				continue
			}
			if p == nil {
				result.Outcome, result.Data, result.Raw = bulkjob.LineFound, r.fields.Of(one.data), one.raw
				result.Cache, result.DataAge = string(one.state), time.Duration(one.age)*time.Second
			}
		}
		if p != nil {
			var err error
			if result.Problem, err = schema.Marshal(p); err != nil {
				return nil, err
			}
			switch p.Code {
			case problem.NotFound:
				result.Outcome = bulkjob.LineMissing
			case problem.PlatformUnavailable, problem.UpstreamTimeout, problem.InternalError, problem.RateLimited:
				result.Again = true
			case problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits:
			}
		}
		out[i] = &result
	}
	return out, nil
}

// bulkClosed is how long lines wait for which an upstream was not called, if it has not said how long.
const bulkClosed = 10 * time.Second

// bulkClosedFor returns for how long an upstream need not be called, if err means that a limit is used up or that the
// upstream is down; else 0.
func bulkClosedFor(err error) time.Duration {
	wait, closed := upstreams.Closed(err)
	if !closed {
		return 0
	}
	return cmp.Or(wait, bulkClosed)
}

// worked returns what came of a call that has read something, or has failed.
func (r *bulkRead) worked(ctx context.Context, out bulkjob.Worked, err error) (bulkjob.Worked, error) {
	wait := time.Duration(0)
	switch {
	case ctx.Err() != nil:
		return bulkjob.Worked{}, ctx.Err()
	case errors.Is(err, calls.ErrUndecided) || errors.As(err, new(*account.UnavailableError)):
		return bulkjob.Worked{}, err
	case err == nil && r.parts == nil: // an earlier call's
		out.Results = r.results
		return out, nil
	case errors.Is(err, problem.RateLimited):
		p, _ := errors.AsType[*problem.Error](err)
		wait = cmp.Or(p.RetryAfter, bulkClosed)
	case err != nil && !r.failed():
		return bulkjob.Worked{}, err
	default:
		parts := r.parts
		if parts == nil { // every read has failed
			for _, p := range r.batch.parts {
				parts = append(parts, r.batch.failed(p))
			}
		}
		results, merr := r.outcomes(parts)
		if merr != nil {
			return bulkjob.Worked{}, merr
		}
		final := map[int64]bulkjob.Result{}
		for _, result := range r.results {
			final[result.Line] = result
		}
		for i, result := range results {
			switch {
			case result == nil:
				wait = max(wait, bulkClosedFor(r.batch.parts[r.keys[i].Read].Err))
			case result.Again:
				out.Results = append(out.Results, *result)
			case err == nil: // with its credits
				out.Results = append(out.Results, final[result.Line])
			}
		}
	}
	if wait > 0 {
		out.Later = r.session.cfg.Now().Add(wait)
	}
	return out, nil
}

// failed reports whether every read of the call has failed.
func (r *bulkRead) failed() bool {
	return !slices.ContainsFunc(r.batch.parts, func(p *read.Part) bool { return p == nil || p.Err == nil })
}
