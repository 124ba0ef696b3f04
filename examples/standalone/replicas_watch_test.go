package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// watched is the monitors of an account of their own, and what one caller has been told of the first one.
type watched struct {
	client *remote.Client
	end    func() // ends the caller and waits for it
	heard  []schema.Change
}

// watch makes monitors of what the sandbox changes every 20 seconds, which the replicas poll every 30 seconds, and
// follows one of them over nginx.
func (c *cluster) watch(t *testing.T) *watched {
	t.Helper()
	c.command(t, "account", "create", "monitors", "--credits", strconv.Itoa(granted))
	client, err := remote.New("http://"+c.balancer,
		remote.Config{Key: c.command(t, "key", "create", "--account", "monitors", "--manage")})
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{client: client}
	for i := range testsize.Of(20, 200) {
		if _, err := client.Account().Monitors().Make(t.Context(), broadcast(i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var caller sync.WaitGroup
	w.end = func() { stop(); caller.Wait() }
	t.Cleanup(w.end)
	caller.Go(func() { w.listen(ctx) })
	return w
}

// broadcast is the request of a monitor. One in ten polls what never changes, for so long that many of its polls are in
// progress when something is killed.
func broadcast(i int) accounts.WatchRequest {
	handle := "lively"
	if i%10 == 9 {
		handle = fmt.Sprintf("slow_%dms", 1000+i)
	}
	return accounts.WatchRequest{
		Name: fmt.Sprint("live-", i), Operation: "live", Platform: platform.Mock,
		Params: map[string]string{"handle": handle}, Every: 30 * time.Second,
	}
}

// listen follows the first monitor, again when that fails.
func (w *watched) listen(ctx context.Context) {
	for ctx.Err() == nil {
		for change, err := range w.client.Watch(ctx, broadcast(0)) {
			if err == nil {
				w.heard = append(w.heard, change)
			}
		}
	}
}

// settle waits until every monitor has been polled once more, pauses all of them, and checks what they have told and
// what they were charged.
func (w *watched) settle(t *testing.T) {
	t.Helper()
	w.polled(t)
	w.end()
	for _, m := range w.monitors(t) {
		if _, err := w.client.Account().Monitors().Pause(t.Context(), m.Name); err != nil {
			t.Fatal(err)
		}
	}
	polls := w.charged(t)
	feed := w.feed(t)
	w.sequence(t, feed)
	t.Logf("%d polls of %d monitors, each charged once; %d changes, each told once, %d of them to a caller",
		polls, len(w.monitors(t)), len(feed), len(w.heard))
}

// polled waits until every monitor has been polled after now. The polls that were lost with a replica are made again
// when their lease has expired, after two minutes.
func (w *watched) polled(t *testing.T) {
	t.Helper()
	since := time.Now()
	for w.late(t, since) > 0 && time.Since(since) < 2*time.Minute {
		time.Sleep(oneSecond / 10)
	}
	await.Until(t, "every monitor to be polled", func() bool { return w.late(t, since) == 0 })
}

// late returns the number of monitors that have not been polled since then.
func (w *watched) late(t *testing.T, since time.Time) (n int) {
	t.Helper()
	for _, m := range w.monitors(t) {
		if m.LastAt == nil || m.LastAt.Before(since) {
			n++
		}
	}
	return n
}

func (w *watched) monitors(t *testing.T) []schema.Monitor {
	t.Helper()
	return collected(t, w.client.Account().Monitors().List, accounts.MonitorsRequest{})
}

func (w *watched) feed(t *testing.T) []schema.Change {
	t.Helper()
	return collected(t, w.client.Account().Changes, accounts.ChangesRequest{})
}

// collected returns all pages of a list.
func collected[Req, T any, P socialdata.Paged[Req]](
	t *testing.T, page func(context.Context, Req) (*schema.Envelope[[]T], error), req Req,
) (all []T) {
	t.Helper()
	for one, err := range socialdata.Walk[Req, T, P](t.Context(), page, req) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// charged waits until the ledger has as many charges of polls as the monitors were charged, and returns their number. A
// poll that was in progress when its monitor was paused may be charged first.
func (w *watched) charged(t *testing.T) (polls int64) {
	t.Helper()
	await.Until(t, "the charges of polls to be those that their monitors tell", func() bool {
		var entries, told int64
		calls := map[string]bool{}
		for _, u := range collected(t, w.client.Account().Usage, accounts.UsageRequest{}) {
			if u.Kind != "charge" {
				continue
			}
			if u.Amount != -1 || *u.Operation != "live" || calls[*u.RequestID] {
				t.Fatalf("charged: %+v; want each poll once, for one credit", u)
			}
			calls[*u.RequestID] = true
			entries++
		}
		for _, m := range w.monitors(t) {
			told += m.Credits
		}
		polls = entries
		return entries == told
	})
	return polls
}

// sequence checks that the feed has no hole, that the changes of each monitor continue each other, and that the caller
// was told those of the first monitor.
func (w *watched) sequence(t *testing.T, feed []schema.Change) {
	t.Helper()
	ids, titles := map[string]bool{}, map[string]string{}
	var first []schema.Change
	for i, change := range feed {
		name := *change.Monitor
		if change.Seq != int64(i)+1 || ids[change.ID] {
			t.Errorf("change %d of the feed is %d, with the id %s", i+1, change.Seq, change.ID)
		}
		ids[change.ID] = true
		if name == broadcast(0).Name {
			first = append(first, change)
		}
		title, known := titles[name]
		switch {
		case change.Type == watch.Ready && !known:
			titles[name] = ""
		case change.Type == watch.Changed && known && len(change.Fields) == 1 &&
			string(change.Fields[0].Before) == cmp.Or(title, string(change.Fields[0].Before)):
			titles[name] = string(change.Fields[0].After)
		case change.Type != watch.Failing && change.Type != watch.Recovered:
			t.Errorf("after the title %s, %s tells %s: %+v", title, name, change.Type, change.Fields)
		}
	}
	same := func(a, b schema.Change) bool { return a.ID == b.ID && a.Seq == b.Seq }
	if n := len(w.heard); n == 0 || n > len(first) || !slices.EqualFunc(w.heard, first[:n], same) {
		t.Errorf("the caller was told %d changes, and the feed has %d of that monitor:\n%+v\n%+v", n, len(first), w.heard, first)
	}
}
