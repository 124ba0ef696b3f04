package bulk

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/bulkjob/bulktest"
	"github.com/socialdata/socialdata/internal/await"
)

func noSum() (string, int64) { return "sum", 0 }

func start(t *testing.T, s *Service, n int) {
	t.Helper()
	if _, made, err := s.Start(t.Context(), bulkjob.Job{Account: "acct", Name: "nightly", Key: "key"},
		bulktest.Sequence(bulktest.Lines(n), nil), noSum); err != nil || !made {
		t.Fatalf("Start = %v, %v", made, err)
	}
}

func untilDone(t *testing.T, s *Service) bulkjob.Job {
	t.Helper()
	var j bulkjob.Job
	await.Until(t, "the job to be done", func() (done bool) {
		var err error
		if j, err = s.Job(t.Context(), "acct", "nightly"); err != nil {
			t.Fatal(err)
		}
		return j.State == bulkjob.Done
	})
	return j
}

// number runs a query and returns its result.
func number(t *testing.T, s *Service, query string) (n int64) {
	t.Helper()
	if err := s.read(t.Context(), func(x tx) error {
		_, err := x.row([]any{&n}, query)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func exec(t *testing.T, s *Service, query string) {
	t.Helper()
	if err := s.write(t.Context(), func(x tx) error {
		_, err := x.exec(query)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// onEach runs a test on each database.
func onEach(t *testing.T, cfg Config, n int, test func(t *testing.T, s []*Service)) {
	t.Helper()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := testConfig(t, bulktest.Limits{})
			if cfg.lease > 0 {
				of.lease = cfg.lease
			}
			of.Sink = cfg.Sink
			test(t, open(t, of, n))
		})
	}
}

// TestLateResultsChangeNothing has a process that does not extend its leases, like one that was stopped, until another
// one has done its work.
func TestLateResultsChangeNothing(t *testing.T) {
	t.Parallel()
	onEach(t, Config{lease: 300 * time.Millisecond}, 2, func(t *testing.T, s []*Service) {
		t.Helper()
		under, release := make(chan struct{}, 100), make(chan struct{})
		free := sync.OnceFunc(func() { close(release) })
		t.Cleanup(free)
		late := &bulktest.Worker{
			Line: func(line bulkjob.Line, _ int) bulkjob.Result { return bulktest.Failed(line) },
			After: func(context.Context, bulkjob.Chunk) error {
				s[0].mu.Lock()
				s[0].working = -1000
				s[0].mu.Unlock()
				under <- struct{}{}
				<-release
				return nil
			},
		}
		bulktest.Work(t, s[0], late)
		start(t, s[0], 20)
		<-under
		bulktest.Work(t, s[1], &bulktest.Worker{})
		if j := untilDone(t, s[1]); j.Found != 20 {
			t.Errorf("%d lines found; want 20", j.Found)
		}
		before := number(t, s[1], "SELECT max(stored) + sum(bytes) FROM @bulk_results")
		free()
		await.Until(t, "the late worker to return", func() bool {
			s[0].mu.Lock()
			defer s[0].mu.Unlock()
			return s[0].working == -1000-len(late.Calls())
		})
		if j := untilDone(t, s[1]); j.Found != 20 || j.Failed != 0 || j.Used != 26 {
			t.Errorf("after the late results the job is %+v", j)
		}
		if got := number(t, s[1], "SELECT max(stored) + sum(bytes) FROM @bulk_results"); got != before {
			t.Error("late results were stored")
		}
		wantEmptyQueue(t, s[1])
	})
}

// wantEmptyQueue waits until nothing is left in the queue.
func wantEmptyQueue(t *testing.T, s *Service) {
	t.Helper()
	await.Until(t, "the queue to be empty", func() bool {
		return number(t, s, "SELECT count(*) FROM @river_job WHERE finalized_at IS NULL") == 0
	})
	if n := number(t, s, "SELECT count(*) FROM @bulk_chunks"); n != 0 {
		t.Errorf("%d chunks are left", n)
	}
}

func TestAJobOfRiverThatNoOneWorksIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]string{
		"it is gone": "DELETE FROM @river_job",
		"its process was killed before it had a lease": `UPDATE @river_job SET state = 'running', attempt = 1,
			attempted_at = '2026-01-01 00:00:00'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, Config{}, 1, func(t *testing.T, s []*Service) {
				t.Helper()
				start(t, s[0], 30)
				if err := s[0].refill(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := number(t, s[0], "SELECT count(*) FROM @river_job"); n != 3 {
					t.Fatalf("%d jobs of River; want 3", n)
				}
				exec(t, s[0], lose)
				bulktest.Work(t, s[0], &bulktest.Worker{})
				if j := untilDone(t, s[0]); j.Found != 30 {
					t.Errorf("%d lines found; want 30", j.Found)
				}
				wantEmptyQueue(t, s[0])
			})
		})
	}
}

// TestOnlyAWindowIsInTheQueue starts a large job, and ends it.
func TestOnlyAWindowIsInTheQueue(t *testing.T) {
	t.Parallel()
	onEach(t, Config{}, 1, func(t *testing.T, s []*Service) {
		t.Helper()
		start(t, s[0], 9000)
		for range 3 {
			if err := s[0].refill(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := number(t, s[0], "SELECT count(*) FROM @river_job"); n != 2*window {
			t.Errorf("%d jobs of River; want %d for each of 2 platforms", n, window)
		}
		if _, err := s[0].Stop(t.Context(), "acct", "nightly"); err != nil {
			t.Fatal(err)
		}
		bulktest.Work(t, s[0], &bulktest.Worker{})
		await.Until(t, "the chunks to be removed", func() bool {
			return number(t, s[0], "SELECT count(*) FROM @bulk_chunks") == 0
		})
	})
}

// TestAFileWhoseReaderWasKilledIsRemoved lets a reader go on after its rows were removed.
func TestAFileWhoseReaderWasKilledIsRemoved(t *testing.T) {
	t.Parallel()
	onEach(t, Config{}, 1, func(t *testing.T, s []*Service) {
		t.Helper()
		lines := func(yield func(bulkjob.Line, error) bool) {
			for i, line := range bulktest.Lines(20_000) {
				if i == 15_000 {
					if n := number(t, s[0], "SELECT count(*) FROM @bulk_chunks"); n == 0 {
						t.Error("nothing was written while the file was read")
					}
					if err := s[0].sweep(t.Context()); err != nil || number(t, s[0], "SELECT count(*) FROM @bulk_jobs") != 1 {
						t.Errorf("the rows of a file that is being read were removed, or %v", err)
					}
					exec(t, s[0], "UPDATE @bulk_jobs SET alive = 0")
					if err := s[0].sweep(t.Context()); err != nil {
						t.Error(err)
					}
					if n := number(t, s[0], "SELECT count(*) FROM @bulk_chunks"); n != 0 {
						t.Errorf("%d chunks are left", n)
					}
				}
				if !yield(line, nil) {
					return
				}
			}
		}
		_, _, err := s[0].Start(t.Context(), bulkjob.Job{Account: "acct", Name: "nightly"}, lines, noSum)
		if !errors.Is(err, errForgotten) {
			t.Errorf("Start = %v; want errForgotten", err)
		}
		if err := s[0].sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if n := number(t, s[0], "SELECT count(*) FROM @bulk_chunks") + number(t, s[0], "SELECT count(*) FROM @bulk_jobs"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// TestBehindAPooler polls: the DSN chooses how statements are run, as one for a pooler does.
func TestBehindAPooler(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	separator := "?"
	if strings.Contains(cfg.DSN, "?") {
		separator = "&"
	}
	cfg.DSN += separator + "default_query_exec_mode=exec&pool_max_conns=3"
	db := openWith(t, cfg)
	if db.Direct() {
		t.Error("the connections are said to have state")
	}
	s := services(t, 1, func() (*Service, error) {
		return OpenPostgres(t.Context(), db, testConfig(t, bulktest.Limits{}))
	})
	bulktest.Work(t, s[0], &bulktest.Worker{})
	start(t, s[0], 500)
	untilDone(t, s[0])
	wantEmptyQueue(t, s[0])
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	onEach(t, Config{Sink: Directory(dir)}, 1, func(t *testing.T, s []*Service) {
		t.Helper()
		bulktest.Work(t, s[0], &bulktest.Worker{})
		start(t, s[0], 100)
		j := untilDone(t, s[0])
		if results, err := s[0].Results(t.Context(), "acct", "nightly", 0, 10); err != nil || len(results) != 0 {
			t.Errorf("Results = %v, %v; want none", results, err)
		}
		names, err := filepath.Glob(filepath.Join(dir, "acct", "nightly-"+j.ID, "*"))
		if err != nil || len(names) != 9 {
			t.Fatalf("the files are %v, %v; want 9", names, err)
		}
		found := map[int64]bool{}
		for _, name := range names {
			for _, w := range linesOf(t, name) {
				if found[w.Line] || w.Key == "" || len(w.Data) == 0 || w.Credits == 0 {
					t.Errorf("%s has %+v", name, w)
				}
				found[w.Line] = true
			}
		}
		if len(found) != 100 {
			t.Errorf("the files have %d lines; want 100", len(found))
		}
	})
}

func linesOf(t *testing.T, name string) (all []written) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for d := json.NewDecoder(z); ; {
		var w written
		if err := d.Decode(&w); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, w)
	}
}

func TestFileNamesStayInTheDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".", "..", "../x", "a/b", `a\b`, "", "nightly"} {
		got := fileName(name)
		if got == "." || got == ".." || strings.ContainsAny(got, `/\`) {
			t.Errorf("fileName(%q) = %q", name, got)
		}
	}
}

func TestANewerSchemaIsNotServed(t *testing.T) {
	t.Parallel()
	db := openFile(t)
	s := services(t, 1, func() (*Service, error) { return OpenSQLite(t.Context(), db, Config{}) })
	exec(t, s[0], "INSERT INTO @bulk_schema VALUES (1000)")
	if _, err := OpenSQLite(t.Context(), db, Config{}); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("OpenSQLite = %v; want an error about a newer program", err)
	}
}
