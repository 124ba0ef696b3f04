package erasure

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
)

const (
	// allPatience is how long an erasure waits until all processes have reached its epoch.
	allPatience = 5 * time.Second
	lookEvery   = 20 * time.Millisecond
	// mostRounds is the maximum number of rounds through the stores, because each may find another id of the account.
	mostRounds = 8
)

// Request is what is to be erased or unblocked.
type Request struct {
	Platform   platform.ID
	Handle, ID string // one of them, normalized
	Block      bool
	DryRun     bool
	By, Reason string
	Ended      func(account, monitor string) // see [privacy.Subject.Ended]
}

// SilentError means that an erasure may not be complete, because some processes have not confirmed it.
type SilentError struct{ Processes []string }

// Error implements error.
func (e *SilentError) Error() string {
	return fmt.Sprintf("not all processes have confirmed the erasure within %v: %s; erase again", allPatience,
		strings.Join(e.Processes, ", "))
}

// errUnread means that the list has never been read.
var errUnread = errors.New("the list of erased and blocked accounts cannot be read")

// Erase erases a subject from the stores and from every process, and returns the receipt. A dry run removes nothing and
// has no receipt: only its counts are set. An erasure that has failed can be repeated.
func (k *Keeper) Erase(ctx context.Context, stores []privacy.Eraser, r Request) (privacy.Receipt, error) {
	h := k.Hasher()
	if h == nil {
		return privacy.Receipt{}, errUnread
	}
	s := h.Subject(r.Platform, r.Handle, r.ID)
	if s.DryRun = r.DryRun; r.DryRun {
		return k.dryRun(ctx, stores, s, r)
	}
	s.Ended = r.Ended
	receipt, err := k.note(ctx, s, r, privacy.Receipt{Kind: privacy.Begun})
	if err != nil {
		return receipt, err
	}
	removed, before := map[string]int{}, k.forgot.Load()
	if err := k.erase(ctx, stores, s, r.Block, removed); err != nil {
		return receipt, err
	}
	privacy.Add(removed, map[string]int{cache.Erased: int(k.forgot.Load() - before)})
	stay, err := mentions(ctx, stores, s)
	if err != nil {
		return receipt, err
	}
	return k.note(ctx, s, r, privacy.Receipt{Kind: privacy.Done, Removed: removed, Mentions: stay})
}

// dryRun returns what a receipt of an erasure would count.
func (k *Keeper) dryRun(
	ctx context.Context, stores []privacy.Eraser, s privacy.Subject, r Request,
) (privacy.Receipt, error) {
	receipt := privacy.Receipt{
		At: time.Now().UTC(), By: r.By, Kind: privacy.DryRun, Platform: string(r.Platform), Block: r.Block, Reason: r.Reason,
	}
	var err error
	if receipt.Removed, err = count(ctx, stores, s); err == nil {
		receipt.Mentions, err = mentions(ctx, stores, s)
	}
	return receipt, err
}

