package socialdata

import (
	"cmp"
	"context"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// Operator is for the operator of an engine and concerns all accounts. Every error of an erasure is a *[problem.Error].
type Operator struct{ session *engine.Session }

// Accounts are all accounts. The store of [WithKeys] must be a [keys.Admin] and the ledger a [credits.Granter]; with any
// others every call is platform_unavailable.
func (o Operator) Accounts() accounts.All { return accounts.Over(local{o.session}) }

// Quotas returns the state of the limits of upstreams, by platform, provider and name of the limit: the size of each,
// how much is left, and when it resets. With a durable store of records it survives a restart and includes the use of
// all processes; without one each process counts separately.
func (o Operator) Quotas() []observe.Quota { return o.session.Quotas() }

// Drift returns how upstream answers have deviated from their schema since the client was made, by platform, operation
// and field: where, but never the values. Health reports a platform as degraded when many of its recent answers have
// deviated, and [WithObserver] reports each deviation as it comes.
func (o Operator) Drift() []observe.Drifted { return o.session.Drifted() }

// Requests returns up to limit of the last calls of an account, or of all for "", newest first. It ignores req.Cursor,
// and returns the errors of the store of [WithRequests].
func (o Operator) Requests(
	ctx context.Context, account string, req accounts.RequestsRequest, limit int,
) ([]requests.Request, error) {
	return o.session.LastRequests(ctx, requests.Query{
		Account: account, Key: req.KeyID, Operation: req.Operation, Platform: string(req.Platform), ID: req.RequestID,
		Status: req.Status, Limit: limit,
	})
}

// Changes returns up to limit of the last changes of an account, newest first. It ignores the cursor and wait of req.
func (o Operator) Changes(
	ctx context.Context, account string, req accounts.ChangesRequest, limit int,
) ([]schema.Change, error) {
	return o.session.LastChanges(ctx, watch.Since{
		Account: account, Monitor: req.Monitor, Type: req.Type, From: req.Since, Limit: limit,
	})
}

// QuoteMonitor returns what [accounts.Monitors.Make] would make for a key, with its price. It fails as Make does.
func (o Operator) QuoteMonitor(ctx context.Context, key keys.Key, req accounts.WatchRequest) (schema.Monitor, error) {
	session := o.session.As(&key)
	return session.Monitors().Quote(ctx, req.Name, req.Spec())
}

// Jobs returns up to limit of the stored jobs of one account, or of all accounts for "", newest first, and how many
// there are; of very many only some are read. It returns the errors of the store of [WithRecords].
func (o Operator) Jobs(ctx context.Context, account string, limit int) (jobs []observe.Job, of int, err error) {
	return o.session.Jobs(ctx, account, limit)
}

// BulkJobs returns up to limit bulk jobs of an account, or of all for "", newest first. It fails without [WithBulk].
func (o Operator) BulkJobs(ctx context.Context, account string, limit int) ([]observe.BulkJob, error) {
	return o.session.BulkJobs(ctx, account, limit)
}

// Rollups returns the usage that q selects, of one account or, when q names none, of all: if the store of [WithKeys] is
// no [keys.Admin], of those that this process has charged. It returns the errors of ledger and request log.
func (o Operator) Rollups(ctx context.Context, q requests.SumQuery) ([]requests.Rollup, error) {
	return o.session.Rollups(ctx, q)
}

// Erase erases an account or an object: before it returns, its data is removed from the cache, the records and the
// stores of [WithErasures], and from the memory of every process that shares them. The receipt counts what was removed,
// by kind, and the items of others that mention it and stay; it contains no name. Cached pages of others that contain
// the subject are removed completely, and read again.
//
// It fails when a live process does not confirm within five seconds, or when a store is unavailable: call it again to
// complete the erasure.
func (o Operator) Erase(ctx context.Context, req schema.EraseRequest) (privacy.Receipt, error) {
	req.By = cmp.Or(req.By, "program")
	receipt, err := o.session.Erase(ctx, req)
	return receipt, asProblem(err)
}

// Unblock allows reading what was erased with Block. Block and DryRun are ignored.
func (o Operator) Unblock(ctx context.Context, req schema.EraseRequest) (privacy.Receipt, error) {
	req.Block, req.DryRun, req.By = false, false, cmp.Or(req.By, "program")
	receipt, err := o.session.Unblock(ctx, req)
	return receipt, asProblem(err)
}

// Erasures returns up to limit receipts after the number after, oldest first; 0 is no limit.
func (o Operator) Erasures(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	receipts, err := o.session.Erasures(ctx, after, limit)
	return receipts, asProblem(err)
}

// VerifyErasures verifies that no receipt is missing or was changed, and returns their number. It fails with an error
// that wraps [privacy.ErrBroken].
func (o Operator) VerifyErasures(ctx context.Context) (n int64, err error) {
	n, err = o.session.VerifyErasures(ctx)
	return n, asProblem(err)
}

// asProblem makes a problem of an error of an erasure, with its reason, which the operator may see.
func asProblem(err error) error {
	if _, ok := err.(*problem.Error); ok || err == nil { //nolint:errorlint // one that is wrapped says less than what wraps it
		return err
	}
	return problem.Wrap(err, problem.PlatformUnavailable, "the erasure is not complete: %s; erase again", err)
}
