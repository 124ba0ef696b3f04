package bulktest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
)

// Limits are those of a service that is tested. A zero is the service's own.
type Limits struct {
	RetryFor    time.Duration // in which a line is tried 8 times
	Wait        time.Duration // after which a waiting job ends
	Keep        time.Duration // how long jobs are kept that are over
	ResultBytes int64         // of an account
	Jobs        int           // of an account, that are open
	Lines       int64         // of an account, that are open
}

// Open opens n services that share a new database until the test ends.
type Open func(t *testing.T, limits Limits, n int) []bulkjob.Service

const account = "acct"

// Run runs the suite.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Open){
		"Start":             testStart,
		"BrokenFile":        testBrokenFile,
		"Results":           testResults,
		"WaitForCredits":    testWaitForCredits,
		"WaitUntilAffords":  testWaitUntilAffords,
		"MaxCredits":        testMaxCredits,
		"WaitEnds":          testWaitEnds,
		"Stop":              testStop,
		"StopAccount":       testStopAccount,
		"StopByWorker":      testStopByWorker,
		"Deadline":          testDeadline,
		"Retries":           testRetries,
		"Later":             testLater,
		"UnknownEnd":        testUnknownEnd,
		"TwoProcesses":      testTwoProcesses,
		"Cheapest":          testCheapest,
		"Limits":            testLimits,
		"Space":             testSpace,
		"Keep":              testKeep,
		"Erase":             testErase,
		"EraseWhileWorking": testEraseWhileWorking,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// one opens a single service.
func one(t *testing.T, open Open, limits Limits) bulkjob.Service {
	t.Helper()
	return open(t, limits, 1)[0]
}

