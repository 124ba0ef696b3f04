package read

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read/batch"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/providers"
)

const (
	// requestsAtOnce is how many requests for keys of one kind a provider gets concurrently, and how many keys of one call
	// are read concurrently if each has a request of its own.
	requestsAtOnce = 8
	// triedAlone is the number of keys up to which a failed request is repeated for each key separately: one bad key must
	// not fail the others, and a failing upstream must not get many more requests.
	triedAlone = 8
)

// Batch describes how a provider reads many keys with one request. It has no Read if the provider cannot.
type Batch struct {
	Most, Bytes int // see [providers.Batch]
	// Read returns the outcome of each key. An error applies to all keys.
	Read func(ctx context.Context, r Reading, keys []string) (map[string]outcome, error)
}

// keyless returns in without the value of its first parameter.
func keyless(in operation.Args) operation.Args {
	in.Values = slices.Clone(in.Values)
	in.Values[0] = ""
	return in
}

// several makes a BatchFunc from a provider's batch for an operation. of converts one object.
func several[T any](
	pick func(*providers.Provider, operation.Args) providers.Batch[T], of func(Reading, *T, time.Time) (Fetched, error),
) BatchFunc {
	return func(p *providers.Provider, in operation.Args) Batch {
		b := pick(p, in)
		if b.Read == nil || b.Most < 2 {
			return Batch{}
		}
		read := func(ctx context.Context, r Reading, keys []string) (map[string]outcome, error) {
			values, err := b.Read(ctx, slices.Clone(keys))
			single, err := providers.Apart(err)
			if err != nil {
				return nil, err
			}
			// A row that was left out may belong to any key without one.
			unseen := b.Limited || r.attempt.LeftOut() > 0
			unknown := r.attempt.Unknown() // of any of the keys
			at, out := r.reader.now(), make(map[string]outcome, len(keys))
			for _, key := range keys {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				v, ok := values[key]
				if !ok {
					out[key] = missing(single[key], unseen)
					continue
				}
				got, err := of(r, &v, at)
				got.Unknown = unknown
				out[key] = outcome{got: got, open: err != nil}
			}
			return out, nil
		}
		return Batch{b.Most, b.Bytes, read}
	}
}

// missing returns the outcome of a key without an object. unseen means that the upstream may have one nevertheless.
func missing(err error, unseen bool) outcome {
	switch {
	case errors.Is(err, providers.ErrNotFound):
		return outcome{err: err}
	case err != nil || unseen:
		return outcome{open: true}
	}
	return outcome{err: &providers.Error{Kind: providers.ErrNotFound}}
}

// askTogether reads one key: together with others, if the first source can. A key that a request for many keys leaves
// unresolved is read separately.
func (r *Reader) askTogether(ctx context.Context, q *Query, at *cursor.Cursor) (got Fetched, by string, err error) {
	subject := q.subject(at)
	if len(subject.Sources) == 0 {
		return r.askAlone(ctx, q, at, subject)
	}
	first, key := subject.Sources[0], q.In.Values[0]
	how := q.Row.Batch(first.Provider, q.In)
	if how.Read == nil || how.Bytes > 0 && len(key) > how.Bytes {
		return r.askAlone(ctx, q, at, subject)
	}
	joined, err := r.joins.Read(ctx, batch.Queue[outcome]{
		Name: queueName(ctx, q, first.Provider.Name, r.cfg.Erased.Epoch()), Most: how.Most, Bytes: how.Bytes, AtOnce: requestsAtOnce,
		Full: first.Provider.Gate.Full,
		Read: func(asked []batch.Asked) []outcome {
			r.work.Fork()
			defer r.work.End()
			return r.request(q, how, subject.Sources, asked)
		},
	}, key, q.member)
	if err != nil {
		return got, "", err
	}
	defer joined.End()
	switch o := joined.Value; {
	case joined.Alone, o.open:
		return r.askAlone(ctx, q, at, subject)
	case o.all:
		return r.askBehind(ctx, q, at, subject, o.err)
	default:
		return o.got, first.Provider.Name, o.err
	}
}

// askBehind asks the sources after the first, which has failed.
func (r *Reader) askBehind(
	ctx context.Context, q *Query, at *cursor.Cursor, subject upstreams.Subject, failed error,
) (got Fetched, by string, err error) {
	if subject.Sources = subject.Sources[1:]; len(subject.Sources) == 0 {
		return got, "", failed
	}
	got, by, err = r.askAlone(ctx, q, at, subject)
	switch {
	case errors.Is(err, providers.ErrNotHere): // the first might have found it
		return got, by, failed
	case err == nil, upstreams.IsFinal(err):
		return got, by, err
	}
	return got, by, errors.Join(failed, err)
}

