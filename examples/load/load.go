package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// result is what a server did under load.
type result struct {
	rate     float64 // requests a second
	p50, p99 time.Duration
	cpu      time.Duration // of the server, for each request; 0 if it is not known
}

// load sends requests on that many connections, on each one the next as soon as the previous one is answered, for a
// time or until the given number of requests is reached.
func load(ctx context.Context, t target, connections int, during time.Duration, requests int) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conns := make([]net.Conn, connections)
	for i := range conns {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.addr)
		if err != nil {
			return result{}, err
		}
		defer func() { _ = conn.Close() }()
		conns[i] = conn
	}
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var left atomic.Int64
	left.Store(int64(requests))
	before := spentBy(t.pid)
	began := time.Now()
	end := began.Add(during)
	more := func() bool {
		if requests > 0 {
			return left.Add(-1) >= 0
		}
		return time.Now().Before(end)
	}
	var wg sync.WaitGroup
	for _, conn := range conns {
		wg.Go(func() {
			took, err := talk(ctx, conn, t.request, more)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			failed = cmp.Or(failed, err)
		})
	}
	wg.Wait()
	spent := time.Since(began)
	if failed != nil || len(all) == 0 {
		return result{}, cmp.Or(failed, errors.New("nothing was answered"))
	}
	slices.Sort(all)
	return result{
		rate: float64(len(all)) / spent.Seconds(), p50: all[len(all)/2], p99: all[len(all)*99/100],
		cpu: (spentBy(t.pid) - before) / time.Duration(len(all)),
	}, nil
}

// talk sends one request after the other and returns the latency of each.
func talk(ctx context.Context, conn net.Conn, request []byte, more func() bool) ([]time.Duration, error) {
	in := bufio.NewReaderSize(conn, 4<<10)
	var took []time.Duration
	for more() && ctx.Err() == nil {
		sent := time.Now()
		if _, err := conn.Write(request); err != nil {
			return took, err
		}
		if _, err := answer(in); err != nil {
			return took, err
		}
		took = append(took, time.Since(sent))
	}
	return took, nil
}

var (
	length = []byte("Content-Length: ")
	pause  = []byte("Retry-After: ")
)

// errRefused means that a call was answered 429 or 503.
var errRefused = errors.New("refused")

// answer reads an answer as cheaply as possible, so that the client takes little CPU from the server. It returns how
// long a caller that was refused shall wait.
func answer(in *bufio.Reader) (wait time.Duration, err error) {
	status, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	code := string(status[:min(len(status), len("HTTP/1.1 200"))])
	refused := code == "HTTP/1.1 429" || code == "HTTP/1.1 503"
	if !refused && code != "HTTP/1.1 200" {
		return 0, fmt.Errorf("answered %q", bytes.TrimSpace(status))
	}
	body, seconds := -1, 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		if digits, ok := bytes.CutPrefix(line, length); ok {
			if body, err = strconv.Atoi(string(digits)); err != nil {
				return 0, err
			}
		}
		if digits, ok := bytes.CutPrefix(line, pause); ok {
			if seconds, err = strconv.Atoi(string(digits)); err != nil {
				return 0, err
			}
		}
	}
	if body < 0 {
		return 0, errors.New("an answer without Content-Length")
	}
	if _, err = in.Discard(body); err == nil && refused {
		err = errRefused
	}
	return time.Duration(seconds) * time.Second, err
}
