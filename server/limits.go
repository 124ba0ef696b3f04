package server

import (
	"cmp"
	"fmt"
	"reflect"
	"time"
)

// Limits limit the resources that callers can use. A zero field means the default that its comment states.
type Limits struct {
	// InFlight is how many calls can be in progress at the same time: 512 by default. One more waits for a
	// slot for 100 ms, and is then answered 503 with Retry-After. A call is in progress from the time at which its
	// caller is known until its answer is to be written. Calls that need no key are not counted and always answered.
	InFlight int64
	// PerAccount is how many of those one account can have, with all of its keys: half of InFlight. One more is
	// answered 429 at once.
	PerAccount int64
	// Sandbox is how many of InFlight can be calls of a sandbox, which cost little and can be made slow by the caller:
	// a sixteenth. One more waits and is answered 503 likewise.
	Sandbox int64
	// Mounted is how many requests the handlers of [WithMount] can work on at the same time, until they begin to answer
	// or call [Enter]: a quarter of InFlight. They do not count in InFlight.
	Mounted int64
	// BodyBytes is the maximum length of the body of a request to a mounted handler: 256 KiB. A longer one is answered
	// 413.
	BodyBytes int64
	// BodyTimeout is the maximum time for receiving that body: 5 s.
	BodyTimeout time.Duration
	// Streams is how many streams of changes can be open at the same time: a quarter of Connections. They do not count
	// in InFlight. If there are several accounts, each can have a quarter of them; one more is answered 429 at once.
	Streams int64
	// PerKey is how many of those one key can have: 4. One more is answered 429 at once.
	PerKey int64
	// EventTimeout is the maximum time for sending an event of a stream: 10 s.
	EventTimeout time.Duration

	// The following apply to [Server.Serve] only.

	// Connections is how many connections can be open at the same time: 1024. One more replaces the one that has been
	// waiting longest for its caller, and is closed when all are in use.
	Connections int
	// PerAddress is how many of those one network address can have: a quarter of Connections. One more replaces the one
	// of the same address that has been waiting longest. Loopback addresses and those of [WithTrustedProxies] have no
	// such limit.
	PerAddress int
	// HeaderBytes is the maximum length of the header of a request: 60 KB, to which net/http adds 4 KB. The longest
	// call has 4,000 characters of text of four bytes each, written as %XX: 48 KB.
	HeaderBytes int
	// HeadTimeout is the maximum time for receiving the header of a request: 5 s.
	HeadTimeout time.Duration
	// AnswerTimeout is the maximum time from receiving the header of a request to sending the last byte of its answer:
	// 50 s, twice the longest wait that a caller can request.
	AnswerTimeout time.Duration
	// IdleTimeout is how long a connection is kept open for the next request: 60 s.
	IdleTimeout time.Duration

	// DrainNotice is how long a server that is stopping still accepts requests while /readyz reports that it is draining, so
	// that load balancers can send requests elsewhere: 0 by default.
	DrainNotice time.Duration
	// Drain is how long calls may take to end when the server is stopping: 30 s.
	Drain time.Duration
	// AnswerGrace is how long callers have to read their answers after the last call has ended: 5 s.
	AnswerGrace time.Duration
}

// check returns an error for a negative limit.
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
	l.AnswerGrace = cmp.Or(l.AnswerGrace, 5*time.Second)
}
