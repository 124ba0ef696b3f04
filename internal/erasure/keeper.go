package erasure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/background"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
)

const (
	// staleAfter is for how long a process may use an epoch without reading it again.
	staleAfter = time.Second
	// lookPatience is how long a call waits for the epoch if it is stale.
	lookPatience = time.Second
	// drainPatience is how long a process waits for the writes of the previous epoch.
	drainPatience = 10 * time.Second
)

// Keeper applies erasures and blocks in one process. It is safe for concurrent use.
type Keeper struct {
	cfg     Config
	process string
	shared  bool
	writes  writes

	now atomic.Pointer[view]
	// forgot counts the cache entries that were removed from the memory of this process.
	forgot atomic.Int64
	come   atomic.Int64 // the epoch that it has reached, without anything that was erased before
	read   atomic.Int64 // when the epoch was last read: nanoseconds since begun
	from   time.Time

	mu   sync.Mutex // held while the process moves to another epoch
	stop context.CancelFunc
	work background.Group
}

// Config is what a [Keeper] needs.
type Config struct {
	// List is the deployment's blocklist. Nil means one of this process only.
	List privacy.Blocklist
	// Forget removes names from the memory of this process, and returns how many cache entries it has removed.
	Forget func(names map[privacy.Name]struct{}) int
	Log    *slog.Logger
}

// view is the state of an epoch that this process has reached. It is immutable.
type view struct {
	epoch   int64
	hasher  *privacy.Hasher
	blocked *privacy.Set
	erased  map[privacy.Name]time.Time // when this process has read the erasure
}

// New returns a Keeper. If the list cannot be read now, [Keeper.Ready] fails until it can.
func New(cfg Config) *Keeper {
	k := &Keeper{cfg: cfg, process: rand.Text(), shared: cfg.List != nil, from: time.Now()}
	if k.cfg.List == nil {
		k.cfg.List = privacy.NewMemory(privacy.MemoryConfig{})
	}
	k.come.Store(-1)
	ctx, cancel := context.WithCancel(context.Background())
	k.stop = cancel
	first, end := context.WithTimeout(ctx, lookPatience)
	defer end()
	if err := k.look(first, k.renew); err != nil {
		k.cfg.Log.WarnContext(ctx, "the list of erased and blocked accounts cannot be read", "error", err)
	}
	if k.shared && k.work.Begin() {
		go func() {
			defer k.work.End()
			k.follow(ctx)
		}()
	}
	return k
}

// Close removes the process from the list, and waits for background work.
func (k *Keeper) Close(ctx context.Context) error {
	k.stop()
	if err := k.work.Close(ctx); err != nil || !k.shared {
		return err
	}
	if err := k.cfg.List.Leave(ctx, k.process); err != nil {
		k.cfg.Log.WarnContext(ctx, "the row of this process was not removed", "error", err) // it will soon count as dead
	}
	return nil
}

// follow renews the row of the process and follows the epoch, until ctx ends.
func (k *Keeper) follow(ctx context.Context) {
	tick := time.NewTicker(privacy.RenewEvery)
	defer tick.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := k.look(ctx, k.renew)
		if ctx.Err() == nil && err != nil != failed {
			if failed = err != nil; failed {
				k.cfg.Log.WarnContext(ctx, "the list of erased and blocked accounts cannot be read", "error", err)
			}
		}
	}
}

// renew renews the row of the process and returns the epoch of the deployment.
func (k *Keeper) renew(ctx context.Context) (int64, error) {
	if !k.shared {
		return k.cfg.List.Epoch(ctx)
	}
	return k.cfg.List.Renew(ctx, k.process, k.come.Load())
}

// Epoch returns the epoch that the process uses; -1 before the first.
func (k *Keeper) Epoch() int64 {
	if v := k.now.Load(); v != nil {
		return v.epoch
	}
	return -1
}

// look reads the epoch and moves to it.
func (k *Keeper) look(ctx context.Context, read func(context.Context) (int64, error)) error {
	at := time.Since(k.from)
	epoch, err := read(ctx)
	if err != nil {
		return err
	}
	if epoch != k.Epoch() {
		if err := k.advance(ctx); err != nil {
			return err
		}
	}
	k.read.Store(int64(at) + 1)
	return nil
}

var errDrain = errors.New("writes that began before the erasure are still in progress")

// advance moves to the current epoch. After that, this process has none of the erased data in memory, and does not
// write data that it read before.
func (k *Keeper) advance(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.now.Load()
	next, fresh, err := k.load(ctx, was)
	if err != nil || was != nil && next.epoch == was.epoch {
		return err
	}
	k.now.Store(next)
	if was == nil {
		return k.arrive(ctx, next.epoch)
	}
	limit := time.NewTimer(drainPatience)
	defer limit.Stop()
	select {
	case <-k.writes.turn():
	case <-limit.C:
		k.now.Store(&view{was.epoch, next.hasher, next.blocked, next.erased}) // with the old epoch, so that the move is tried again
		return errDrain
	case <-ctx.Done():
		k.now.Store(&view{was.epoch, next.hasher, next.blocked, next.erased})
		return ctx.Err()
	}
	k.forgot.Add(int64(k.cfg.Forget(fresh)))
	return k.arrive(ctx, next.epoch)
}

