package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

const (
	keysPage = 100
	mostKeys = 1000 // maximum number of valid keys of an account, and of keys that it makes in a day
)

// managingKeys is the operation in logs and problems of changes of keys.
var managingKeys = &operation.Operation{Name: "keys", Path: "/manage/keys/{name}", Service: true}

// errNoKeys means that the key store cannot list or change keys.
var errNoKeys = problem.New(problem.PlatformUnavailable,
	"the key store of this service does not support listing or changing keys")

// AccountKeys makes, changes, rotates and revokes the keys of the session's account.
type AccountKeys struct{ session *Session }

// Keys returns the keys of the session's account.
func (s *Session) Keys() AccountKeys { return AccountKeys{s} }

// admin returns the store of keys for changes, and the account whose keys the session can use.
func (a AccountKeys) admin() (store keys.Admin, owner string, err error) {
	key := a.session.who.Key()
	if key == nil {
		return nil, "", account.ErrNone
	}
	store, ok := a.session.accounts.Keys.(keys.Admin)
	if !ok {
		return nil, "", errNoKeys
	}
	return store, key.Account, nil
}

// storedKeys translates an error of the key store for callers.
func storedKeys(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.Is(err, keys.ErrAbsent):
		return problem.Wrap(err, problem.NotFound, "the account has no such key")
	case errors.Is(err, keys.ErrInvalid), errors.Is(err, keys.ErrTaken):
		return problem.Wrap(err, problem.InvalidRequest, "%s", strings.TrimPrefix(err.Error(), keys.ErrInvalid.Error()+": "))
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	return &account.UnavailableError{Store: "keys", Err: err}
}

// listKeys returns a page of the account's keys, oldest first.
func listKeys(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	in, err := call.Bind(row.Params)
	if err != nil {
		return nil, err
	}
	store, owner, err := s.Keys().admin()
	if err != nil {
		return nil, err
	}
	bound := boundTo(row, owner, in)
	after, err := s.position(ctx, bound, in)
	if err != nil {
		return nil, err
	}
	bounded, cancel := s.bounded(ctx)
	defer cancel()
	found, err := store.Keys(bounded, owner)
	if err != nil {
		return nil, storedKeys(ctx, err)
	}
	if after != "" {
		at := slices.IndexFunc(found, func(k keys.Key) bool { return k.ID == after })
		if at < 0 {
			return nil, cursor.ErrInvalid
		}
		found = found[at+1:]
	}
	now := s.cfg.Now()
	out, next := pageOf(found, in.Limit(keysPage),
		func(k *keys.Key) string { return k.ID }, func(k *keys.Key) schema.Key { return shownKey(k, now) })
	return s.paged(ctx, call, out, bound, next)
}

// KeyWish is the definition of a key by its account. A nil limit means the highest allowed one.
type KeyWish struct {
	Name        string
	Environment keys.Environment // "" means live for a new key, and no change for an existing one
	Limits      keys.Limits
	Manage      bool
}

// Put makes a key, or changes the one with that name, and reports whether it is new.
func (a AccountKeys) Put(ctx context.Context, w KeyWish) (k schema.MadeKey, made bool, err error) {
	ctx, id := named(ctx, "")
	k, made, err = a.put(ctx, w)
	return k, made, a.fail(ctx, id, err)
}

// Set changes the key with that id. The name in w is ignored.
func (a AccountKeys) Set(ctx context.Context, key string, w KeyWish) (out schema.Key, err error) {
	ctx, id := named(ctx, "")
	store, k, bounded, cancel, err := a.own(ctx, key)
	if err == nil {
		defer cancel()
		var changed schema.MadeKey
		if err = a.outranks(k); err == nil {
			changed, err = a.change(bounded, store, k, w)
		}
		out, err = changed.Key, storedKeys(ctx, err)
	}
	return out, a.fail(ctx, id, err)
}

// Revoke revokes the key with that id permanently.
func (a AccountKeys) Revoke(ctx context.Context, key string) (schema.Key, error) {
	ctx, id := named(ctx, "")
	k, err := a.revoke(ctx, key)
	return k, a.fail(ctx, id, err)
}

