package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/requests"
)

// following is a command that follows the log.
type following struct {
	out, log output
	status   chan int // has the exit status when the command has ended
	end      context.CancelFunc
}

// followLog runs logs --follow until end is called.
func followLog(t *testing.T, args ...string) *following {
	t.Helper()
	f := &following{status: make(chan int, 1)}
	var ctx context.Context
	ctx, f.end = context.WithCancel(t.Context())
	t.Cleanup(f.end)
	go func() {
		f.status <- run(ctx, append(args, "-o", "jsonl"), strings.NewReader(""), &f.out, &f.log,
			func(string) string { return "" })
	}()
	return f
}

// until waits for the call with an id, and returns the ids of all calls that were printed.
func (f *following) until(t *testing.T, id string) (ids []string) {
	t.Helper()
	await.Until(t, "the command to print "+id, func() bool {
		if len(f.status) > 0 {
			t.Fatalf("the command ended with %d before %s: %s", <-f.status, id, f.log.String())
		}
		ids = nil
		said := []byte(f.out.String())
		for line := range bytes.Lines(said[:bytes.LastIndexByte(said, '\n')+1]) {
			var r requestShape
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			ids = append(ids, r.RequestID)
		}
		return slices.Contains(ids, id)
	})
	return ids
}

func TestLogsFollowCalls(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	base, secret, stop := running(t, db)
	defer stop()
	var made []string
	call := func(want int, query string) {
		t.Helper()
		status, body, raw := read(t, base+"/v1/mock/"+query, secret)
		id, err := at(body, "meta.request_id")
		if err != nil {
			id, err = at(body, "request_id")
		}
		if err != nil || status != want {
			t.Fatalf("%s: status %d, %v: %s", query, status, err, raw)
		}
		made = append(made, id.(string))
	}
	call(http.StatusOK, "profile?handle=ann")
	call(http.StatusNotFound, "profile?handle=not_found")
	far := []string{
		"--db", filepath.Join(t.TempDir(), "none.db"), "--server", base, "--key", secret, "logs", "--follow",
	}
	here, there := followLog(t, "--db", db, "logs", "-f"), followLog(t, far...)
	here.until(t, made[1])
	there.until(t, made[1])
	call(http.StatusOK, "posts?handle=ann")
	call(http.StatusOK, "posts?handle=ann")
	for name, f := range map[string]*following{"the database": here, "a server": there} {
		if diff := cmp.Diff(made, f.until(t, made[3])); diff != "" {
			t.Errorf("calls of %s (-want +got):\n%s", name, diff)
		}
	}
	failed := followLog(t, append(far, "--status=404")...)
	failed.until(t, made[1])
	call(http.StatusNotFound, "profile?handle=suspended")
	if diff := cmp.Diff([]string{made[1], made[4]}, failed.until(t, made[4])); diff != "" {
		t.Errorf("calls that failed (-want +got):\n%s", diff)
	}
	for _, f := range []*following{here, there, failed} {
		f.end()
		if status := <-f.status; status != 0 || f.log.String() != "" {
			t.Errorf("a command that is interrupted ends with %d: %s", status, f.log.String())
		}
	}
}

func TestFollowRefusesOtherFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"logs --follow -o csv":                                "use it with --output jsonl",
		"--server http://127.0.0.1:1 logs --follow -o table":  "use it with --output jsonl",
		"--server http://127.0.0.1:1 logs --follow --limit 0": "--limit must be at least 1",
		"--server http://127.0.0.1:1 logs -f --account acme":  "leave out --account",
	} {
		db := filepath.Join(t.TempDir(), "t.db")
		if status, _, log := cliRun(t, nil, "--db", db, "account", "create", "acme"); status != 0 {
			t.Fatal(log)
		}
		status, out, log := cliRun(t, nil, append([]string{"--db", db}, strings.Fields(args)...)...)
		if status < 1 || out != "" || !strings.Contains(log, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, log, want)
		}
	}
}

// TestTailFindsEachCallOnce adds calls between looks, some of them before calls that are listed already, as several
// servers do.
func TestTailFindsEachCallOnce(t *testing.T) {
	t.Parallel()
	log := []string{}
	rows := func(ids []string) iter.Seq2[requestShape, error] {
		return func(yield func(requestShape, error) bool) {
			for _, id := range slices.Backward(ids) {
				if !yield(requestShape{RequestID: id}, nil) {
					return
				}
			}
		}
	}
	for n := range 400 {
		log = append(log, strconv.Itoa(n))
	}
	tail := &tail{}
	look := func(limit int, want ...string) {
		t.Helper()
		found, err := tail.read(rows(log), limit)
		got := []string{}
		for _, r := range found {
			got = append(got, r.RequestID)
		}
		if diff := cmp.Diff(append([]string{}, want...), got); err != nil || diff != "" {
			t.Errorf("%v, found (-want +got):\n%s", err, diff)
		}
	}
	look(2, "398", "399")
	look(0)
	log = append(log, "a", "b")
	look(0, "a", "b")
	log = slices.Insert(log, len(log)-50, "late")
	log = append(log, "c")
	look(0, "late", "c")
	many := []string{}
	for n := range 1000 {
		many = append(many, "many "+strconv.Itoa(n))
	}
	log = append(log, many...)
	look(0, many...)
	look(0)
	log = append(slices.Clone(log[len(log)-50:]), "d") // the log has lost its oldest calls
	look(0, "d")
}

func TestListedReadsTheWholeLogOnce(t *testing.T) {
	t.Parallel()
	log := requests.NewMemory(requests.Bounds{})
	for n := range 250 {
		log.Note(requests.Request{ID: strconv.Itoa(n), Status: 200 + n%2})
	}
	rows := listed(t.Context(), log, requests.Query{Status: 201, Limit: 1})
	for range 2 {
		var got []string
		for r, err := range rows {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.RequestID)
		}
		if len(got) != 125 || got[0] != "249" || got[124] != "1" {
			t.Errorf("listed %v", got)
		}
	}
	for _, err := range rows {
		if err != nil {
			t.Error(err)
		}
		break // and not a step further
	}
}