// arrive notes that the process has reached an epoch.
func (k *Keeper) arrive(ctx context.Context, epoch int64) error {
	k.come.Store(epoch)
	if !k.shared {
		return nil
	}
	_, err := k.cfg.List.Renew(ctx, k.process, epoch)
	return err
}

// load reads the current state, and also returns the names that are new to this process.
func (k *Keeper) load(ctx context.Context, was *view) (next *view, fresh map[privacy.Name]struct{}, err error) {
	state, err := k.cfg.List.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	next = &view{
		epoch: state.Epoch, blocked: privacy.NewSet(state.Blocked), erased: map[privacy.Name]time.Time{},
	}
	fresh = map[privacy.Name]struct{}{}
	if was != nil {
		next.hasher = was.hasher
	} else {
		secret, err := k.cfg.List.Secret(ctx)
		if err != nil {
			return nil, nil, err
		}
		next.hasher = privacy.NewHasher(secret)
	}
	now := time.Now()
	for _, name := range state.Blocked {
		if was == nil || !was.blocked.Has(name) {
			fresh[name] = struct{}{}
		}
	}
	for _, e := range state.Erased {
		if was == nil || e.Epoch > was.epoch {
			next.erased[e.Name] = now
			fresh[e.Name] = struct{}{}
		} else if at, ok := was.erased[e.Name]; ok && next.erased[e.Name].IsZero() {
			next.erased[e.Name] = at
		}
	}
	return next, fresh, nil
}

// errStale is the problem of a call while it is not known whether stored data may be shown.
var errStale = problem.New(problem.PlatformUnavailable,
	"the service cannot read its list of erased and blocked accounts now; try again")

// Ready returns nil when the process knows the current state: it has read the epoch in the last second, or reads it
// now. Otherwise it fails with a platform_unavailable problem.
func (k *Keeper) Ready(ctx context.Context) error {
	if !k.shared || time.Since(k.from)-time.Duration(k.read.Load()) < staleAfter && k.read.Load() > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	if err := k.look(ctx, k.cfg.List.Epoch); err != nil {
		return problem.Wrap(fmt.Errorf("socialdata: the list of erased and blocked accounts: %w", err),
			problem.PlatformUnavailable, "%s", errStale.Detail).After(time.Second)
	}
	return nil
}

// Hasher returns the hasher of names; nil if the list has never been read.
func (k *Keeper) Hasher() *privacy.Hasher {
	if v := k.now.Load(); v != nil {
		return v.hasher
	}
	return nil
}

// Marks returns the marks of everyone in JSON that the engine has encoded. While the secret of the marks is not loaded,
// they match anyone.
func (k *Keeper) Marks(data []byte) privacy.Marks {
	if h := k.Hasher(); h != nil {
		return h.Marks(data)
	}
	return privacy.MarksOf(privacy.Anything)
}

// Blocking reports whether anyone is blocked.
func (k *Keeper) Blocking() bool {
	v := k.now.Load()
	return v != nil && v.blocked.Len() > 0
}

// Blocked reports whether anyone among marks is blocked.
func (k *Keeper) Blocked(marks privacy.Marks) bool {
	v := k.now.Load()
	return v != nil && v.blocked.Meets(marks)
}

// BlockedName reports whether a name is blocked.
func (k *Keeper) BlockedName(n privacy.Name) bool {
	v := k.now.Load()
	return v != nil && v.blocked.Has(n)
}

// BlockedAmong returns the names among marks that are blocked; nil for none.
func (k *Keeper) BlockedAmong(marks privacy.Marks) []privacy.Name {
	v := k.now.Load()
	if v == nil || v.blocked.Len() == 0 {
		return nil
	}
	return v.blocked.Among(marks)
}

// Enter begins a write of data that was read since begun to a store that is shared or outlives the call. If someone
// among marks is blocked or was erased since begun, it returns false, and the write must not be made. leave ends the
// write.
func (k *Keeper) Enter(ctx context.Context, marks privacy.Marks, begun time.Time) (leave func(), may bool) {
	leave = k.writes.enter()
	v := k.now.Load() // after entering: an erasure that is not in it waits for this write
	if v == nil || !v.blocked.Meets(marks) && !v.since(marks, begun) {
		return leave, true
	}
	leave()
	k.cfg.Log.DebugContext(ctx, "data that was erased meanwhile is not stored", "request_id", callctx.Of(ctx).ID)
	return nil, false
}

// since reports whether someone among marks was erased after begun.
func (v *view) since(marks privacy.Marks, begun time.Time) bool {
	if len(v.erased) == 0 {
		return false
	}
	late := map[privacy.Name]struct{}{}
	for name, at := range v.erased {
		if at.After(begun) {
			late[name] = struct{}{}
		}
	}
	return marks.Any(late)
}
