package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// problemOf translates any error of the engine into a problem for the caller. No other code does this.
func problemOf(o *operation.Operation, call operation.Call, err error) *problem.Error {
	p := translate(o, call, err)
	p.Call = o.Title(call)
	if cause := p.Unwrap(); p.Why == "" && cause != nil && p.HTTPStatus() >= problem.InternalError.Status() {
		p.Why = causesOf(cause, p.Detail)
	}
	return p
}

// translate returns the problem of err.
func translate(o *operation.Operation, call operation.Call, err error) *problem.Error {
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Code != problem.InternalError {
		own := *p // a shared problem, such as that of a joined read, must not get each caller's id
		return &own
	}
	on := call.Platform
	upstream, _ := errors.AsType[*providers.Error](err)
	full, _ := errors.AsType[*records.QuotaError](err)
	store, _ := errors.AsType[*account.UnavailableError](err)
	switch {
	case errors.Is(err, calls.ErrUndecided):
		return problem.Wrap(err, problem.PlatformUnavailable,
			"the service's ledger is not responding, and it is not known whether the call was charged; if it was, it is "+
				"refunded; a retry with the same Idempotency-Key is charged once").
			After(account.HangsAfter)
	case store != nil:
		return problem.Wrap(err, problem.PlatformUnavailable,
			"the service's %s is not responding; nothing was charged; retry",
			storeWords(store.Store)).After(account.HangsAfter)
	case full != nil:
		return problem.Wrap(err, problem.RateLimited, "the stored answers for the account's idempotency keys "+
			"have reached their maximum size; wait, or call without a key; nothing was charged").After(full.RetryAfter)
	case errors.Is(err, credits.ErrLate):
		return problem.Wrap(err, problem.PlatformUnavailable, "the call took longer than its credits were held, and other "+
			"calls have spent them; nothing was charged")
	case errors.Is(err, upstreams.ErrPanic):
		return problem.Wrap(err, problem.InternalError, "something went wrong on our side")
	case errors.Is(err, credits.ErrCap):
		return problem.Wrap(err, problem.InsufficientCredits,
			"the key has reached its own spending cap%s; nothing was charged", price(err))
	case errors.Is(err, credits.ErrInsufficient), errors.Is(err, credits.ErrUnknownAccount):
		return problem.Wrap(err, problem.InsufficientCredits, "the balance does not cover this call%s; nothing was charged",
			price(err))
	case errors.Is(err, keys.ErrUnknown), errors.Is(err, account.ErrNone):
		return problem.Wrap(err, problem.Unauthorized, "a valid API key is required")
	case errors.Is(err, providers.ErrNotFound):
		return problem.Wrap(err, problem.NotFound, "%s", upstreams.Detail(err, on+" has no such thing"))
	case errors.Is(err, providers.ErrInvalid):
		return problem.Wrap(err, problem.InvalidRequest, "%s", upstreams.Detail(err, on+" cannot use this input"))
	case errors.Is(err, providers.ErrCursor):
		return problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")
	case errors.Is(err, watch.ErrAbsent):
		return problem.Wrap(err, problem.NotFound, "the account has no monitor of that name")
	case errors.Is(err, watch.ErrFull):
		return problem.Wrap(err, problem.InvalidRequest, "the account has the maximum number of monitors; end one first")
	case errors.Is(err, watch.ErrMembersFull):
		return problem.Wrap(err, problem.InvalidRequest, "the panels of the account would have too many members in total; "+
			"end one first, or leave members out")
	case errors.Is(err, watch.ErrNoEndpoint):
		return problem.Wrap(err, problem.NotFound, "the account has no endpoint of that name")
	case errors.Is(err, watch.ErrNoDelivery):
		return problem.Wrap(err, problem.NotFound, "the account has no such delivery, or its change is no longer stored")
	case errors.Is(err, watch.ErrEndpointsFull):
		return problem.Wrap(err, problem.InvalidRequest, "the account has the maximum number of endpoints; end one first")
	case errors.Is(err, bulkjob.ErrAbsent):
		return problem.Wrap(err, problem.NotFound, "the account has no bulk job of that name")
	case errors.Is(err, bulkjob.ErrConflict):
		return problem.Wrap(err, problem.InvalidRequest, "a bulk job of that name, with another file or other options, is not "+
			"done: stop it first, or choose another name")
	case errors.Is(err, bulkjob.ErrFull):
		return problem.Wrap(err, problem.InvalidRequest, "the account has the maximum number of bulk jobs that are not done; "+
			"wait for one, or stop one first")
	case errors.Is(err, watch.ErrInvalid):
		return problem.Wrap(err, problem.InvalidRequest, "%s", strings.TrimPrefix(err.Error(), watch.ErrInvalid.Error()+": "))
	case upstreams.OnlyTimeouts(err):
		return problem.Wrap(err, problem.UpstreamTimeout, "%s did not answer %sin time",
			on, problem.Phrase{HTTP: o.RouteOf(call) + " ", Command: o.Name + " "})
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return problem.Wrap(err, problem.UpstreamTimeout, "the caller stopped waiting%s",
			problem.Phrase{HTTP: " for " + o.RouteOf(call), Command: " for " + o.Name})
	case upstream != nil, errors.Is(err, providers.ErrUnavailable):
		p := problem.Wrap(err, problem.PlatformUnavailable, "%s%s", o.Prefix(call),
			upstreams.Detail(err, "the upstream failed"))
		if upstream != nil {
			p.RetryAfter = upstream.RetryAfter
		}
		return p
	}
	return problem.Wrap(err, problem.InternalError, "something went wrong on our side")
}

// explain returns the error of one platform in a search of several: the same as for a search of that platform alone.
func (e *Engine) explain(on platform.ID, err error) schema.PlatformError {
	p := problemOf(e.reads(providers.OpSearch).Operation, operation.Call{Platform: string(on)}, err)
	return schema.PlatformError{Code: p.Code, Detail: p.Detail}
}

// storeWords names a store in a problem.
func storeWords(store string) string {
	if store == "ledger" {
		return store
	}
	return "store of " + store
}

// price returns the price of the call and what the account can spend, in words; "" if that is not known.
func price(err error) string {
	short, ok := errors.AsType[*account.ShortError](err)
	if !ok {
		return ""
	}
	credits := "credits"
	if short.Price == 1 {
		credits = "credit"
	}
	return fmt.Sprintf(": it costs up to %d %s, and the account can spend %d", short.Price, credits, short.Balance)
}