// Work has a service work until the test ends.
func Work(t *testing.T, s bulkjob.Service, w bulkjob.Worker) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, w) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// Sequence yields lines, and then err unless it is nil.
func Sequence(lines []bulkjob.Line, err error) iter.Seq2[bulkjob.Line, error] {
	return func(yield func(bulkjob.Line, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
		if err != nil {
			yield(bulkjob.Line{}, err)
		}
	}
}

func start(t *testing.T, s bulkjob.Service, name string, o bulkjob.Options, lines []bulkjob.Line) (bulkjob.Job, bool) {
	t.Helper()
	j, made, err := tryStart(t, s, name, o, lines)
	if err != nil {
		t.Fatalf("Start = %v", err)
	}
	return j, made
}

func tryStart(
	t *testing.T, s bulkjob.Service, name string, o bulkjob.Options, lines []bulkjob.Line,
) (bulkjob.Job, bool, error) {
	t.Helper()
	sum := fmt.Sprint(len(lines), " lines")
	return s.Start(t.Context(), bulkjob.Job{Account: account, Name: name, Key: "key", Options: o}, Sequence(lines, nil),
		func() (string, int64) { return sum, 3 })
}

func status(t *testing.T, s bulkjob.Service, name string) bulkjob.Job {
	t.Helper()
	j, err := s.Job(t.Context(), account, name)
	if err != nil {
		t.Fatalf("Job = %v", err)
	}
	return j
}

// until waits until a job has a state.
func until(t *testing.T, s bulkjob.Service, name string, state bulkjob.State) bulkjob.Job {
	t.Helper()
	await.Until(t, "the job to be "+string(state), func() bool { return status(t, s, name).State == state })
	return status(t, s, name)
}

// all returns all results of a job, read by pages.
func all(t *testing.T, s bulkjob.Service, name string) (results []bulkjob.Result) {
	t.Helper()
	for after := int64(0); ; {
		page, err := s.Results(t.Context(), account, name, after, 93)
		if err != nil {
			t.Fatalf("Results = %v", err)
		}
		if len(page) == 0 {
			return results
		}
		results = append(results, page...)
		after = page[len(page)-1].Line
	}
}

// wantLines checks that each line has one result, in order, and that what was charged is their sum.
func wantLines(t *testing.T, s bulkjob.Service, w *Worker, name string, n int) []bulkjob.Result {
	t.Helper()
	results := all(t, s, name)
	credits := int64(0)
	for i, r := range results {
		if r.Line != int64(i+1) {
			t.Fatalf("result %d is that of line %d", i, r.Line)
		}
		credits += r.Credits
	}
	j := status(t, s, name)
	if len(results) != n || j.Left() != 0 || j.Through != int64(n) {
		t.Errorf("%d results, %d lines left, complete through %d; want %d, 0, %d", len(results), j.Left(), j.Through, n, n)
	}
	if j.Used != credits || w.Charged() != credits {
		t.Errorf("the job has used %d credits, %d were charged; want the sum of its results, %d", j.Used, w.Charged(), credits)
	}
	return results
}

func testStart(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	lines := Lines(100)
	first, made := start(t, s, "nightly", bulkjob.Options{}, lines)
	if !made || first.ID == "" || first.State != bulkjob.Queued || first.Lines != 100 || first.Refused != 3 ||
		first.Least != 133 || first.Most != 133 || first.CreatedAt.IsZero() {
		t.Errorf("Start = %+v, %v", first, made)
	}
	if again, made := start(t, s, "nightly", bulkjob.Options{}, lines); made || again.ID != first.ID {
		t.Errorf("an equal Start made %s; want %s again", again.ID, first.ID)
	}
	if _, _, err := tryStart(t, s, "nightly", bulkjob.Options{}, lines[:50]); !errors.Is(err, bulkjob.ErrConflict) {
		t.Errorf("Start with other lines = %v; want ErrConflict", err)
	}
	if _, _, err := tryStart(t, s, "nightly", bulkjob.Options{Fresh: true}, lines); !errors.Is(err, bulkjob.ErrConflict) {
		t.Errorf("Start with other options = %v; want ErrConflict", err)
	}
	if _, made := start(t, s, "another", bulkjob.Options{}, lines); !made {
		t.Error("a job with another name was not made")
	}
	w := &Worker{}
	Work(t, s, w)
	until(t, s, "nightly", bulkjob.Done)
	if again, made := start(t, s, "nightly", bulkjob.Options{}, lines); made || again.ID != first.ID ||
		again.State != bulkjob.Done {
		t.Errorf("an equal Start of a job that is done = %+v, %v", again, made)
	}
	second, made := start(t, s, "nightly", bulkjob.Options{}, lines[:10])
	if !made || second.ID == first.ID {
		t.Errorf("Start with other lines of a job that is done = %v, %v", second, made)
	}
	until(t, s, "nightly", bulkjob.Done)
	if got := len(all(t, s, "nightly")); got != 10 {
		t.Errorf("%d results; want 10, of the new job", got)
	}
	empty, _ := start(t, s, "empty", bulkjob.Options{}, nil)
	if empty.State != bulkjob.Done {
		t.Errorf("a job without lines is %s", empty.State)
	}
	jobs, err := s.Jobs(t.Context(), account, "another", 1)
	if err != nil || len(jobs) != 1 || jobs[0].Name != "empty" {
		t.Errorf("Jobs after another = %v, %v; want empty", jobs, err)
	}
	for of, want := range map[string]int{"": 2, account: 2, "other account": 0} {
		latest, err := s.Latest(t.Context(), of, 2)
		if err != nil || len(latest) != want || want > 0 && latest[0].CreatedAt.Before(latest[1].CreatedAt) {
			t.Errorf("Latest of %q = %v, %v; want %d", of, latest, err, want)
		}
	}
	if _, err := s.Job(t.Context(), "other account", "nightly"); !errors.Is(err, bulkjob.ErrAbsent) {
		t.Errorf("Job of another account = %v; want ErrAbsent", err)
	}
	if _, err := s.Results(t.Context(), account, "none", 0, 10); !errors.Is(err, bulkjob.ErrAbsent) {
		t.Errorf("Results of no job = %v; want ErrAbsent", err)
	}
	if _, err := s.Stop(t.Context(), account, "none"); !errors.Is(err, bulkjob.ErrAbsent) {
		t.Errorf("Stop of no job = %v; want ErrAbsent", err)
	}
}

func testBrokenFile(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	broken := errors.New("the connection broke")
	_, _, err := s.Start(t.Context(), bulkjob.Job{Account: account, Name: "nightly"}, Sequence(Lines(30_000), broken),
		func() (string, int64) {
			t.Error("the sum of a broken file was asked for")
			return "", 0
		})
	if !errors.Is(err, broken) {
		t.Errorf("Start = %v; want the error of the lines", err)
	}
	if _, err := s.Job(t.Context(), account, "nightly"); !errors.Is(err, bulkjob.ErrAbsent) {
		t.Errorf("Job = %v; want ErrAbsent", err)
	}
	w := &Worker{}
	Work(t, s, w)
	start(t, s, "other", bulkjob.Options{}, Lines(3))
	until(t, s, "other", bulkjob.Done)
	wantLines(t, s, w, "other", 3)
}

func testResults(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	w := &Worker{Line: func(line bulkjob.Line, _ int) bulkjob.Result {
		switch line.Number % 10 {
		case 4:
			return Missing(line)
		case 5:
			return Failed(line)
		}
		return Found(line)
	}}
	Work(t, s, w)
	const n = 503
	start(t, s, "nightly", bulkjob.Options{}, Lines(n))
	j := until(t, s, "nightly", bulkjob.Done)
	if j.Missing != 50 || j.Failed != 50 || j.Found != n-100 || j.EndedAt.IsZero() {
		t.Errorf("the job is %+v", j)
	}
	results := wantLines(t, s, w, "nightly", n)
	for _, number := range []int64{1, 3, 4, 5} {
		line := Lines(5)[number-1]
		if diff := cmp.Diff(w.Line(line, 0), results[number-1]); diff != "" {
			t.Errorf("the result of line %d (-want +got):\n%s", number, diff)
		}
	}
	for _, c := range w.Calls() {
		most := 10
		if c.Lines[0].Platform == platform.Bluesky {
			most = 25
		}
		if len(c.Lines) > most {
			t.Errorf("a chunk of %d lines of %s; want at most %d", len(c.Lines), c.Lines[0].Platform, most)
		}
		for _, line := range c.Lines {
			if line.Platform != c.Lines[0].Platform {
				t.Error("a chunk has lines of two platforms")
			}
		}
	}
	await.Until(t, "the announcement", func() bool { return len(w.Announced()) > 0 })
	if diff := cmp.Diff([]string{"done "}, w.Announced()); diff != "" {
		t.Errorf("announcements (-want +got):\n%s", diff)
	}
}

func testWaitForCredits(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	balance := int64(25)
	w := &Worker{Balance: &balance}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, Lines(90))
	j := until(t, s, "nightly", bulkjob.Waiting)
	if j.WaitingFor != bulkjob.ForCredits {
		t.Errorf("the job waits for %q; want credits", j.WaitingFor)
	}
	await.Until(t, "what was under way to end, with 24 or 25 credits", func() bool {
		return status(t, s, "nightly").Used >= 24
	})
	await.Until(t, "the announcement", func() bool { return slices.Contains(w.Announced(), "waiting credits") })
	for range 2 {
		w.Grant(60)
		if err := s.Granted(t.Context(), account); err != nil {
			t.Fatal(err)
		}
	}
	until(t, s, "nightly", bulkjob.Done)
	wantLines(t, s, w, "nightly", 90)
}