// Rotate gives the key with that id a new secret. The previous one is accepted for overlap.
func (a AccountKeys) Rotate(ctx context.Context, key string, overlap time.Duration) (schema.MadeKey, error) {
	ctx, id := named(ctx, "")
	k, err := a.rotate(ctx, key, overlap)
	return k, a.fail(ctx, id, err)
}

// fail translates err for the caller and logs it, as [Session.fail] does; it returns nil for nil.
func (a AccountKeys) fail(ctx context.Context, requestID string, err error) error {
	if err == nil {
		return nil
	}
	return a.session.fail(ctx, managingKeys, operation.Call{RequestID: requestID}, err)
}

func (a AccountKeys) put(ctx context.Context, w KeyWish) (made schema.MadeKey, isNew bool, err error) {
	store, owner, err := a.admin()
	if err != nil {
		return made, false, err
	}
	if w.Environment != "" && w.Environment != keys.Live && w.Environment != keys.Test {
		return made, false, problem.New(problem.InvalidRequest, "environment must be live or test")
	}
	bounded, cancel := a.session.bounded(ctx)
	defer cancel()
	for {
		all, err := store.Keys(bounded, owner)
		if err == nil {
			err = keys.CheckName(w.Name)
		}
		if err != nil {
			return made, false, storedKeys(ctx, err)
		}
		same := slices.DeleteFunc(slices.Clone(all), func(k keys.Key) bool { return k.Name != w.Name || k.RevokedAt != nil })
		switch len(same) {
		case 0:
			made, err = a.create(bounded, store, owner, all, w)
			if errors.Is(err, keys.ErrTaken) {
				continue // another call has made it meanwhile
			}
			return made, err == nil, storedKeys(ctx, err)
		case 1:
			if a.outranks(same[0]) != nil {
				return made, false, problem.New(problem.InvalidRequest, "this name is taken")
			}
			made, err = a.change(bounded, store, same[0], w)
			return made, false, storedKeys(ctx, err)
		}
		return made, false, problem.New(problem.InvalidRequest,
			"the account has %d keys of this name; revoke all but one of them by their ids first", len(same))
	}
}

// create makes a key with limits that do not exceed those of the session's own key.
func (a AccountKeys) create(
	ctx context.Context, store keys.Admin, owner string, all []keys.Key, w KeyWish,
) (schema.MadeKey, error) {
	working, young, today := 0, 0, a.session.cfg.Now().Add(-24*time.Hour)
	for _, k := range all {
		if k.RevokedAt == nil {
			working++
		}
		if k.CreatedAt.After(today) {
			young++
		}
	}
	if max(working, young) >= mostKeys {
		return schema.MadeKey{}, problem.New(problem.InvalidRequest,
			"the account has the maximum of %d keys, or has made as many within a day; change or rotate one of them",
			mostKeys)
	}
	bounds := a.session.who.Key().Most()
	limits, err := a.allowed(w.Limits, bounds)
	if err != nil {
		return schema.MadeKey{}, err
	}
	secret, k, err := store.CreateKey(ctx, keys.NewKey{
		Account: owner, Name: w.Name, Environment: cmp.Or(w.Environment, keys.Live), Rate: limits.Rate, DayCap: limits.DayCap,
		TotalCap: limits.TotalCap, Manage: w.Manage, Bounds: &bounds, Unique: true,
	})
	if err != nil {
		return schema.MadeKey{}, err
	}
	return schema.MadeKey{Key: shownKey(&k, a.session.cfg.Now()), Secret: &secret}, nil
}

// change changes a key within its limits.
func (a AccountKeys) change(ctx context.Context, store keys.Admin, k keys.Key, w KeyWish) (schema.MadeKey, error) {
	if w.Environment != "" && w.Environment != k.Environment {
		return schema.MadeKey{},
			problem.New(problem.InvalidRequest, "the key is a %s key, and its environment cannot be changed; make another key", k.Environment)
	}
	k, err := store.Change(ctx, k.ID, func(k *keys.Key) error {
		bounds := k.Most()
		limits, err := a.allowed(w.Limits, bounds)
		if err != nil {
			return err
		}
		k.Rate, k.DayCap, k.TotalCap, k.Bounds, k.Manage = limits.Rate, limits.DayCap, limits.TotalCap, &bounds, w.Manage
		return nil
	})
	return schema.MadeKey{Key: shownKey(&k, a.session.cfg.Now())}, err
}

