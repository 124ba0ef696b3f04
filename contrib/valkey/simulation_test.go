package valkey_test

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/socialdata/socialdata/internal/testsize"
)

// The cost of the protocol in messages to the server; [TestMessages] checks it.
const (
	gets   = 1 // a read from the cache
	joins  = 1 // a request for the claim
	tracks = 1 // to begin waiting: one message of five commands
	pushes = 1 // the server reports the end
	keeps  = 2 // a check for an entry, and storing the entry
	dones  = 1 // the end of a claim
	renews = 1 // of a lease, every lease/2
	near   = 10 * time.Second
	lease  = 3 * time.Second
)

// world is the configuration of a simulation.
type world struct {
	replicas, nodes int
	keys            int
	requests        int
	each            time.Duration // between two requests of all replicas
	ttl             time.Duration
	upstream        time.Duration // duration of a read
	skew            float64       // of the Zipf distribution of the keys; 0: each key once, then random ones
	lost            int           // node that is unavailable for a while; -1 for none
	from, until     time.Duration // when it is unavailable
	dies            bool          // whether one in a thousand replicas dies while it reads
}

// figures are the results of a simulation.
type figures struct {
	requests, distinct int
	reads              int // from upstream
	messages           int
	near, far, waited  int // requests answered from there, or after waiting
	hottest            int // messages for the busiest key
	busiest            int // messages of the busiest node in its busiest second
	worst              int // reads from upstream in the worst second
	longest            time.Duration
}

// replicaKey is a key at a replica.
type replicaKey struct {
	replica int16
	key     int32
}

// flight is a read from upstream.
type flight struct {
	at      time.Duration // when it ends
	begun   time.Duration
	key     int32
	replica int16
	shared  bool // others wait for it, through the server
	dead    bool // the replica dies, and this is the end of its lease
	waiting []int16
	since   []time.Duration
}

type flights []*flight

func (f flights) Len() int           { return len(f) }
func (f flights) Less(i, j int) bool { return f[i].at < f[j].at }
func (f flights) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)        { *f = append(*f, x.(*flight)) }
func (f *flights) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}

// simulation runs the protocol on a clock of its own.
type simulation struct {
	world
	rng     *rand.Rand
	now     time.Duration
	far     []time.Duration              // when the server's entry of the key expires; 0 for none
	near    map[replicaKey]time.Duration // when the replica last had it from the server
	alone   map[replicaKey]*flight       // reads of a replica without the others
	leased  map[int32]*flight
	local   map[replicaKey]bool // the replica waits, and further callers join
	ends    flights
	asked   []bool
	byKey   map[int32]int
	second  int
	perNode []int
	reads   int
	figures
}

func (w world) run() figures {
	s := &simulation{
		world: w, rng: rand.New(rand.NewPCG(1, 2)), far: make([]time.Duration, w.keys), near: map[replicaKey]time.Duration{},
		alone: map[replicaKey]*flight{}, leased: map[int32]*flight{}, local: map[replicaKey]bool{},
		asked: make([]bool, w.keys),
		byKey: map[int32]int{}, perNode: make([]int, w.nodes),
	}
	popular := rand.NewZipf(s.rng, max(w.skew, 1.1), 10, uint64(w.keys-1))
	for i := range w.requests {
		key := i
		switch {
		case w.skew > 0:
			key = int(popular.Uint64())
		case i >= w.keys:
			key = s.rng.IntN(w.keys)
		}
		s.advance(s.now + w.each)
		s.request(int16(s.rng.IntN(w.replicas)), int32(key))
	}
	s.advance(s.now + time.Hour)
	for _, n := range s.byKey {
		s.hottest = max(s.hottest, n)
	}
	s.figures.requests = w.requests
	return s.figures
}

// advance ends the reads that end until then.
func (s *simulation) advance(to time.Duration) {
	for len(s.ends) > 0 && s.ends[0].at <= to {
		f := heap.Pop(&s.ends).(*flight)
		s.tick(f.at)
		s.land(f)
	}
	s.tick(to)
}

func (s *simulation) tick(to time.Duration) {
	s.now = to
	if second := int(to / time.Second); second != s.second {
		s.busiest = max(s.busiest, slices.Max(s.perNode))
		s.worst = max(s.worst, s.reads)
		clear(s.perNode)
		s.second, s.reads = second, 0
	}
}

// node returns the node of a key: keys of similar popularity are on different nodes.
func (s *simulation) node(key int32) int { return int(uint32(key)*2654435761>>7) % s.nodes }