func testWaitUntilAffords(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	balance := int64(0)
	w := &Worker{Balance: &balance}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, Lines(30))
	until(t, s, "nightly", bulkjob.Waiting)
	w.Grant(40) // by another process, which does not say so
	until(t, s, "nightly", bulkjob.Done)
	wantLines(t, s, w, "nightly", 30)
}

func testMaxCredits(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	w := &Worker{Line: func(line bulkjob.Line, _ int) bulkjob.Result {
		if line.Number <= 30 {
			return Missing(line) // free
		}
		return Found(line)
	}}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{MaxCredits: 51}, Lines(300))
	j := until(t, s, "nightly", bulkjob.Waiting)
	if j.WaitingFor != bulkjob.ForMaxCredits || j.Used < 49 || j.Used > 51 || w.Charged() != j.Used {
		t.Errorf("the job waits for %q with %d used, %d charged; want max_credits, 50 or 51", j.WaitingFor, j.Used, w.Charged())
	}
	if err := s.Granted(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	if j := status(t, s, "nightly"); j.State != bulkjob.Waiting {
		t.Errorf("a grant made the job %s", j.State)
	}
}

func testWaitEnds(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{Wait: time.Millisecond})
	balance := int64(5)
	w := &Worker{Balance: &balance}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, Lines(30))
	j := until(t, s, "nightly", bulkjob.Ended)
	if j.Left() == 0 || j.EndedAt.IsZero() || j.WaitingFor != "" {
		t.Errorf("the job is %+v", j)
	}
	await.Until(t, "the announcement", func() bool { return slices.Contains(w.Announced(), "ended ") })
}