// allowed returns the limits in want, with those in most for nil ones. It fails if one is higher than in most.
func (a AccountKeys) allowed(want, most keys.Limits) (keys.Limits, error) {
	want.Rate, want.DayCap, want.TotalCap = cmp.Or(want.Rate, most.Rate), cmp.Or(want.DayCap, most.DayCap),
		cmp.Or(want.TotalCap, most.TotalCap)
	return want, cmp.Or(want.Check(), want.Within(most, a.session.accounts.Rate))
}

func (a AccountKeys) revoke(ctx context.Context, id string) (out schema.Key, err error) {
	store, k, bounded, cancel, err := a.own(ctx, id)
	if err != nil {
		return out, err
	}
	defer cancel()
	k, err = store.Revoke(bounded, id)
	if err != nil {
		return out, storedKeys(ctx, err)
	}
	a.session.accountEvents.keyRevoked(k.Account)
	return shownKey(&k, a.session.cfg.Now()), nil
}

func (a AccountKeys) rotate(ctx context.Context, id string, overlap time.Duration) (out schema.MadeKey, err error) {
	if overlap < 0 || overlap > keys.LongestOverlap {
		return out, problem.New(problem.InvalidRequest, "overlap must be 0 to %d hours", int(keys.LongestOverlap.Hours()))
	}
	store, k, bounded, cancel, err := a.own(ctx, id)
	if err != nil {
		return out, err
	}
	defer cancel()
	if err := a.outranks(k); err != nil {
		return out, err
	}
	secret, k, err := store.Rotate(bounded, id, keys.Overlap(a.session.cfg.Now(), overlap))
	if err != nil {
		return out, storedKeys(ctx, err)
	}
	return schema.MadeKey{Key: shownKey(&k, a.session.cfg.Now()), Secret: &secret}, nil
}

// outranks returns an error if the operator has set a higher limit for k than for the session's own key: such a key can
// be listed and revoked, but its value must not come into the hands of those whom the operator limits more.
func (a AccountKeys) outranks(k keys.Key) error {
	if k.Most().Within(a.session.who.Key().Most(), a.session.accounts.Rate) != nil {
		return problem.New(problem.InvalidRequest, "the key %s has higher limits than yours: use a key with the same limits, "+
			"or ask the operator of this service", k.ID)
	}
	return nil
}

// own returns the store of keys, the key with that id, and a context for a call of the store, if the key belongs to the
// session's account. A key of another account is treated like one that does not exist.
func (a AccountKeys) own(
	ctx context.Context, id string,
) (keys.Admin, keys.Key, context.Context, context.CancelFunc, error) {
	store, owner, err := a.admin()
	if err != nil {
		return nil, keys.Key{}, nil, nil, err
	}
	bounded, cancel := a.session.bounded(ctx)
	k, err := store.Key(bounded, id)
	if err == nil && k.Account != owner {
		err = keys.ErrAbsent
	}
	if err != nil {
		cancel()
		return nil, keys.Key{}, nil, nil, storedKeys(ctx, err)
	}
	return store, k, bounded, cancel, nil
}

// shownKey returns a key as its account sees it at the time now.
func shownKey(k *keys.Key, now time.Time) schema.Key {
	most := k.Most()
	out := schema.Key{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Environment: schema.KeyEnvironment(k.Environment), Manage: k.Manage,
		CreatedAt:  k.CreatedAt,
		LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt, DayCap: k.DayCap, TotalCap: k.TotalCap, Rate: shownRate(k.Rate),
		Bounds: schema.KeyBounds{DayCap: most.DayCap, TotalCap: most.TotalCap, Rate: shownRate(most.Rate)},
	}
	if k.Former != nil && k.RevokedAt == nil && now.Before(k.Former.Until) {
		out.FormerUntil = &k.Former.Until
	}
	return out
}

func shownRate(r *keys.Rate) *schema.KeyRate {
	if r == nil {
		return nil
	}
	return &schema.KeyRate{Capacity: r.Capacity, RefillPerS: r.Refill}
}