func (s *simulation) down(key int32) bool {
	return s.lost == s.node(key) && s.now >= s.from && s.now < s.until
}

func (s *simulation) tell(key int32, n int) {
	s.messages += n
	s.byKey[key] += n
	s.perNode[s.node(key)] += n
}

// has reports whether the server has a key: a node that was unavailable has lost its entries.
func (s *simulation) has(key int32) bool {
	until := s.far[key]
	forgot := s.lost == s.node(key) && s.now >= s.from && until < s.from+s.ttl
	return until > s.now && !forgot
}

func (s *simulation) request(replica int16, key int32) {
	at := replicaKey{replica, key}
	if !s.asked[key] {
		s.asked[key] = true
		s.distinct++
	}
	had, known := s.near[at]
	switch {
	case s.local[at] || s.alone[at] != nil: // a caller at this replica waits for the same
		s.waited++
		return
	case known && s.now-had < near, known && s.down(key) && s.now-had < s.ttl:
		s.figures.near++
		return
	case s.down(key):
		s.read(&flight{key: key, replica: replica})
		return
	}
	s.tell(key, gets)
	if s.has(key) {
		s.figures.far++
		s.near[at] = s.now
		return
	}
	s.tell(key, joins)
	if f := s.leased[key]; f != nil {
		s.tell(key, tracks)
		s.waited++
		s.local[at] = true
		f.waiting, f.since = append(f.waiting, replica), append(f.since, s.now)
		return
	}
	s.read(&flight{key: key, replica: replica, shared: true})
}

// read begins a read from upstream.
func (s *simulation) read(f *flight) {
	s.reads++
	s.figures.reads++
	f.begun = s.now
	f.at = s.now + s.upstream/2 + time.Duration(s.rng.Int64N(int64(s.upstream)))
	if f.shared {
		f.dead = s.dies && s.rng.IntN(1000) == 0
		if f.dead {
			f.at = s.now + lease
		}
		s.leased[f.key] = f
	} else {
		s.alone[replicaKey{f.replica, f.key}] = f
	}
	heap.Push(&s.ends, f)
}

// land ends a read, or the lease of a dead replica.
func (s *simulation) land(f *flight) {
	at := replicaKey{f.replica, f.key}
	if !f.shared {
		delete(s.alone, at)
		s.near[at] = s.now
		return
	}
	delete(s.leased, f.key)
	if f.dead {
		s.takeOver(f)
		return
	}
	s.near[at] = s.now
	if s.down(f.key) {
		s.wake(f, false)
		return
	}
	renewed := int((s.now - f.begun) / (lease / 2)) // each one wakes those that wait, which then ask and wait again
	s.tell(f.key, keeps+dones+renewed*(renews+len(f.waiting)*(pushes+joins+tracks)))
	s.far[f.key] = s.now + s.ttl
	s.wake(f, true)
}

// wake gives the entry to those that have waited, or lets them read if the server is unavailable.
func (s *simulation) wake(f *flight, there bool) {
	for i, replica := range f.waiting {
		at := replicaKey{replica, f.key}
		delete(s.local, at)
		s.longest = max(s.longest, s.now-f.since[i])
		if !there {
			s.read(&flight{key: f.key, replica: replica})
			continue
		}
		s.tell(f.key, pushes+joins)
		s.near[at] = s.now
	}
}

// takeOver gives the claim of a dead replica to the first that has waited.
func (s *simulation) takeOver(f *flight) {
	if len(f.waiting) == 0 {
		return
	}
	s.tell(f.key, len(f.waiting)*joins+(len(f.waiting)-1)*tracks)
	next := &flight{key: f.key, replica: f.waiting[0], shared: true, waiting: f.waiting[1:], since: f.since[1:]}
	delete(s.local, replicaKey{next.replica, f.key})
	s.longest = max(s.longest, s.now-f.since[0])
	s.read(next)
}

