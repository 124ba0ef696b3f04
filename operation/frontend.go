package operation

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// Caller makes calls of operations with their parameters as text, and changes of the account. Every error of its
// methods is a *[problem.Error].
type Caller interface {
	// Do makes a call of the row with o's name.
	Do(ctx context.Context, o *Operation, call Call) (*Answer, error)
	// Stream makes a call of the row with o's name, which must stream, and calls yield with each event until yield
	// returns false.
	Stream(ctx context.Context, o *Operation, call Call, yield func(Event) bool) error
	// Change makes a change. Target is its key, monitor, endpoint or delivery, body points to a value of the change's
	// Body, or is nil, and the answer is a pointer to one of its Answer. isNew reports whether something was made.
	Change(ctx context.Context, change *Change, target string, body any) (answer any, isNew bool, err error)
}

// FeedPath is the path of HTTP below which feeds of monitors are served: their tokens follow, and the ending of a form.
const FeedPath = "/feeds/"

// Feed is the feed of a monitor: the newest of its changes of the type new.
type Feed struct {
	Monitor   string          // its name
	CreatedAt time.Time       // of the monitor
	Items     []schema.Change // newest first
}

// FrontEnd is what a front end needs of an engine. It is bound to the same caller as the client that it was made from.
type FrontEnd interface {
	Caller
	// Admit counts one call in the rate limit of the caller's key. The allowance is the state of the bucket in any case;
	// when the bucket is empty the error is a rate_limited problem.
	Admit(ctx context.Context) (keys.Allowance, error)
	// AdmitMore counts n more calls, for a call that has been admitted and counts as several; front ends pass it to
	// [Call] as More. If the bucket has fewer, the error is a rate_limited problem, and none is taken.
	AdmitMore(ctx context.Context, n int) (keys.Allowance, error)
	// Once makes a change of the caller's account once for an idempotency key within a day; request identifies the
	// request. A call that repeats an earlier one gets the answer of its do, with replayed set; one that comes while that
	// is in progress waits for it. The answer is stored, so it must not contain a secret. An error of do is returned
	// unchanged, and nothing is stored.
	Once(
		ctx context.Context, idempotencyKey, request string, do func(context.Context) (answer []byte, err error),
	) (answer []byte, replayed bool, err error)
	// Feed returns the feed of a monitor whose address ends in token, to any caller; if there is none, the error is a
	// not_found problem.
	Feed(ctx context.Context, token string) (Feed, error)
	// KnowsKeys reports whether there is a store of keys, without which no key can be authenticated.
	KnowsKeys() bool
	// Alone reports whether there is at most one account, so that no caller can take what others need. A second one may
	// be noticed up to a minute late.
	Alone(ctx context.Context) bool
	// Now returns the time by the client's clock.
	Now() time.Time
	// PlatformTable returns the known platforms: those of the specification and those of the program.
	PlatformTable() *platform.Table
	// PageSizes returns, by operation, the maximum number of items in a page of each list of a platform. Lists whose
	// size is decided by the platform are missing.
	PageSizes(id platform.ID) map[string]int
	// Unerased returns s for a front end that stores answers in it: a record is not written, with an error, if someone in
	// it is blocked or was erased since the call in the context began. A call begins with [callctx.Begin].
	Unerased(s records.Store) records.Store
}
