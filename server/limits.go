package server

import (
	"cmp"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// Limits bound what callers can make the process hold. A zero field stands for the value in its comment.
type Limits struct {
	// InFlight is how many calls are at work at a time: 512. One more is answered 503 at once, with Retry-After. A request
	// counts from when its caller is known until its answer is written; what needs no key is always answered.
	InFlight int64
	// PerAccount is how many of those one account may have, with all of its keys: half of InFlight. One more is answered
	// 429 at once.
	PerAccount int64
	// Sandbox is how many of InFlight may be calls of a sandbox, whose callers pay little and can be slow at will: a
	// sixteenth. One more is answered 503 at once.
	Sandbox int64
	// Mounted is how many requests the handlers of [WithMount] work on at a time, until they begin to answer or call
	// [Enter]: a quarter of InFlight. They take no place of the API's.
	Mounted int64
	// BodyBytes is how long the body of a request to a mounted handler may be: 256 KiB. A longer one is answered 413.
	BodyBytes int64
	// BodyTimeout is how long its caller has to send it: 5 s.
	BodyTimeout time.Duration
	// Streams is how many streams of changes are open at a time: a quarter of Connections. They take no place of InFlight.
	Streams int64
	// PerKey is how many of those one key may have: 4. One more is answered 429 at once.
	PerKey int64
	// EventTimeout is how long the caller of a stream has to read an event: 10 s.
	EventTimeout time.Duration

	// The rest holds for [Server.Serve] only.

	// Connections is how many there are at a time: 1024. One more takes the place of the one that has been waiting
	// longest for its caller, and is closed when all are at work.
	Connections int
	// PerAddress is how many of those one network address may have: a quarter of Connections. One more takes the place
	// of the one of the same address that has been waiting longest. Loopback addresses and those of [WithTrustedProxies]
	// have no such bound.
	PerAddress int
	// HeaderBytes is how long the head of a request may be: 60 KB, to which net/http adds 4 KB. The longest call is
	// 4,000 characters of text of four bytes each, written as %XX: 48 KB.
	HeaderBytes int
	// HeadTimeout is how long a caller has to send the head of a request: 5 s.
	HeadTimeout time.Duration
	// AnswerTimeout is how long a request may take from its head to its last byte: 50 s, twice the longest wait that
	// a caller may ask for.
	AnswerTimeout time.Duration
	// IdleTimeout is how long a connection is kept for the next request: 60 s.
	IdleTimeout time.Duration

	// Notice is how long a server that stops goes on as before, but for /readyz, so that load balancers turn away
	// from it first: no time.
	Notice time.Duration
	// Drain is how long calls under way may take to end when the server stops: 30 s.
	Drain time.Duration
	// LastWords is how long callers have to read their answers when no call is at work any more: 5 s.
	LastWords time.Duration
}

// check refuses what no limit can be.
func (l *Limits) check() error {
	v := reflect.ValueOf(l).Elem()
	for f, value := range v.Fields() {
		if value.Int() < 0 {
			return fmt.Errorf("%s is %v: it must be above 0, or 0 for its default", f.Name, value)
		}
	}
	return nil
}

func (l *Limits) fill() {
	l.InFlight = cmp.Or(l.InFlight, 512)
	l.PerAccount = cmp.Or(l.PerAccount, (l.InFlight+1)/2)
	l.Sandbox = cmp.Or(l.Sandbox, (l.InFlight+15)/16)
	l.Mounted = cmp.Or(l.Mounted, (l.InFlight+3)/4)
	l.BodyBytes = cmp.Or(l.BodyBytes, 256<<10)
	l.BodyTimeout = cmp.Or(l.BodyTimeout, 5*time.Second)
	l.EventTimeout = cmp.Or(l.EventTimeout, 10*time.Second)
	l.Connections = cmp.Or(l.Connections, 1024)
	l.PerAddress = cmp.Or(l.PerAddress, (l.Connections+3)/4)
	l.Streams = cmp.Or(l.Streams, int64(l.Connections+3)/4)
	l.PerKey = cmp.Or(l.PerKey, 4)
	l.HeaderBytes = cmp.Or(l.HeaderBytes, 60<<10)
	l.HeadTimeout = cmp.Or(l.HeadTimeout, 5*time.Second)
	l.AnswerTimeout = cmp.Or(l.AnswerTimeout, 50*time.Second)
	l.IdleTimeout = cmp.Or(l.IdleTimeout, time.Minute)
	l.Drain = cmp.Or(l.Drain, 30*time.Second)
	l.LastWords = cmp.Or(l.LastWords, 5*time.Second)
}

// shares are the calls at work of each account, or the streams of each key.
type shares struct {
	most int64
	full string // what the problem says of one that has as many as it may, with the number in it

	mu sync.Mutex
	by map[string]int64 // only those that have any
}

func newShares(most int64, full string) *shares {
	return &shares{most: most, full: full, by: map[string]int64{}}
}

// take begins a call of an account, or a stream of a key, which give ends. It fails with a problem when it has as many as it
// may.
func (s *shares) take(of string) (give func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[of] >= s.most {
		return nil, problem.New(problem.RateLimited, s.full, s.most).After(time.Second)
	}
	s.by[of]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.by[of]--; s.by[of] == 0 {
			delete(s.by, of)
		}
	}, nil
}
