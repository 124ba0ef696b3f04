package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// overloadInFlight is the limit of calls at work of the server: it then refuses the 257th call of a sandbox.
const overloadInFlight = 4096

// offered is what came of more calls than a server can answer.
type offered struct {
	sent, served int
	p99          time.Duration // of those that were served, from the moment in which they were sent
}

// overload finds the best rate of the server, then offers twice as many calls, and prints what is served: to callers
// that wait after a refusal for as long as Retry-After says, and to callers that do not.
func (c *cli) overload(ctx context.Context, t target) error {
	var best result
	for _, n := range c.Connections {
		var rs []result
		for range c.Rounds {
			r, err := load(ctx, t, n, c.For, 0)
			if err != nil {
				return err
			}
			rs = append(rs, r)
		}
		if m := medians(rs); m.rate > best.rate {
			best = m
		}
	}
	say("best rate: %.0f requests/s, p99 %s; then twice as many, on %d connections\n", best.rate, round(best.p99), c.Wide)
	for _, patient := range []bool{true, false} {
		var rates, p99s []float64
		for range c.Rounds {
			o, err := offer(ctx, t, c.Wide, 2*best.rate, c.For, patient)
			if err != nil {
				return err
			}
			rates = append(rates, float64(o.served)/c.For.Seconds()/best.rate)
			p99s = append(p99s, float64(o.p99)/float64(best.p99))
		}
		slices.Sort(rates)
		slices.Sort(p99s)
		who := "callers that heed Retry-After"
		if !patient {
			who = "callers that do not"
		}
		say("%-30s served %.2f of the best rate, p99 %.1f times its\n", who, rates[len(rates)/2], p99s[len(p99s)/2])
	}
	return nil
}

// offer sends calls at a rate, each connection in turn. A connection whose answer is late sends the next call as soon
// as it has that, and so less than its share.
func offer(
	ctx context.Context, t target, connections int, rate float64, during time.Duration, patient bool,
) (offered, error) {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	every := time.Duration(float64(connections) / rate * float64(time.Second))
	var mu sync.Mutex
	var all offered
	var served []time.Duration
	var failed error
	var wg sync.WaitGroup
	began := time.Now()
	for i := range connections {
		first := began.Add(every * time.Duration(i) / time.Duration(connections))
		wg.Go(func() {
			sent, took, err := keepAsking(ctx, t, first, every, patient)
			mu.Lock()
			defer mu.Unlock()
			all.sent += sent
			served = append(served, took...)
			failed = cmp.Or(failed, err)
		})
	}
	wg.Wait()
	if failed != nil || len(served) == 0 {
		return all, cmp.Or(failed, errors.New("nothing was served"))
	}
	slices.Sort(served)
	all.served, all.p99 = len(served), served[len(served)*99/100]
	return all, nil
}

// keepAsking sends calls on one connection until ctx ends: how many, and the latency of each that was served.
func keepAsking(
	ctx context.Context, t target, next time.Time, every time.Duration, patient bool,
) (sent int, served []time.Duration, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReaderSize(conn, 4<<10)
	for ; ; next = next.Add(every) {
		select {
		case <-ctx.Done():
			return sent, served, nil
		case <-time.After(time.Until(next)):
		}
		begun := time.Now()
		sent++
		if _, err := conn.Write(t.request); err != nil {
			return sent, served, err
		}
		wait, err := answer(in)
		switch {
		case err != nil && !errors.Is(err, errRefused):
			return sent, served, err
		case err == nil:
			served = append(served, time.Since(begun))
		case patient:
			next = time.Now().Add(wait)
		}
	}
}