func testStop(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	under, release := make(chan struct{}, 1000), make(chan struct{})
	w := &Worker{Most: 1, Before: func(_ context.Context, _ bulkjob.Chunk) (bulkjob.Worked, bool, error) {
		under <- struct{}{}
		<-release
		return bulkjob.Worked{}, false, nil
	}}
	Work(t, s, w)
	lines := slices.DeleteFunc(Lines(300), func(l bulkjob.Line) bool { return l.Platform != platform.GitHub })
	start(t, s, "nightly", bulkjob.Options{}, lines)
	<-under
	j, err := s.Stop(t.Context(), account, "nightly")
	if err != nil || j.State != bulkjob.Ended {
		t.Errorf("Stop = %+v, %v", j, err)
	}
	close(release)
	await.Until(t, "what was under way to be finished", func() bool { return status(t, s, "nightly").Found > 0 })
	if again, err := s.Stop(t.Context(), account, "nightly"); err != nil || again.State != bulkjob.Ended {
		t.Errorf("a second Stop = %+v, %v", again, err)
	}
	if got := len(w.Calls()); got != 1 {
		t.Errorf("%d chunks were read; want 1", got)
	}
	if got := len(all(t, s, "nightly")); got != 10 {
		t.Errorf("%d results; want those of 1 chunk, 10", got)
	}
	second, made := start(t, s, "nightly", bulkjob.Options{}, lines)
	if !made || second.ID == j.ID {
		t.Error("an equal Start of a job that was stopped did not make another one")
	}
	until(t, s, "nightly", bulkjob.Done)
	if got := len(all(t, s, "nightly")); got != len(lines) {
		t.Errorf("%d results; want %d", got, len(lines))
	}
}

func testStopAccount(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	start(t, s, "first", bulkjob.Options{}, Lines(30))
	start(t, s, "second", bulkjob.Options{}, Lines(30))
	if err := s.StopAccount(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	w := &Worker{}
	Work(t, s, w)
	await.Until(t, "the announcement", func() bool { return len(w.Announced()) == 2 })
	for _, name := range []string{"first", "second"} {
		if j := status(t, s, name); j.State != bulkjob.Ended || j.Left() != 30 {
			t.Errorf("%s is %s with %d left", name, j.State, j.Left())
		}
	}
	if got := w.Calls(); len(got) != 0 {
		t.Errorf("%d chunks were read", len(got))
	}
}

func testStopByWorker(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	w := &Worker{Before: func(context.Context, bulkjob.Chunk) (bulkjob.Worked, bool, error) {
		return bulkjob.Worked{Stop: true}, true, nil
	}}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, Lines(30))
	if j := until(t, s, "nightly", bulkjob.Ended); j.Left() != 30 {
		t.Errorf("%d lines left; want 30", j.Left())
	}
}

func testDeadline(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	w := &Worker{}
	start(t, s, "nightly", bulkjob.Options{Deadline: time.Now().Add(-time.Second).UTC()}, Lines(30))
	Work(t, s, w)
	if j := until(t, s, "nightly", bulkjob.Ended); j.Left() != 30 || len(w.Calls()) != 0 {
		t.Errorf("%d lines left after %d calls; want 30, 0", j.Left(), len(w.Calls()))
	}
}

func testRetries(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{RetryFor: time.Second})
	var tries atomic.Int64
	w := &Worker{Line: func(line bulkjob.Line, attempt int) bulkjob.Result {
		switch {
		case line.Number == 7:
			tries.Add(1)
			return Again(line)
		case line.Number == 8 && attempt < 2:
			return Again(line)
		}
		return Found(line)
	}}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, Lines(40))
	await.Until(t, "the job to wait for the next attempt", func() bool {
		j := status(t, s, "nightly")
		return j.State == bulkjob.Waiting && j.WaitingFor == bulkjob.ForRetry && j.TriedIn > 0 && j.Found >= 38
	})
	j := until(t, s, "nightly", bulkjob.Done)
	results := wantLines(t, s, w, "nightly", 40)
	if r := results[6]; r.Outcome != bulkjob.LineFailed || r.Again || string(r.Problem) != `{"code":"upstream_error"}` ||
		tries.Load() != 8 {
		t.Errorf("after %d attempts the line is %+v; want 8, and failed with the last problem", tries.Load(), r)
	}
	if r := results[7]; r.Outcome != bulkjob.LineFound {
		t.Errorf("a line that was found at its third attempt is %+v", r)
	}
	if j.Found != 39 || j.Failed != 1 {
		t.Errorf("%d found, %d failed; want 39, 1", j.Found, j.Failed)
	}
}