// TestSimulation requests keys by their popularity. SIZE=full simulates a thousand replicas and ten million keys, and
// takes some minutes and 8 GB.
func TestSimulation(t *testing.T) {
	t.Parallel()
	w := world{
		replicas: 50, nodes: 3, keys: 20_000, requests: 400_000, each: 100 * time.Microsecond,
		ttl: 15 * time.Minute, upstream: 500 * time.Millisecond, skew: 1.1, lost: -1,
	}
	if testsize.Full() {
		w.replicas, w.keys, w.requests, w.each = 1000, 10_000_000, 20_000_000, 5*time.Microsecond
	}
	span := w.each * time.Duration(w.requests)
	for _, tt := range []struct {
		name   string
		change func(*world)
	}{
		{"no faults", func(*world) {}},
		{"no key is more popular than another", func(w *world) { w.skew = 0 }},
		{"one key has most requests", func(w *world) { w.skew = 4 }},
		{"readers die", func(w *world) { w.dies = true }},
		{"a node is unavailable", func(w *world) { w.lost, w.from, w.until = 1, span/2, span*3/4 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := w
			tt.change(&w)
			f := w.run()
			t.Logf("%d requests for %d keys by %d replicas in %v: %d reads, %.3f messages a request; near %.1f%%, far %.1f%%, "+
				"waited %.2f%% (longest %v); "+
				"hottest key %.0f messages/s, busiest node %d messages/s, worst second %d reads",
				f.requests, f.distinct, w.replicas, span.Round(time.Second), f.reads, float64(f.messages)/float64(f.requests),
				percent(f.near, f.requests), percent(f.far, f.requests), percent(f.waited, f.requests),
				f.longest.Round(time.Millisecond),
				float64(f.hottest)/span.Seconds(), f.busiest, f.worst)
			if perRequest := float64(f.messages) / float64(f.requests); perRequest > gets+joins+tracks+pushes+joins+keeps+dones {
				t.Errorf("%.2f messages a request", perRequest)
			}
			// A replica asks for an entry that it has once in ten seconds, and a few times for one that it waits for.
			if most := float64(w.replicas) * (span.Seconds()/near.Seconds() + 2) * 6; float64(f.hottest) > most {
				t.Errorf("one key has cost %d messages; want %.0f at most", f.hottest, most)
			}
			switch {
			case w.lost < 0 && !w.dies && f.reads != f.distinct:
				t.Errorf("%d reads for %d keys", f.reads, f.distinct)
			case w.dies && f.longest > 3*lease+2*w.upstream:
				t.Errorf("a request has waited for %v", f.longest)
			case w.lost >= 0 && f.reads > f.distinct*4:
				t.Errorf("%d reads for %d keys when a node was unavailable", f.reads, f.distinct)
			}
		})
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

// TestSimulatedLimiter makes calls with API keys on all replicas, half of them with one key, and counts those for which
// a replica had to ask the server.
func TestSimulatedLimiter(t *testing.T) {
	t.Parallel()
	replicas, callers, calls := 50, 1000, 500_000
	if testsize.Full() {
		replicas, callers, calls = 1000, 100_000, 20_000_000
	}
	const capacity, refill, each = 60.0, 10.0, 5 * time.Microsecond // 200,000 calls a second
	type bucket struct {
		tokens float64
		at     time.Duration
	}
	rng := rand.New(rand.NewPCG(3, 4))
	buckets, refused := map[int]*bucket{}, map[[2]int]time.Duration{}
	messages, hot, given := 0, 0, 0
	for now := time.Duration(0); now < each*time.Duration(calls); now += each {
		replica, caller := rng.IntN(replicas), 0
		if rng.IntN(2) == 0 {
			caller = 1 + rng.IntN(callers)
		}
		if refused[[2]int{replica, caller}] > now {
			continue
		}
		messages++
		b := buckets[caller]
		if b == nil {
			b = &bucket{tokens: capacity}
			buckets[caller] = b
		}
		b.tokens, b.at = min(capacity, b.tokens+(now-b.at).Seconds()*refill), now
		if caller == 0 {
			hot++
		}
		if b.tokens >= 1 {
			b.tokens--
			if caller == 0 {
				given++
			}
			continue
		}
		refused[[2]int{replica, caller}] = now + time.Duration((1-b.tokens)/refill*1e9)
	}
	span := each * time.Duration(calls)
	t.Logf("%d calls by %d replicas in %v, half of them with one key: %d messages, %d of them for that key: %.0f/s; %d "+
		"of its calls went through",
		calls, replicas, span, messages, hot, float64(hot)/span.Seconds(), given)
	if most := capacity + span.Seconds()*refill + 1; float64(given) > most {
		t.Errorf("%d calls went through; the rate allows %.0f", given, most)
	}
	if most := float64(given) + float64(replicas)*(span.Seconds()*refill+1)*2; float64(hot) > most {
		t.Errorf("%d messages for one key; want %.0f at most", hot, most)
	}
}
