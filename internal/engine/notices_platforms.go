package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// outage is a platform that is down. All processes share its record, which exists while the platform is down. Each
// process has its own breakers, and the platform is up again when it is down for none of them.
type outage struct {
	Epoch string           // of this outage, a part of the ids of its changes
	By    map[string]int64 // until when each process says that the platform is down, in Unix seconds
}

// outageLease is for how long a platform counts as down for a process that does not renew this.
const outageLease = 4 * noticesLook

// observer returns o extended to note breakers that change.
func (n *accountEvents) observer(o observe.Observer) observe.Observer {
	before := o.Breaker
	o.Breaker = func(b observe.Breaker) {
		before(b)
		n.note(func() { n.turned[b.Platform] = true })
	}
	return o
}

const outagePrefix = "outage/"

func outageKey(id platform.ID) string { return records.Key("outage", string(id)) }

// platforms reports the platforms that have gone down or up: those in turned, or all if whole is set.
func (n *accountEvents) platforms(ctx context.Context, turned map[platform.ID]bool, whole bool) (failed error) {
	var under []string
	if whole {
		bounded, cancel := n.bounded(ctx)
		defer cancel()
		var err error
		if under, err = n.engine.cfg.Records.Keys(bounded, outagePrefix); err != nil {
			return err
		}
	}
	for _, info := range n.engine.cfg.Platforms.All() {
		down, up := n.engine.upstreams.Outage(info.ID)
		switch noted := turned[info.ID]; {
		case down && (whole || noted):
			failed = errors.Join(failed, n.retried(func() error { return n.down(ctx, info.ID) }))
		case up && (noted || slices.Contains(under, outageKey(info.ID))):
			failed = errors.Join(failed, n.retried(func() error { return n.up(ctx, info.ID) }))
		}
	}
	return failed
}

// down records that a platform is down for this process, and reports it.
func (n *accountEvents) down(ctx context.Context, id platform.ID) error {
	bounded, cancel := n.bounded(ctx)
	defer cancel()
	now := n.engine.cfg.Now()
	until := now.Add(outageLease).Unix()
	o := outage{Epoch: rand.Text(), By: map[string]int64{n.id: until}}
	value, err := json.Marshal(o)
	if err != nil {
		return err
	}
	r, added, err := n.engine.cfg.Records.Add(bounded, records.Record{Key: outageKey(id), Value: value}, secretTTL)
	if err == nil && !added {
		if err = json.Unmarshal(r.Value, &o); err == nil {
			o.prune(now)
			o.By[n.id] = until
			err = n.put(ctx, r, o)
		}
	}
	if err != nil || n.outages[id] == o.Epoch {
		return err
	}
	const detail = "all upstreams of the platform are failing; calls are refused for now"
	err = n.tellAll(ctx, watch.PlatformDown, id, detail, o.Epoch)
	if err == nil {
		n.outages[id] = o.Epoch
	}
	return err
}

// up records that a platform is not down for this process, and reports it as up if it is down for no process.
func (n *accountEvents) up(ctx context.Context, id platform.ID) error {
	bounded, cancel := n.bounded(ctx)
	defer cancel()
	r, err := n.engine.cfg.Records.Get(bounded, outageKey(id))
	if errors.Is(err, records.ErrAbsent) {
		return nil
	}
	var o outage
	if err == nil {
		err = json.Unmarshal(r.Value, &o)
	}
	if err != nil {
		return err
	}
	_, mine := o.By[n.id]
	delete(o.By, n.id)
	o.prune(n.engine.cfg.Now())
	switch {
	case len(o.By) > 0 && mine:
		return n.put(ctx, r, o)
	case len(o.By) > 0:
		return nil
	}
	// The version distinguishes this end from an earlier one that another process has prevented.
	err = n.tellAll(ctx, watch.PlatformUp, id, "the platform is available again", o.Epoch, strconv.FormatInt(r.Version, 10))
	if err != nil {
		return err
	}
	bounded, again := n.bounded(ctx)
	defer again()
	return n.engine.cfg.Records.Delete(bounded, r.Key, r.Version)
}

// prune removes the processes that no longer say that the platform is down.
func (o *outage) prune(now time.Time) {
	for by, until := range o.By {
		if until < now.Unix() {
			delete(o.By, by)
		}
	}
}

// tellAll reports an event of a platform to every account with active endpoints.
func (n *accountEvents) tellAll(
	ctx context.Context, kind string, id platform.ID, detail string, once ...string,
) (failed error) {
	on, at := string(id), n.engine.cfg.Now()
	all := n.listeners.Load()
	if all == nil {
		return nil
	}
	for _, l := range *all {
		c := webhooks.Own(l.account, kind, at, append([]string{on}, once...), detail)
		c.Platform, c.Fields = &on, []schema.FieldChange{}
		failed = errors.Join(failed, n.tell(ctx, l, c))
	}
	return failed
}