func testLater(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	var isOpen atomic.Bool
	var attempts sync.Map
	w := &Worker{}
	w.Before = func(_ context.Context, c bulkjob.Chunk) (bulkjob.Worked, bool, error) {
		attempts.Store(c.Attempt, true)
		later := bulkjob.Worked{Later: time.Now().Add(300 * time.Millisecond)}
		if c.Lines[0].Platform == platform.Bluesky && !isOpen.Load() {
			return later, true, nil
		}
		if len(c.Lines) == 10 { // only half of them can be read
			read := c
			read.Lines = c.Lines[:5]
			later.Results = w.read(read).Results
			return later, true, nil
		}
		return bulkjob.Worked{}, false, nil
	}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, Lines(60))
	await.Until(t, "the other platform to be read", func() bool { return status(t, s, "nightly").Found == 40 })
	await.Until(t, "the job to wait for the platform", func() bool {
		j := status(t, s, "nightly")
		return j.State == bulkjob.Waiting && j.WaitingFor == string(platform.Bluesky) && j.TriedIn > 0
	})
	isOpen.Store(true)
	until(t, s, "nightly", bulkjob.Done)
	wantLines(t, s, w, "nightly", 60)
	attempts.Range(func(n, _ any) bool {
		if n != 0 {
			t.Errorf("a chunk that was not tried has attempt %v", n)
		}
		return true
	})
}

func testUnknownEnd(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	var failed sync.Map
	w := &Worker{After: func(_ context.Context, c bulkjob.Chunk) error {
		if _, again := failed.LoadOrStore(c.IdempotencyKey(), true); !again {
			return errors.New("the store is away")
		}
		return nil
	}}
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, Lines(30))
	until(t, s, "nightly", bulkjob.Done)
	wantLines(t, s, w, "nightly", 30)
	if calls, keys := len(w.Calls()), len(w.Keys()); calls != 2*keys {
		t.Errorf("%d calls under %d keys; want each twice", calls, keys)
	}
}

func testTwoProcesses(t *testing.T, open Open) {
	t.Helper()
	services := open(t, Limits{}, 2)
	w := &Worker{}
	var by [2]atomic.Int64
	for i, s := range services {
		mine := &Worker{Most: 1, Before: func(ctx context.Context, c bulkjob.Chunk) (bulkjob.Worked, bool, error) {
			by[i].Add(1)
			worked, err := w.Work(ctx, c)
			return worked, true, err
		}}
		Work(t, s, mine)
	}
	start(t, services[0], "nightly", bulkjob.Options{}, Lines(1000))
	until(t, services[1], "nightly", bulkjob.Done)
	wantLines(t, services[1], w, "nightly", 1000)
	if calls, keys := len(w.Calls()), len(w.Keys()); calls != keys {
		t.Errorf("%d calls under %d keys; want each once", calls, keys)
	}
	if by[0].Load() == 0 || by[1].Load() == 0 {
		t.Errorf("the processes have worked %d and %d chunks", by[0].Load(), by[1].Load())
	}
}

func testCheapest(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	start(t, s, "nightly", bulkjob.Options{Cheapest: true}, Lines(300))
	w := &Worker{}
	Work(t, s, w)
	until(t, s, "nightly", bulkjob.Done)
	wantLines(t, s, w, "nightly", 300)
	cost := int64(0)
	for _, c := range w.Calls() {
		if c.Lines[0].Most < cost {
			t.Fatalf("a line of %d credits was read after one of %d", c.Lines[0].Most, cost)
		}
		cost = c.Lines[0].Most
	}
}

func testLimits(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{Jobs: 2, Lines: 100})
	start(t, s, "first", bulkjob.Options{}, Lines(50))
	if _, _, err := tryStart(t, s, "large", bulkjob.Options{}, Lines(51)); !errors.Is(err, bulkjob.ErrFull) {
		t.Errorf("Start with too many lines = %v; want ErrFull", err)
	}
	start(t, s, "second", bulkjob.Options{}, Lines(10))
	if _, _, err := tryStart(t, s, "third", bulkjob.Options{}, Lines(10)); !errors.Is(err, bulkjob.ErrFull) {
		t.Errorf("Start of a third job = %v; want ErrFull", err)
	}
	if _, err := s.Job(t.Context(), account, "third"); !errors.Is(err, bulkjob.ErrAbsent) {
		t.Errorf("Job that was refused = %v; want ErrAbsent", err)
	}
	if _, err := s.Stop(t.Context(), account, "first"); err != nil {
		t.Fatal(err)
	}
	start(t, s, "third", bulkjob.Options{}, Lines(10))
}

