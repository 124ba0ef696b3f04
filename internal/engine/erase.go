package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/internal/erasure"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// maxReason is the maximum length of a reason, a handle or an id, in bytes.
const maxReason = 512

// Erase erases a subject. See [erasure.Keeper.Erase].
func (e *Engine) Erase(ctx context.Context, r schema.EraseRequest) (privacy.Receipt, error) {
	in, err := e.erasable(r)
	if err != nil {
		return privacy.Receipt{}, err
	}
	ended := map[[2]string]bool{}
	in.Ended = func(account, monitor string) { ended[[2]string{account, monitor}] = true }
	receipt, err := e.erased.Erase(ctx, e.erasers, in)
	for m := range ended {
		err = errors.Join(err, e.watching.erased(ctx, m[0], m[1], in))
	}
	return receipt, err
}

// erased reports in the feed of an account that one of its monitors has ended because what it watched was erased. It
// leaves out the name of the monitor if that contains the name of the subject.
func (w *watching) erased(ctx context.Context, account, monitor string, of erasure.Request) error {
	if _, err := w.store.Monitor(ctx, account, monitor); !errors.Is(err, watch.ErrAbsent) {
		return err // the erasure has failed before it ended
	}
	c := schema.Change{
		ID: "chg_" + rand.Text(), At: w.engine.cfg.Now().UTC(), Type: watch.Stopped, Fields: []schema.FieldChange{},
		Detail: new("what this monitor watched was erased at the request of its owner"),
	}
	panel, _, member := strings.Cut(monitor, "/")
	if member {
		c.Detail = new("a member of this panel was erased at the request of its owner")
	}
	if !strings.Contains(panel, strings.ToLower(cmp.Or(of.Handle, of.ID))) {
		c.Monitor = &panel
	}
	return w.store.Tell(ctx, account, []schema.Change{c})
}

// Unerased returns s with the checks of [erasure.Keeper.Records].
func (e *Engine) Unerased(s records.Store) records.Store { return e.erased.Records(s) }

// Unblock allows reading a subject again. See [erasure.Keeper.Unblock].
func (e *Engine) Unblock(ctx context.Context, r schema.EraseRequest) (privacy.Receipt, error) {
	in, err := e.erasable(r)
	if err != nil {
		return privacy.Receipt{}, err
	}
	return e.erased.Unblock(ctx, e.erasers, in)
}

// Erasures returns up to limit receipts after the number after, oldest first; 0 is no limit.
func (e *Engine) Erasures(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	return e.erased.Receipts(ctx, after, limit)
}

// VerifyErasures verifies that the receipts were not changed, and returns their number.
func (e *Engine) VerifyErasures(ctx context.Context) (int64, error) { return e.erased.Verify(ctx) }

// erasable normalizes the subject like a read does. All errors are invalid_request or not_found problems.
func (e *Engine) erasable(r schema.EraseRequest) (out erasure.Request, err error) {
	given := 0
	for _, v := range []string{r.Handle, r.ID, r.URL} {
		if v != "" {
			given++
		}
	}
	if given != 1 {
		return out, problem.New(problem.InvalidRequest, "give one of handle, id and url")
	}
	out = erasure.Request{Platform: r.Platform, Block: r.Block, DryRun: r.DryRun, By: r.By, Reason: r.Reason}
	if r.URL != "" {
		if out.Platform, out.Handle, out.ID, err = e.named(r); err != nil {
			return out, err
		}
	} else {
		if !e.cfg.Platforms.Has(r.Platform) {
			return out, e.reader.NoPlatform(problem.InvalidRequest, `"platform": `, string(r.Platform))
		}
		if out.Handle, err = e.reduced(r.Platform, providers.Handle, "handle", r.Handle); err != nil {
			return out, err
		}
		if out.ID, err = e.reducedID(r.Platform, r.ID); err != nil {
			return out, err
		}
	}
	return out, checkReason(out)
}

// named returns the subject that a URL names.
func (e *Engine) named(r schema.EraseRequest) (on platform.ID, handle, id string, err error) {
	found, err := e.resolver.Text(r.URL)
	if err != nil {
		return "", "", "", err
	}
	if r.Platform != "" && r.Platform != found.Platform {
		return "", "", "", problem.New(problem.InvalidRequest, "the address belongs to %s, not to %s", found.Platform,
			r.Platform)
	}
	for _, c := range found.Calls {
		row := e.rows[c.Operation.Name]
		for _, pair := range c.Params {
			for i := range row.Params {
				switch p := &row.Params[i]; {
				case p.Name != pair.Name || p.Subject == "":
				case p.Subject == providers.Handle:
					return found.Platform, pair.Value, "", nil
				default:
					return found.Platform, "", pair.Value, nil
				}
			}
		}
	}
	return "", "", "", problem.New(problem.InvalidRequest, "the address names neither an account nor an object")
}

// reduced normalizes a name, like a read does.
func (e *Engine) reduced(on platform.ID, s providers.Subject, name, value string) (string, error) {
	if value = strings.TrimSpace(value); value == "" {
		return "", nil
	}
	if len(value) > maxReason || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", problem.New(problem.InvalidRequest, "%q must have at most %d bytes and no control characters", name,
			maxReason)
	}
	canonical, _, err := e.upstreams.Normalize(on, s, value)
	if err != nil {
		return "", problem.Wrap(err, problem.InvalidRequest, "%q: %s", name, upstreams.Detail(err, "cannot be read"))
	}
	return canonical, nil
}

// reducedID normalizes the id of an object of an unknown type: it is used unchanged unless it is a URL.
func (e *Engine) reducedID(on platform.ID, id string) (string, error) {
	if u, err := url.Parse(id); err == nil && u.Host != "" {
		return "", problem.New(problem.InvalidRequest, "\"id\" must be an id; pass an address as url")
	}
	if id = strings.TrimSpace(id); id == "" {
		return "", nil
	}
	if reduced, err := e.reduced(on, providers.PostID, "id", id); err == nil {
		return reduced, nil
	}
	return id, nil // a URL of something other than a post
}

// checkReason refuses a reason that contains the subject, because it is stored permanently.
func checkReason(r erasure.Request) error {
	if len(r.Reason) > maxReason {
		return problem.New(problem.InvalidRequest, "\"reason\" must have at most %d bytes", maxReason)
	}
	for _, name := range []string{r.Handle, r.ID} {
		if name != "" && strings.Contains(strings.ToLower(r.Reason), strings.ToLower(name)) {
			return problem.New(problem.InvalidRequest, "\"reason\" must not name the person or object that is erased: it is stored permanently")
		}
	}
	return nil
}
