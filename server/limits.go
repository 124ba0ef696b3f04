package server

import (
	"cmp"
	"sync"
	"time"
)

// Limits bound what callers can make the process hold. A zero field stands for the value in its comment.
type Limits struct {
	// InFlight is how many calls are at work at a time: 512. One more is answered 503 at once, with Retry-After. Calls
	// whose answer is being written do not count, and what needs no key is always answered.
	InFlight int64
	// PerAccount is how many of those one account may have, with all of its keys: half of InFlight. One more is answered
	// 429 at once.
	PerAccount int64
	// EventTimeout is how long the caller of a stream has to read an event: 10 s.
	EventTimeout time.Duration

	// The rest holds for [Server.Serve] only.

	// Connections is how many there are at a time: 1024. One more takes the place of the one that has been waiting
	// longest for its caller, and is closed when all are at work.
	Connections int
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

func (l *Limits) fill() {
	l.InFlight = cmp.Or(l.InFlight, 512)
	l.PerAccount = cmp.Or(l.PerAccount, (l.InFlight+1)/2)
	l.EventTimeout = cmp.Or(l.EventTimeout, 10*time.Second)
	l.Connections = cmp.Or(l.Connections, 1024)
	l.HeaderBytes = cmp.Or(l.HeaderBytes, 60<<10)
	l.HeadTimeout = cmp.Or(l.HeadTimeout, 5*time.Second)
	l.AnswerTimeout = cmp.Or(l.AnswerTimeout, 50*time.Second)
	l.IdleTimeout = cmp.Or(l.IdleTimeout, time.Minute)
	l.Drain = cmp.Or(l.Drain, 30*time.Second)
	l.LastWords = cmp.Or(l.LastWords, 5*time.Second)
}

// shares are the calls at work of each account.
type shares struct {
	most int64

	mu sync.Mutex
	by map[string]int64 // only accounts that have any
}

// take begins a call of an account, if it may have one more. Give ends it.
func (s *shares) take(account string) (give func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[account] >= s.most {
		return nil, false
	}
	s.by[account]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.by[account]--; s.by[account] == 0 {
			delete(s.by, account)
		}
	}, true
}
