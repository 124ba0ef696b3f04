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
}

// SilentError means that an erasure may not be complete, because some processes have not confirmed it.
type SilentError struct{ Processes []string }

// Error implements error.
func (e *SilentError) Error() string {
	return fmt.Sprintf("not all processes have let go within %v: %s; erase again", allPatience,
		strings.Join(e.Processes, ", "))
}

// errUnread means that the list has never been read.
var errUnread = errors.New("the list of what is erased and blocked cannot be read")

// Erase erases a subject from the stores and from every process, and returns the receipt. A dry run removes nothing and
// has no receipt: only its counts are set. An erasure that has failed can be repeated.
func (k *Keeper) Erase(ctx context.Context, stores []privacy.Eraser, r Request) (privacy.Receipt, error) {
	h := k.Hasher()
	if h == nil {
		return privacy.Receipt{}, errUnread
	}
	s := h.Subject(r.Platform, r.Handle, r.ID)
	if s.DryRun = r.DryRun; r.DryRun {
		removed, err := count(ctx, stores, s)
		return privacy.Receipt{
			At: time.Now().UTC(), By: r.By, Kind: privacy.DryRun, Platform: string(r.Platform), Block: r.Block, Reason: r.Reason,
			Removed: removed,
		}, err
	}
	receipt, err := k.note(ctx, s, r, privacy.Begun, nil)
	if err != nil {
		return receipt, err
	}
	removed, before := map[string]int{}, k.forgot.Load()
	if err := k.erase(ctx, stores, s, r.Block, removed); err != nil {
		return receipt, err
	}
	privacy.Add(removed, map[string]int{cache.Erased: int(k.forgot.Load() - before)})
	return k.note(ctx, s, r, privacy.Done, removed)
}

// erase goes through the stores until no other name of the subject is found. The announcement before makes all
// processes drop what they would still write about it; the one after makes them forget what they have read meanwhile.
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

// note writes a receipt.
func (k *Keeper) note(
	ctx context.Context, s privacy.Subject, r Request, kind string, removed map[string]int,
) (privacy.Receipt, error) {
	digest := k.Hasher().Digest(s)
	receipt := privacy.Receipt{
		At: time.Now(), By: r.By, Kind: kind, Platform: string(r.Platform), Subject: hex.EncodeToString(digest[:]),
		Block: r.Block, Reason: r.Reason, Removed: removed,
	}
	if receipt.Removed == nil {
		receipt.Removed = map[string]int{}
	}
	if kind == privacy.Done {
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

// Unblock allows reading a subject again, and removes what was stored without it, so that it is made again.
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
	for name := range before {
		if _, ok := after[name]; !ok {
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
	return k.note(ctx, s, r, privacy.Unblocked, removed)
}

// Receipts returns receipts in the order of their numbers.
func (k *Keeper) Receipts(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	return k.cfg.List.Receipts(ctx, after, limit)
}

// Verify verifies that the receipts were not changed, and returns their number.
func (k *Keeper) Verify(ctx context.Context) (int64, error) { return privacy.Verify(ctx, k.cfg.List) }
