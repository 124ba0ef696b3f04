package socialdata

import (
	"cmp"
	"context"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
)

// EraseRequest says who or what is to be forgotten, for [Client.Erase] and [Client.Unblock]: one of Handle, ID and URL.
type EraseRequest struct {
	Platform platform.ID // may be left out with URL
	Handle   string      // an account, with all that it wrote and all that is said of it but mentions in texts of others
	ID       string      // one object, such as a post or a product, with what stands under it
	URL      string      // the address of an account or of an object
	Block    bool        // keep it out from now on: reads of it are not_found
	Reason   string      // why, for the receipt, which is kept for good; it must not say who
	DryRun   bool        // remove nothing, only count
	By       string      // who erases, for the receipt; "" means "program"
}

func (r EraseRequest) inner() engine.EraseRequest {
	return engine.EraseRequest{
		Platform: r.Platform, Handle: r.Handle, ID: r.ID, URL: r.URL, Block: r.Block, DryRun: r.DryRun,
		By: cmp.Or(r.By, "program"), Reason: r.Reason,
	}
}

// Erase forgets an account or an object: what is kept of it goes from the cache, the records and the stores of [WithErasures],
// and from the memory of every process that shares them, before Erase returns. The receipt says what was removed, by kind, and
// names no one. What is kept of it in entries of others' pages goes with those pages: they are read anew. Erasing is for
// the operator: it concerns all accounts, and needs no key.
//
// It fails when a process that lives does not answer in five seconds, or when a store cannot be reached: then erase again,
// which ends the work. Every error is a *[problem.Error].
func (c *Client) Erase(ctx context.Context, req EraseRequest) (privacy.Receipt, error) {
	receipt, err := c.session.Erase(ctx, req.inner())
	return receipt, asProblem(err)
}

// Unblock lets what was erased with Block be read again. Block, DryRun and Reason but for its words are ignored. Every error
// is a *[problem.Error].
func (c *Client) Unblock(ctx context.Context, req EraseRequest) (privacy.Receipt, error) {
	req.Block, req.DryRun = false, false
	receipt, err := c.session.Unblock(ctx, req.inner())
	return receipt, asProblem(err)
}

// Erasures returns the receipts behind the number after, oldest first, at most limit of them; 0 is no bound.
func (c *Client) Erasures(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	receipts, err := c.session.Erasures(ctx, after, limit)
	return receipts, asProblem(err)
}

// VerifyErasures proves that all receipts are there and as they were written, and returns how many there are. It fails with
// an error that wraps [privacy.ErrBroken].
func (c *Client) VerifyErasures(ctx context.Context) (n int64, err error) {
	n, err = c.session.VerifyErasures(ctx)
	return n, asProblem(err)
}

// asProblem makes a problem of an error of an erasure. The operator may see why.
func asProblem(err error) error {
	if err == nil {
		return nil
	}
	if p, ok := err.(*problem.Error); ok { //nolint:errorlint // one that is wrapped says less than what wraps it
		return p
	}
	return problem.Wrap(err, problem.PlatformUnavailable, "the erasure is not complete: %s; erase again", err)
}