// mentions counts the data that mentions s and is not erased, in the stores that can count it.
func mentions(ctx context.Context, stores []privacy.Eraser, s privacy.Subject) (sum int, err error) {
	for _, store := range stores {
		if c, ok := store.(privacy.MentionCounter); ok {
			n, err := c.Mentions(ctx, s)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}

// erase erases from the stores until no other name of the subject is found. The announcement before that makes all
// processes drop pending writes about it; the one after it makes them forget data that they have read meanwhile.
func (k *Keeper) erase(
	ctx context.Context, stores []privacy.Eraser, s privacy.Subject, block bool, removed map[string]int,
) error {
	if err := k.announce(ctx, s, block); err != nil {
		return err
	}
	for range mostRounds {
		names := s.Len()
		for _, store := range stores {
			found, err := store.Erase(ctx, s)
			privacy.Add(removed, found)
			if err != nil {
				return err
			}
		}
		if err := k.announce(ctx, s, block); err != nil {
			return err
		}
		if s.Len() == names {
			return k.scrub(ctx)
		}
	}
	return fmt.Errorf("the account has more than %d ids", mostRounds)
}

// count counts what an erasure would remove. Each round counts everything, because only the last one knows all names.
func count(ctx context.Context, stores []privacy.Eraser, s privacy.Subject) (removed map[string]int, err error) {
	for range mostRounds {
		names := s.Len()
		removed = map[string]int{}
		for _, store := range stores {
			found, err := store.Erase(ctx, s)
			if err != nil {
				return nil, err
			}
			privacy.Add(removed, found)
		}
		if s.Len() == names {
			break
		}
	}
	return removed, nil
}

// scrub makes what was removed unreadable, if a store supports that.
func (k *Keeper) scrub(ctx context.Context) error {
	if list, ok := k.cfg.List.(interface{ Scrub(context.Context) error }); ok {
		return list.Scrub(ctx)
	}
	return nil
}

// note writes a receipt with the given kind and numbers.
func (k *Keeper) note(
	ctx context.Context, s privacy.Subject, r Request, receipt privacy.Receipt,
) (privacy.Receipt, error) {
	digest := k.Hasher().Digest(s)
	receipt.At, receipt.By, receipt.Platform = time.Now(), r.By, string(r.Platform)
	receipt.Subject, receipt.Block, receipt.Reason = hex.EncodeToString(digest[:]), r.Block, r.Reason
	if receipt.Removed == nil {
		receipt.Removed = map[string]int{}
	}
	if receipt.Kind == privacy.Done {
		var err error
		if receipt.Attempts, err = privacy.Attempts(ctx, k.cfg.List, receipt.Subject); err != nil {
			return receipt, err
		}
	}
	return k.cfg.List.Append(ctx, receipt)
}

// announce announces the names of a subject and waits until every process has reached the new epoch.
func (k *Keeper) announce(ctx context.Context, s privacy.Subject, block bool) error {
	a := privacy.Announcement{Digest: k.Hasher().Digest(s), Erased: s.List()}
	if block {
		a.Block = s.Own()
	}
	return k.spread(ctx, a)
}

// spread makes an announcement and waits until every process has reached the new epoch.
func (k *Keeper) spread(ctx context.Context, a privacy.Announcement) error {
	epoch, err := k.cfg.List.Announce(ctx, a)
	if err != nil {
		return err
	}
	if err := k.look(ctx, k.cfg.List.Epoch); err != nil {
		return err
	}
	if !k.shared {
		return nil
	}
	limit := time.Now().Add(allPatience)
	for {
		behind, err := k.behind(ctx, epoch)
		if err != nil || len(behind) == 0 {
			return err
		}
		if time.Now().After(limit) {
			return &SilentError{behind}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// behind returns the live processes that have not reached an epoch.
func (k *Keeper) behind(ctx context.Context, epoch int64) (ids []string, err error) {
	living, err := k.cfg.List.Living(ctx)
	for _, p := range living {
		if p.Epoch < epoch {
			ids = append(ids, p.ID)
		}
	}
	return slices.Clip(ids), err
}

// Unblock allows reading a subject again, and removes stored answers from which it was left out, so that they are read
// again.
func (k *Keeper) Unblock(ctx context.Context, stores []privacy.Eraser, r Request) (privacy.Receipt, error) {
	h := k.Hasher()
	if h == nil {
		return privacy.Receipt{}, errUnread
	}
	s := h.Subject(r.Platform, r.Handle, r.ID)
	before := k.now.Load().blocked
	digest := h.Digest(s)
	if err := k.spread(ctx, privacy.Announcement{Digest: digest, Unblock: true}); err != nil {
		return privacy.Receipt{}, err
	}
	after := k.now.Load().blocked
	var free []privacy.Name // names that are no longer blocked
	for _, name := range before.Names() {
		if !after.Has(name) {
			free = append(free, name)
		}
	}
	free = append(free, s.Own()...) // an earlier attempt may have failed here
	w := s.Withheld(free...)
	removed := map[string]int{}
	for _, store := range stores {
		found, err := store.Erase(ctx, w)
		privacy.Add(removed, found)
		if err != nil {
			return privacy.Receipt{}, err
		}
	}
	if err := k.spread(ctx, privacy.Announcement{Digest: digest, Erased: w.List(), Unblock: true}); err != nil {
		return privacy.Receipt{}, err
	}
	return k.note(ctx, s, r, privacy.Receipt{Kind: privacy.Unblocked, Removed: removed})
}

// Receipts returns receipts in the order of their numbers.
func (k *Keeper) Receipts(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	return k.cfg.List.Receipts(ctx, after, limit)
}

// Verify verifies that the receipts were not changed, and returns their number.
func (k *Keeper) Verify(ctx context.Context) (int64, error) { return privacy.Verify(ctx, k.cfg.List) }
