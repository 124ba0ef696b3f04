package socialdata

import (
	"cmp"
	"context"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/store/records"
)

// EraseRequest names who or what is to be erased, for [Client.Erase] and [Client.Unblock], by one of Handle, ID and
// URL.
type EraseRequest struct {
	Platform platform.ID // can be left out with URL
	Handle   string      // an account, with what it wrote and what is about it, except mentions in others' texts
	ID       string      // one object, such as a post or a product, with what belongs to it
	URL      string      // the URL of an account or of an object
	Block    bool        // also block it from now on: reads of it are not_found
	Reason   string      // for the receipt, which is kept permanently; must not contain a name
	DryRun   bool        // remove nothing, only count
	By       string      // what requests the erasure, for the receipt; "" means "program"
}

func (r EraseRequest) inner() engine.EraseRequest {
	return engine.EraseRequest{
		Platform: r.Platform, Handle: r.Handle, ID: r.ID, URL: r.URL, Block: r.Block, DryRun: r.DryRun,
		By: cmp.Or(r.By, "program"), Reason: r.Reason,
	}
}

// Erase erases an account or an object: before it returns, its data is removed from the cache, the records and the
// stores of [WithErasures], and from the memory of every process that shares them. The receipt counts what was removed,
// by kind, and the items of others that mention it and stay; it contains no name. Cached pages of others that contain
// the subject are removed completely, and read again. Erasing is for the operator: it concerns all accounts, and needs
// no key.
//
// It fails when a live process does not confirm within five seconds, or when a store is unavailable: call it again to
// complete the erasure. Every error is a *[problem.Error].
func (c *Client) Erase(ctx context.Context, req EraseRequest) (privacy.Receipt, error) {
	receipt, err := c.session.Erase(ctx, req.inner())
	return receipt, asProblem(err)
}

// Unblock allows reading what was erased with Block. Block and DryRun are ignored. Every error is a *[problem.Error].
func (c *Client) Unblock(ctx context.Context, req EraseRequest) (privacy.Receipt, error) {
	req.Block, req.DryRun = false, false
	receipt, err := c.session.Unblock(ctx, req.inner())
	return receipt, asProblem(err)
}

// Unerased returns s for a front end that stores answers in it: a record is not written, with an error, if someone in
// it is blocked or was erased since the call in the context began. A call begins with [operation.WithRequestID].
func (c *Client) Unerased(s records.Store) records.Store { return c.session.Unerased(s) }

// Erasures returns up to limit receipts after the number after, oldest first; 0 is no limit.
func (c *Client) Erasures(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	receipts, err := c.session.Erasures(ctx, after, limit)
	return receipts, asProblem(err)
}

// VerifyErasures verifies that no receipt is missing or was changed, and returns their number. It fails with an error
// that wraps [privacy.ErrBroken].
func (c *Client) VerifyErasures(ctx context.Context) (n int64, err error) {
	n, err = c.session.VerifyErasures(ctx)
	return n, asProblem(err)
}

// asProblem makes a problem of an error of an erasure, with its reason, which the operator may see.
func asProblem(err error) error {
	if err == nil {
		return nil
	}
	if p, ok := err.(*problem.Error); ok { //nolint:errorlint // one that is wrapped says less than what wraps it
		return p
	}
	return problem.Wrap(err, problem.PlatformUnavailable, "the erasure is not complete: %s; erase again", err)
}
