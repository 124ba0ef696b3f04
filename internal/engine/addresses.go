package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/internal/resolve"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// linksAtOnce is how many short links of one call are opened concurrently.
const linksAtOnce = 8

// address is one address of a batch of addresses.
type address struct {
	row   *read.Row               // that reads it; nil if it is not known
	call  operation.Call          // of row
	made  *schema.BatchCall       // the same for the answer
	short *resolve.ShortLinkError // if it is a short link that is not opened yet
}

// planAddresses plans the reads of a batch of addresses. An error of a single address is recorded with it; it is returned
// only if none can be read. A short link is opened when its price is held, which is the highest one of any platform.
func (s *Session) planAddresses(ctx context.Context, row *read.Row, call operation.Call) (*batch, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	b := newBatch(s, row, call, &read.Queries{Row: row.Of, Options: in})
	links := 0
	for _, line := range row.Key().Split(in.Values[0]) {
		key := read.Key{Shown: operation.Shown(line), Read: -1}
		at, err := s.address(line, in)
		if key.Err = err; at.short != nil {
			key.Err = nil
			links++
		} else if err == nil {
			key.Read, key.Err = b.add(ctx, at)
		}
		b.Queries.Keys, b.addresses = append(b.Queries.Keys, key), append(b.addresses, at)
	}
	if b.Reads == nil && links == 0 {
		return nil, b.Queries.Keys[0].Err
	}
	for range links {
		b.quoteFor(credits.Price(s.dearest(), b.doubled(), in.Get("enrich") != ""))
	}
	return b, nil
}

// doubled reports whether a read that is made now costs twice the base.
func (b *batch) doubled() bool { return b.Options.Flag("fresh") || b.Options.Get("max_age_s") != "" }

// dearest returns the highest base price of any platform.
func (s *Session) dearest() (n int64) {
	for _, info := range s.cfg.Platforms.All() {
		n = max(n, s.reader.Base(info.ID))
	}
	return n
}

// address returns the call that reads what a text names, with the options in.
func (s *Session) address(text string, in operation.Args) (at address, err error) {
	bound, err := operation.Pairs{{Name: "url", Value: text}}.Bind(s.rows["read"].Params[:1])
	if err != nil {
		return at, err
	}
	found, err := s.resolver.Text(bound.Values[0])
	if short, ok := errors.AsType[*resolve.ShortLinkError](err); ok {
		return address{short: short}, err
	}
	if err != nil {
		return at, err
	}
	return s.leads(found, in), nil
}

// leads returns the call that reads what was found, with the options in. An age limit beyond the lifetime of the
// operation is cut to it.
func (s *Session) leads(found *resolve.Found, in operation.Args) address {
	first := found.Calls[0]
	at := address{
		row: s.rows[first.Operation.Name], call: operation.Call{Platform: string(found.Platform), Pairs: slices.Clone(first.Params)},
		made: &schema.BatchCall{Platform: found.Platform, Operation: first.Operation.Name, Path: first.Path},
	}
	for i := range in.Params {
		p, v := &in.Params[i], in.Values[i]
		switch {
		case v == "", i == 0, p.Name == "max_credits", p.Name == operation.ParamFields, p.Name == operation.ParamLimit:
			continue // about the whole call
		case p.Name == "max_age_s":
			n, _ := strconv.Atoi(v)
			v = strconv.Itoa(min(n, int(at.row.TTL.Seconds())))
		}
		at.call.Pairs = append(at.call.Pairs, operation.Pair{Name: p.Name, Value: v})
	}
	return at
}

// add plans the read of an address, unless the batch has it, and returns its index.
func (b *batch) add(ctx context.Context, at address) (int, error) {
	q, err := b.reader.Plan(ctx, at.row, at.call)
	if err != nil {
		return -1, err
	}
	if i := slices.IndexFunc(b.Reads, q.Same); i >= 0 {
		return i, nil
	}
	b.Reads, b.parts = append(b.Reads, q), append(b.parts, nil)
	b.quoteFor(q.Quote)
	return len(b.Reads) - 1, nil
}

// shorts reports whether short links are to be opened.
func (b *batch) shorts() bool {
	return slices.ContainsFunc(b.addresses, func(at address) bool { return at.short != nil })
}

// open opens the short links, a few at a time, and plans the reads of their targets. The price that is held stays.
func (b *batch) open(ctx context.Context) {
	ctx, cancel := context.WithDeadline(ctx, b.over(ctx))
	defer cancel()
	found, errs := make([]*resolve.Found, len(b.addresses)), make([]error, len(b.addresses))
	var opened errgroup.Group
	opened.SetLimit(linksAtOnce)
	for i, at := range b.addresses {
		if at.short == nil {
			continue
		}
		opened.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				found[i], errs[i] = b.openLink(ctx, at.short)
			}
			return nil
		})
	}
	_ = opened.Wait() // each error is that of its address
	held := b.quote
	for i := range b.addresses {
		at, key := &b.addresses[i], &b.Queries.Keys[i]
		switch {
		case at.short == nil:
		case errs[i] != nil:
			key.Err = errs[i]
		default:
			*at = b.leads(found[i], b.Options)
			key.Read, key.Err = b.add(ctx, *at)
		}
	}
	b.quote = held
}

// refused returns the operation and the platform of a key that cannot be read.
func (b *batch) refused(i int) (o *operation.Operation, on string) {
	if b.addresses != nil && b.addresses[i].row != nil {
		return b.addresses[i].row.Operation, b.addresses[i].call.Platform
	}
	return b.Row.Operation, b.call.Platform
}