// queueName identifies reads that can be made together with q by a provider: those with the same parameters except for the
// key, in the same epoch of erasures.
func queueName(ctx context.Context, q *Query, provider string, epoch int64) string {
	return strings.Join([]string{
		strconv.FormatInt(epoch, 10), string(q.Platform), provider, q.Row.Name, strconv.FormatBool(q.Fresh),
		strconv.FormatBool(callctx.Of(ctx).Background), keyless(q.In).Binding(),
	}, "|")
}

// request requests many keys from the first of sources, and returns the outcome of each. q is the query of one of them.
func (r *Reader) request(q *Query, how Batch, sources []*upstreams.Source, asked []batch.Asked) []outcome {
	found, err := r.try(q, how, sources, asked)
	out := make([]outcome, len(asked))
	switch {
	case err == nil:
		for i, a := range asked {
			if out[i] = found[a.Key]; out[i].err != nil {
				out[i].err = &providers.UpstreamError{Provider: sources[0].Provider.Name, Op: q.Row.op(), Err: out[i].err}
			}
		}
	case errors.Is(err, providers.ErrShare):
		return r.requestOthers(q, how, sources, asked, err)
	case len(asked) <= triedAlone:
		for i := range out {
			out[i].open = true
		}
	case upstreams.IsFinal(err): // perhaps one of the keys is refused, which says nothing about the others
		half := len(asked) / 2
		return slices.Concat(r.request(q, how, sources, asked[:half]), r.request(q, how, sources, asked[half:]))
	default:
		for i := range out {
			out[i] = outcome{err: err, all: true}
		}
	}
	return out
}

// requestOthers repeats a request without the keys of the account that has used its share of the upstream's limit. If
// the error names no account, the share is that of all, and nothing is repeated.
func (r *Reader) requestOthers(
	q *Query, how Batch, sources []*upstreams.Source, asked []batch.Asked, err error,
) []outcome {
	refused, one := errors.AsType[*providers.ShareError](err)
	var others []batch.Asked
	var at []int
	out := make([]outcome, len(asked))
	for i, a := range asked {
		out[i] = outcome{err: err, all: true}
		if one && callctx.Of(a.Context).Caller.Account != refused.Account {
			others, at = append(others, a), append(at, i)
		}
	}
	if len(others) > 0 && len(others) < len(asked) {
		for i, o := range r.request(q, how, sources, others) {
			out[at[i]] = o
		}
	}
	return out
}

// try makes one request.
func (r *Reader) try(
	q *Query, how Batch, sources []*upstreams.Source, asked []batch.Asked,
) (map[string]outcome, error) {
	ctx, cancel := together(asked)
	defer cancel()
	if q.Fresh {
		ctx = callctx.WithWhole(ctx)
	}
	keys := make([]string, len(asked))
	for i, a := range asked {
		keys[i] = a.Key
	}
	slices.Sort(keys) // the same keys make the same request, so that its answer can be stored and revalidated
	in := keyless(q.In)
	subject := upstreams.Subject{Name: strings.Join(keys, "|"), Sources: sources[:1], Behind: sources[1:]}
	answer, err := r.cfg.Upstreams.Try(ctx, q.Platform, q.Row.op(), subject,
		func(ctx context.Context, a *upstreams.Attempt) (any, error) {
			return how.Read(ctx, Reading{Provider: a.Provider, In: in, reader: r, attempt: a}, keys)
		})
	found, _ := answer.Value.(map[string]outcome)
	return found, err
}

// together returns a context for a request on behalf of all of asked: it lasts as long as the longest of theirs.
func together(asked []batch.Asked) (context.Context, context.CancelFunc) {
	var end time.Time
	for _, a := range asked {
		if t, ok := a.Context.Deadline(); ok && t.After(end) {
			end = t
		}
	}
	caller := payer(asked)
	caller.Asked = func() {
		for _, a := range asked {
			if of := callctx.Of(a.Context).Caller; of.Asked != nil {
				of.Asked()
			}
		}
	}
	calls := make([]context.Context, len(asked))
	for i, a := range asked {
		calls[i] = a.Context //nolint:fatcontext // the contexts of others
	}
	ctx := callctx.ForCalls(callctx.WithCaller(context.WithoutCancel(asked[0].Context), caller), calls...)
	if end.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end)
}

// payer returns the caller that a request counts for: the one with the most keys, or the first of several. Only the
// upstream's limit is counted in parts, for each account in proportion to its keys (D98).
func payer(asked []batch.Asked) callctx.Caller {
	keys, most := map[string]int{}, callctx.Of(asked[0].Context).Caller
	for _, a := range asked {
		keys[callctx.Of(a.Context).Caller.Account]++
	}
	for _, a := range asked {
		if c := callctx.Of(a.Context).Caller; keys[c.Account] > keys[most.Account] {
			most = c
		}
	}
	if len(keys) > 1 {
		most.Keys, most.Alone = keys, false
	}
	return most
}
