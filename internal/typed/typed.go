// Package typed makes calls of operations whose answers have a type of Go.
package typed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// ListErrors are the errors of lists of the account's own, FreeErrors those of free calls that name something.
var (
	ListErrors = []problem.Code{
		problem.InvalidRequest, problem.Unauthorized, problem.RateLimited, problem.InternalError,
		problem.PlatformUnavailable, // when the service is at its limit (D71)
	}
	FreeErrors = []problem.Code{
		problem.InvalidRequest, problem.Unauthorized, problem.NotFound, problem.RateLimited, problem.InternalError,
		problem.PlatformUnavailable, // as above
	}
)

// Operation is a row of the operation table with the type of its data.
type Operation[T any] struct{ *operation.Operation }

// Service completes the row of an operation of the service itself, whose request is a Req.
func Service[Req, T any](o operation.Operation) Operation[T] {
	o.Service, o.Data = true, reflect.TypeFor[T]()
	o.Takes(reflect.TypeFor[Req]())
	return Operation[T]{&o}
}

// Do makes the call of req, wherever c makes its calls.
func Do[T, Req any](
	ctx context.Context, c operation.Caller, o Operation[T], req *Req,
) (*schema.Envelope[T], error) {
	call := operation.CallOf(o.Operation, req)
	call.Typed = true
	return Decode[T](c.Do(ctx, o.Operation, call))
}

// Decode returns an answer, or the error of its call as callers in Go see it.
func Decode[T any](a *operation.Answer, err error) (*schema.Envelope[T], error) {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return nil, p.InGo()
	}
	if err != nil {
		return nil, err
	}
	if e, ok := a.Envelope.(*schema.Envelope[T]); ok {
		e.Meta = a.Meta
		return e, nil
	}
	e := &schema.Envelope[T]{Meta: a.Meta}
	if a.Made != nil {
		v, err := a.Made.Value(a.Data)
		data, ok := v.(T)
		if e.Data = data; err != nil || !ok {
			return nil, Undecodable(a.Meta, err)
		}
		return e, nil
	}
	if err := json.Unmarshal(a.Data, &e.Data); err != nil {
		return nil, Undecodable(a.Meta, err)
	}
	return e, nil
}

// Undecodable returns the problem of an answer that does not have the type of its operation.
func Undecodable(meta schema.Meta, err error) error {
	p := problem.Wrap(err, problem.InternalError, "the answer cannot be decoded")
	p.RequestID = meta.RequestID
	return p
}

// MostIdle is the number of consecutive pages without new items after which a walk ends: each of them has skipped
// several pages of the upstream, and each has its price.
const MostIdle = 30

// PageKey returns the idempotency key of the page at a cursor of a list whose first page has key; "" has none.
func PageKey(key, cursor string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key + "|" + cursor))
	return hex.EncodeToString(sum[:])
}