func testSpace(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{ResultBytes: 1000})
	w := &Worker{}
	Work(t, s, w)
	start(t, s, "first", bulkjob.Options{}, Lines(1000))
	j := until(t, s, "first", bulkjob.Waiting)
	if j.WaitingFor != bulkjob.ForSpace || j.Found == 0 {
		t.Errorf("the job waits for %q with %d found; want space", j.WaitingFor, j.Found)
	}
	await.Until(t, "the announcement", func() bool { return slices.Contains(w.Announced(), "waiting space") })
}

func testKeep(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{Keep: time.Millisecond})
	Work(t, s, &Worker{})
	start(t, s, "nightly", bulkjob.Options{}, Lines(3))
	await.Until(t, "the job to be removed", func() bool {
		_, err := s.Job(t.Context(), account, "nightly")
		return errors.Is(err, bulkjob.ErrAbsent)
	})
	await.Until(t, "its results to be removed", func() bool {
		stored, err := s.Stored(t.Context())
		return err == nil && len(stored) == 0
	})
}

func subject(handle string, dryRun bool) privacy.Subject {
	who := privacy.NewHasher(make([]byte, 32)).Subject(platform.GitHub, handle, "")
	who.DryRun = dryRun
	return who
}

func testErase(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	start(t, s, "open", bulkjob.Options{}, Lines(30))
	for _, dryRun := range []bool{true, false} {
		removed, err := s.Erase(t.Context(), subject("person4", dryRun))
		if diff := cmp.Diff(map[string]int{"bulk lines": 1}, removed); err != nil || diff != "" {
			t.Errorf("Erase = %v (-want +got):\n%s", err, diff)
		}
	}
	if j := status(t, s, "open"); j.Lines != 29 {
		t.Errorf("the job has %d lines; want 29", j.Lines)
	}
	w := &Worker{}
	Work(t, s, w)
	until(t, s, "open", bulkjob.Done)
	stored, err := s.Stored(t.Context())
	if err != nil || len(stored) != 2 || stored[0].Number+stored[1].Number != 29 || stored[0].Bytes == 0 {
		t.Errorf("Stored = %+v, %v; want 29 results", stored, err)
	}
	for range 2 { // the second finds nothing
		removed, err := s.Erase(t.Context(), subject("person5", false))
		if err != nil || removed["bulk lines"] != 0 || removed["bulk results"] > 1 {
			t.Errorf("Erase = %v, %v", removed, err)
		}
	}
	var numbers []int64
	for _, r := range all(t, s, "open") {
		numbers = append(numbers, r.Line)
	}
	want := slices.DeleteFunc(rangeOf(30), func(n int64) bool { return n == 4 || n == 5 })
	if diff := cmp.Diff(want, numbers); diff != "" {
		t.Errorf("the lines with results (-want +got):\n%s", diff)
	}
}

func rangeOf(n int64) (all []int64) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// testEraseWhileWorking erases a line of a chunk that was charged, and of whose call it is not known what became.
func testEraseWhileWorking(t *testing.T, open Open) {
	t.Helper()
	s := one(t, open, Limits{})
	under, release := make(chan struct{}), make(chan struct{})
	w := &Worker{After: func(_ context.Context, c bulkjob.Chunk) error {
		if c.Lines[0].Key != "person1" {
			return nil
		}
		under <- struct{}{}
		<-release
		return errors.New("the store is away")
	}}
	lines := Lines(30)
	Work(t, s, w)
	start(t, s, "nightly", bulkjob.Options{}, lines)
	<-under
	removed, err := s.Erase(t.Context(), subject("person1", false))
	if err != nil || removed["bulk lines"] != 1 {
		t.Errorf("Erase = %v, %v", removed, err)
	}
	close(release)
	until(t, s, "nightly", bulkjob.Done)
	var price, used int64
	for _, line := range lines {
		price += Found(line).Credits
	}
	for _, r := range all(t, s, "nightly") {
		used += r.Credits
		if r.Key == "person1" {
			t.Error("the result of an erased line was stored")
		}
	}
	if erased := Found(lines[0]).Credits; w.Charged() != price || used != price-erased {
		t.Errorf("%d credits were charged, of which results have %d; want %d and %d", w.Charged(), used, price, price-erased)
	}
}
