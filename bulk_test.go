package socialdata_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/bulkjob/bulktest"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// bulking returns an engine with bulk jobs in memory.
func bulking(t *testing.T, cfg enginetest.Config) (*enginetest.Engine, *bulktest.Memory) {
	t.Helper()
	e := enginetest.New(t, cfg)
	return e, e.Jobs
}

// ofProfile is a line that reads a profile.
func ofProfile(handle string) string {
	return fmt.Sprintf(`{"platform":"mock","operation":"profile","params":{"handle":%q}}`, handle) + "\n"
}

func startBulk(t *testing.T, c *socialdata.Client, req accounts.BulkRequest) schema.BulkStart {
	t.Helper()
	out, err := c.Account().Bulk().Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// jobIn waits until a job has a state.
func jobIn(t *testing.T, c *socialdata.Client, name, state string) (j schema.BulkJob) {
	t.Helper()
	await.Until(t, "the job to be "+state, func() bool {
		var err error
		if j, err = c.Account().Bulk().Status(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		return j.State == state
	})
	return j
}

// wantCounts checks how many lines of a job were found and are left, its credits, and what it waits for.
func wantCounts(t *testing.T, j schema.BulkJob, found, left, used int64, waitingFor string) {
	t.Helper()
	if j.Found != found || j.Left != left || j.CreditsUsed != used || waitingFor != "" && *j.WaitingFor != waitingFor {
		t.Errorf("the job is %+v; want %d found, %d left, %d credits, waiting for %q", j, found, left, used, waitingFor)
	}
}

func resultsOf(t *testing.T, c *socialdata.Client, name string) (all []schema.BulkResult) {
	t.Helper()
	for req := (accounts.BulkResultsRequest{Name: name}); ; {
		page, err := c.Account().Bulk().Results(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Data...)
		if page.Meta.NextCursor == "" {
			return all
		}
		req.Cursor = page.Meta.NextCursor
	}
}

// wantCharged compares the charges of the account, each an operation and an amount.
func wantCharged(t *testing.T, e *enginetest.Engine, want ...string) {
	t.Helper()
	var got []string
	for _, entry := range charged(t, e) {
		got = append(got, fmt.Sprint(entry.Operation, " ", entry.Amount))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
}

// codeOf returns what became of a result.
func codeOf(r schema.BulkResult) string {
	if r.Problem != nil {
		return string(r.Problem.Code)
	}
	return "found"
}

func TestABulkJobReadsEachLineOnceAndChargesWhatItFinds(t *testing.T) {
	t.Parallel()
	e, m := bulking(t, enginetest.Config{})
	file := ofProfile("ann") + "\n" + ofProfile("not_found") + ofProfile("upstream_error") + ofProfile("bob") +
		`{"platform":"mock","operation":"posts","params":{"handle":"ann"}}` + "\n" +
		`{"platform":"mock","operation":"comments","params":{"post_id":"ann-post-1"}}`
	made := startBulk(t, e.Client, accounts.BulkRequest{Name: "night", File: strings.NewReader(file)})
	if want := (schema.BulkStart{
		ID: "night", Accepted: 6, Refused: []schema.BulkRefusal{}, Credits: schema.BulkCredits{Least: 6, Most: 6}, New: true,
	}); !cmp.Equal(want, made) {
		t.Errorf("Start (-want +got):\n%s", cmp.Diff(want, made))
	}
	j := jobIn(t, e.Client, "night", "done")
	if j.Found != 4 || j.Missing != 1 || j.Failed != 1 || j.Left != 0 || j.CreditsUsed != 4 {
		t.Errorf("the job is %+v; want 4 found for 4 credits, 1 missing and 1 failed", j)
	}
	var got []string
	sum := int64(0)
	for _, r := range resultsOf(t, e.Client, "night") {
		got = append(got, fmt.Sprint(r.Line, " ", r.Key, " ", codeOf(r), " ", r.CreditsUsed, " ", string(r.Data) != "null"))
		sum += r.CreditsUsed
	}
	if diff := cmp.Diff([]string{
		"1 ann found 1 true", "3 not_found not_found 0 false", "4 upstream_error platform_unavailable 0 false",
		"5 bob found 1 true", "6 ann found 1 true", "7 ann-post-1 found 1 true",
	}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	paid := int64(0)
	for _, entry := range charged(t, e) {
		paid -= entry.Amount
	}
	if paid != sum || paid != j.CreditsUsed {
		t.Errorf("charged %d, results have %d and the job %d; want the same", paid, sum, j.CreditsUsed)
	}
	page, err := e.Client.Account().Requests(t.Context(), accounts.RequestsRequest{})
	if err != nil || len(page.Data) == 0 {
		t.Fatalf("the log is %+v, %v; want calls", page, err)
	}
	bulk := 0
	for _, r := range page.Data {
		if r.Source == schema.FromBulk {
			bulk++
		}
	}
	if bulk == 0 {
		t.Error("no call of the log comes from a bulk job")
	}
	if told := m.Announced(); len(told) != 1 || told[0].State != bulkjob.Done {
		t.Errorf("announced: %+v; want one that is done", told)
	}
}

func TestTheSameFileIsTheSameBulkJob(t *testing.T) {
	t.Parallel()
	e, _ := bulking(t, enginetest.Config{})
	bulk := e.Client.Account().Bulk()
	start := func(file string, fresh bool) (schema.BulkStart, error) {
		return bulk.Start(t.Context(), accounts.BulkRequest{Name: "night", File: strings.NewReader(file), Fresh: fresh})
	}
	slow := ofProfile("slow_500ms")
	for i, want := range []bool{true, false} {
		if made, err := start(slow, false); err != nil || made.New != want || made.Accepted != 1 {
			t.Errorf("start %d: %+v, %v; want a new one: %t, of one line", i, made, err, want)
		}
	}
	for name, err := range map[string]error{
		"another file": errorOf(start(slow+slow, false)), "other options": errorOf(start(slow, true)),
	} {
		if !errors.Is(err, problem.InvalidRequest) {
			t.Errorf("%s: %v; want %s", name, err, problem.InvalidRequest)
		}
	}
	jobIn(t, e.Client, "night", "done")
	if made, err := start(ofProfile("bob"), false); err != nil || !made.New {
		t.Errorf("another file after the end: %+v, %v; want a new job", made, err)
	}
	jobIn(t, e.Client, "night", "done")
	if results := resultsOf(t, e.Client, "night"); len(results) != 1 || results[0].Key != "bob" {
		t.Errorf("results: %+v; want bob alone", results)
	}
}

func errorOf[T any](_ T, err error) error { return err }

func TestABulkJobRefusesInvalidLinesOnly(t *testing.T) {
	t.Parallel()
	e, _ := bulking(t, enginetest.Config{})
	lines := []struct{ line, refused string }{
		{ofProfile("ann"), ""},
		{"", ""},
		{`{"url":"https://github.com/octocat"}`, "github"},
		{`{"url":"https://bit.ly/x"}`, "bit.ly"},
		{`{"platform":"mock","operation":"profile","params":{"handle":"ann"},"platformm":"x"}`, `"platformm" (did you mean platform?)`},
		{`{"platform":"mock","operation":"profile","params":{"handel":"ann"}}`, `"handel" (did you mean handle?)`},
		{`{"platform":"mock","operation":"profile","params":{"handle":7}}`, `"params" must be an object whose members are texts`},
		{`{"platform":"mock","operation":"profile","params":{"handle":"ann","fresh":"true"}}`, `"fresh" cannot be used in a line`},
		{`{"platform":"mock","operation":"posts","params":{"handle":"ann","cursor":"x"}}`, `"cursor" cannot be used in a line`},
		{`{"platform":"mock","operation":"profil","params":{"handle":"ann"}}`, "did you mean profile?"},
		{`{"platform":"mock","operation":"search_across","params":{"query":"ann"}}`, "operation must be one"},
		{`{"platform":"mok","operation":"profile","params":{"handle":"ann"}}`, `"mok" (did you mean mock?)`},
		{`{"platform":"mock","operation":"profile"}`, `"handle" is required`},
		{`{"platform":"mock","url":"x"}`, "either url"},
		{`{"operation":"profile"}`, "has url, or platform"},
		{`{"platform":"mock"} {}`, "more than one object"},
		{`["mock"]`, "must be a JSON object"},
		{`{"platform":"mock","operation":"profile","params":{"handle":"` + strings.Repeat("a", 70_000) + `"}}`, "longer than 64 KiB"},
		{`{"platform":"mock","operation":"pro`, "ends within"},
	}
	var file strings.Builder
	var want []int64
	for i, l := range lines {
		file.WriteString(strings.TrimSuffix(l.line, "\n"))
		if i < len(lines)-1 {
			file.WriteString("\n")
		}
		if l.refused != "" {
			want = append(want, int64(i+1))
		}
	}
	made := startBulk(t, e.Client, accounts.BulkRequest{Name: "night", File: iotest.OneByteReader(strings.NewReader(file.String()))})
	if made.Accepted != 1 || made.RefusedLines != int64(len(want)) {
		t.Errorf("%d lines are accepted and %d refused; want 1 and %d", made.Accepted, made.RefusedLines, len(want))
	}
	var got []int64
	for _, r := range made.Refused {
		got = append(got, r.Line)
		if say := lines[r.Line-1].refused; say == "" || !strings.Contains(r.Problem.Detail, say) {
			t.Errorf("line %d: %s; want %q", r.Line, r.Problem.Detail, say)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused lines (-want +got):\n%s", diff)
	}
}

// longLine is a file of that many bytes of one line.
type longLine struct{ left int }

func (e *longLine) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.left)
	for i := range b[:n] {
		b[i] = 'a'
	}
	e.left -= n
	return n, nil
}

func TestInvalidBulkFilesAreRefused(t *testing.T) {
	t.Parallel()
	e, _ := bulking(t, enginetest.Config{})
	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		req accounts.BulkRequest
		say string
	}{
		"empty":         {accounts.BulkRequest{File: strings.NewReader("")}, "no lines"},
		"blank lines":   {accounts.BulkRequest{File: strings.NewReader(strings.Repeat("\n", 1_000_000))}, "no lines"},
		"too many":      {accounts.BulkRequest{File: strings.NewReader(strings.Repeat("\n", 2_000_001))}, "2000000 lines"},
		"too long":      {accounts.BulkRequest{File: &longLine{300 << 20}}, "256 MiB"},
		"only refused":  {accounts.BulkRequest{File: strings.NewReader("x\ny\n")}, "no line can be read, of 2"},
		"broken off":    {accounts.BulkRequest{File: io.MultiReader(strings.NewReader(ofProfile("ann")), iotest.ErrReader(errors.New("gone")))}, "incomplete"},
		"no name":       {accounts.BulkRequest{Name: "A", File: strings.NewReader(ofProfile("ann"))}, "name"},
		"past deadline": {accounts.BulkRequest{Deadline: past, File: strings.NewReader(ofProfile("ann"))}, `"deadline"`},
		"no field":      {accounts.BulkRequest{Fields: "hndle", File: strings.NewReader(ofProfile("ann"))}, `"hndle"`},
		"no enricher":   {accounts.BulkRequest{Enrich: "latin", File: strings.NewReader(ofProfile("ann"))}, `"enrich"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.req.Name == "" {
				tt.req.Name = strings.ReplaceAll(name, " ", "-")
			}
			_, err := e.Client.Account().Bulk().Start(t.Context(), tt.req)
			if !errors.Is(err, problem.InvalidRequest) || !strings.Contains(fmt.Sprint(err), tt.say) {
				t.Errorf("Start = %v; want %q", err, tt.say)
			}
			if _, err := e.Client.Account().Bulk().Status(t.Context(), "x"+tt.req.Name[1:]); !errors.Is(err, problem.NotFound) {
				t.Errorf("Status = %v; want %s", err, problem.NotFound)
			}
			if page, err := e.Client.Account().Bulk().List(t.Context(), accounts.BulkJobsRequest{}); err != nil || len(page.Data) > 0 {
				t.Errorf("List = %+v, %v; want no jobs", page, err)
			}
		})
	}
}

func TestABulkJobWaitsForCredits(t *testing.T) {
	t.Parallel()
	e, m := bulking(t, enginetest.Config{Credits: 3})
	startBulk(t, e.Client, accounts.BulkRequest{Name: "night", File: strings.NewReader(
		ofProfile("a1") + ofProfile("a2") + ofProfile("a3") + ofProfile("a4") + ofProfile("a5"))})
	wantCounts(t, jobIn(t, e.Client, "night", "waiting"), 3, 2, 3, "credits")
	if _, err := e.Ledger.Grant(t.Context(), e.Key.Account, 10, "more"); err != nil {
		t.Fatal(err)
	}
	if err := m.Granted(t.Context(), e.Key.Account); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, jobIn(t, e.Client, "night", "done"), 5, 0, 5, "")
	if n, err := e.Ledger.Balance(t.Context(), e.Key.Account); err != nil || n != 8 {
		t.Errorf("the balance is %d, %v; want 8", n, err)
	}
}

func TestABulkJobContinuesWithMonthlyCredits(t *testing.T) {
	t.Parallel()
	e, _ := bulking(t, enginetest.Config{Credits: -1})
	startBulk(t, e.Client, accounts.BulkRequest{Name: "night", File: strings.NewReader(ofProfile("ann"))})
	jobIn(t, e.Client, "night", "waiting")
	spec := schema.AccountSpec{Monthly: new(int64(5))}
	if _, _, err := e.Open.Operator().Accounts().Make(t.Context(), e.Key.Account, spec); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, jobIn(t, e.Client, "night", "done"), 1, 0, 1, "")
}

func TestABulkJobEndsWithItsKey(t *testing.T) {
	t.Parallel()
	e, _ := bulking(t, enginetest.Config{Credits: -1})
	startBulk(t, e.Client, accounts.BulkRequest{Name: "night", File: strings.NewReader(ofProfile("ann"))})
	jobIn(t, e.Client, "night", "waiting")
	if _, err := e.Keys.Revoke(t.Context(), e.Key.ID); err != nil {
		t.Fatal(err)
	}
	other, _, err := e.Keys.CreateKey(t.Context(), keys.NewKey{Account: e.Key.Account, Environment: keys.Live})
	if err != nil {
		t.Fatal(err)
	}
	client, err := e.Open.Authenticate(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	// The grant of the operator makes the jobs of the account go on.
	if _, err := e.Open.Operator().Accounts().Grant(t.Context(), e.Key.Account, schema.CreditGrant{Credits: 5}); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, jobIn(t, client, "night", "ended"), 0, 1, 0, "")
}

func TestABulkJobRespectsTheCapOfItsKey(t *testing.T) {
	t.Parallel()
	e, _ := bulking(t, enginetest.Config{})
	limit := int64(2)
	secret, _, err := e.Keys.CreateKey(t.Context(), keys.NewKey{Account: e.Key.Account, Environment: keys.Live, TotalCap: &limit})
	if err != nil {
		t.Fatal(err)
	}
	client, err := e.Open.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	startBulk(t, client, accounts.BulkRequest{Name: "night", File: strings.NewReader(
		ofProfile("a1") + ofProfile("a2") + ofProfile("a3"))})
	wantCounts(t, jobIn(t, client, "night", "waiting"), 2, 1, 2, "credits")
}

// shownWorker is a service that shows its worker.
type shownWorker struct {
	*bulktest.Memory

	worker chan bulkjob.Worker
}

func (k *shownWorker) Run(ctx context.Context, w bulkjob.Worker) error {
	k.worker <- w
	<-ctx.Done()
	return nil
}

// worker returns an engine and what reads chunks for it.
func worker(t *testing.T, cfg enginetest.Config) (*enginetest.Engine, bulkjob.Worker) {
	t.Helper()
	k := &shownWorker{bulktest.NewMemory(), make(chan bulkjob.Worker, 1)}
	cfg.Options = append(cfg.Options, socialdata.WithBulk(k))
	e := enginetest.New(t, cfg)
	return e, <-k.worker
}

// chunkOf returns a chunk of profiles.
func chunkOf(e *enginetest.Engine, on platform.ID, handles ...string) bulkjob.Chunk {
	c := bulkjob.Chunk{Job: bulkjob.Job{ID: "job", Account: e.Key.Account, Key: e.Key.ID, Name: "night"}}
	for i, handle := range handles {
		params, _ := json.Marshal(map[string]string{"handle": handle})
		c.Lines = append(c.Lines, bulkjob.Line{
			Number: int64(i + 1), Platform: on, Operation: "profile", Params: params, Key: handle, Least: 1, Most: 1,
		})
	}
	return c
}

func TestARepeatedChunkIsChargedOnce(t *testing.T) {
	t.Parallel()
	e, w := worker(t, enginetest.Config{})
	c := chunkOf(e, platform.Mock, "ann", "not_found", "ann", "upstream_error", "bob")
	first, err := w.Work(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range first.Results {
		got = append(got, fmt.Sprint(r.Line, " ", r.Outcome, " ", r.Credits, " ", r.Again, r.Cache))
	}
	if diff := cmp.Diff([]string{"1 found 1 falseMISS", "2 missing 0 false", "3 found 0 falseMISS", "4 failed 0 true", "5 found 1 falseMISS"}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	again, err := w.Work(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	final := append(first.Results[:3:3], first.Results[4])
	if diff := cmp.Diff(final, again.Results); diff != "" {
		t.Errorf("the same chunk again (-first +again):\n%s", diff)
	}
	if err := w.Stored(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if late, err := w.Work(t.Context(), c); err != nil || len(late.Results) != 5 {
		t.Errorf("the same chunk after its results were stored: %+v, %v; want 5 results", late, err)
	}
	wantCharged(t, e, "profile/batch -2")
}

// TestAChunkRepeatedByAnotherProcessIsChargedOnce lets a process that was stopped before its call continue when another
// one has completed the chunk and its record is forgotten: then the ledger knows the charge.
func TestAChunkRepeatedByAnotherProcessIsChargedOnce(t *testing.T) {
	t.Parallel()
	e, w := worker(t, enginetest.Config{})
	_, late := worker(t, enginetest.Config{Records: e.Records, Options: []socialdata.Option{
		socialdata.WithLedger(e.Ledger), socialdata.WithKeys(e.Keys),
	}})
	c := chunkOf(e, platform.Mock, "ann", "bob")
	for _, w := range []bulkjob.Worker{w, late} {
		if worked, err := w.Work(t.Context(), c); err != nil || len(worked.Results) != 2 {
			t.Errorf("Work = %+v, %v; want 2 results", worked, err)
		}
		if err := w.Stored(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	wantCharged(t, e, "profile/batch -2")
	if n, err := e.Ledger.Balance(t.Context(), e.Key.Account); err != nil || n != 998 {
		t.Errorf("the balance is %d, %v; want 998", n, err)
	}
}

func TestChunksAreNotRateLimited(t *testing.T) {
	t.Parallel()
	e, w := worker(t, enginetest.Config{Rate: keys.Rate{Capacity: 1, Refill: 0.001}})
	for i := range 3 {
		c := chunkOf(e, platform.Mock, "ann", "bob")
		c.Number = int64(i)
		if worked, err := w.Work(t.Context(), c); err != nil || len(worked.Results) != 2 {
			t.Errorf("chunk %d: %+v, %v; want 2 results", i, worked, err)
		}
	}
}

func TestAChunkWaitsForAClosedUpstream(t *testing.T) {
	t.Parallel()
	closed := func(context.Context, string) (schema.Profile, error) {
		return schema.Profile{}, &providers.Error{
			Kind: providers.ErrUnavailable, RetryAfter: time.Minute, Blame: providers.BlameNone, Err: providers.ErrShare,
		}
	}
	e, w := worker(t, enginetest.Config{Providers: []providers.Provider{
		enginetest.Profiles(platform.X, "closed", schema.Official, closed),
	}})
	worked, err := w.Work(t.Context(), chunkOf(e, platform.X, "ann", "bob"))
	if err != nil || len(worked.Results) > 0 || worked.Later != e.Clock.Now().Add(time.Minute) {
		t.Errorf("Work = %+v, %v; want no result before a minute has passed", worked, err)
	}
	wantCharged(t, e)
}

func TestLinesThatFailAreReadAgain(t *testing.T) {
	t.Parallel()
	e, w := worker(t, enginetest.Config{})
	for range 2 {
		worked, err := w.Work(t.Context(), chunkOf(e, platform.Mock, "upstream_error", "timeout"))
		if err != nil || len(worked.Results) != 2 || !worked.Results[0].Again || !worked.Results[1].Again || !worked.Later.IsZero() {
			t.Errorf("Work = %+v, %v; want two lines to read again", worked, err)
		}
	}
}

func TestABulkJobAppliesReadOptions(t *testing.T) {
	t.Parallel()
	e, _ := bulking(t, enginetest.Config{})
	made := startBulk(t, e.Client, accounts.BulkRequest{
		Name: "night", Fresh: true, Enrich: "arabic", IncludeRaw: true, Fields: "handle",
		File: strings.NewReader(ofProfile("ann") + ofProfile("bob")),
	})
	if made.Credits.Least != 4 || made.Credits.Most != 10 {
		t.Errorf("the price is %+v; want 4 to 10 credits", made.Credits)
	}
	jobIn(t, e.Client, "night", "done")
	sum := int64(0)
	for _, r := range resultsOf(t, e.Client, "night") {
		sum += r.CreditsUsed
		var members map[string]json.RawMessage
		if err := json.Unmarshal(r.Data, &members); err != nil || members["handle"] == nil || members["raw"] == nil ||
			members["enrichment"] == nil || members["bio"] != nil {
			t.Errorf("line %d: %s, %v; want handle, raw and enrichment, without bio", r.Line, r.Data, err)
		}
	}
	if wantCharged(t, e, "profile/batch -7"); sum != 7 {
		t.Errorf("results have %d credits; want 7", sum)
	}
}

func TestBulkJobsEndWithTheirAccount(t *testing.T) {
	t.Parallel()
	e, m := bulking(t, enginetest.Config{Credits: -1})
	startBulk(t, e.Client, accounts.BulkRequest{Name: "night", File: strings.NewReader(ofProfile("ann"))})
	jobIn(t, e.Client, "night", "waiting")
	if _, err := e.Open.Operator().Accounts().Close(t.Context(), e.Key.Account); err != nil {
		t.Fatal(err)
	}
	if j, err := m.Job(t.Context(), e.Key.Account, "night"); err != nil || j.State != bulkjob.Ended {
		t.Errorf("the job is %+v, %v; want it ended", j, err)
	}
}

func TestBulkJobsNeedAService(t *testing.T) {
	t.Parallel()
	client, err := socialdata.New()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(t.Context()) }()
	bulk := client.Account().Bulk()
	_, started := bulk.Start(t.Context(), accounts.BulkRequest{Name: "night", File: strings.NewReader(ofProfile("ann"))})
	_, listed := bulk.List(t.Context(), accounts.BulkJobsRequest{})
	_, stopped := bulk.Stop(t.Context(), "night")
	for _, err := range []error{started, listed, stopped} {
		if !errors.Is(err, problem.PlatformUnavailable) || !strings.Contains(err.Error(), "WithBulk") {
			t.Errorf("got %v, want %s that names WithBulk", err, problem.PlatformUnavailable)
		}
	}
}
