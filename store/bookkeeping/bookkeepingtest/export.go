package bookkeepingtest

import (
	_ "embed"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/watch"
)

// years is the life of a record that is exported.
const years = 100 * 365 * 24 * time.Hour

// everything is what an account and a deployment have beside keys and entries.
type everything struct {
	accounts  []keys.Account
	monitors  []watch.Monitor
	endpoints []watch.Endpoint
	state     privacy.State
	receipts  []privacy.Receipt
	secret    []byte
	lasting   records.Record
}

// fillAll creates two monitors, one of which was polled and is paused, an endpoint with a rotated secret, records, a
// block list and receipts.
func fillAll(t *testing.T, s Store) (account keys.Account, subject privacy.Announcement) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	account, err := s.OpenAccount(t.Context(), "shop", 100, "")
	must(err)
	account, err = s.SetMonthly(t.Context(), account.ID, 500)
	must(err)
	closed, err := s.OpenAccount(t.Context(), "closed", 0, "")
	must(err)
	_, err = s.CloseAccount(t.Context(), closed.ID)
	must(err)
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, name := range []string{"rima", "news"} {
		m := watch.Monitor{
			Definition: watch.Definition{
				Ask:   watch.Ask{Operation: "profile", Platform: "mock", Params: map[string]string{"handle": name}},
				Every: time.Hour, Pages: 1, Fields: []string{"followers"}, Alerts: []string{"followers:5%"},
			},
			Account: account.ID, Name: name, Key: "key_1", CreatedAt: now,
		}
		m.NextAt = now
		_, _, err := s.Watches.Put(t.Context(), m, 0)
		must(err)
	}
	claims, err := s.Watches.Claim(t.Context(), now, 1, time.Minute)
	must(err)
	polled := claims[0].Monitor
	p := watch.Poll{Claim: claims[0], Progress: polled.Progress, Changes: []schema.Change{{ID: "chg_1", Type: watch.Ready, At: now}}}
	p.Progress.Polls, p.Progress.LastAt, p.Progress.NextAt, p.Progress.Month, p.Progress.Credits = 1, now, now.Add(time.Hour), "2026-11", 3
	p.Progress.Snapshot.At, p.Progress.Snapshot.Key = now, "5"
	must(s.Watches.Commit(t.Context(), p))
	_, err = s.Watches.Pause(t.Context(), account.ID, polled.Name, true, now)
	must(err)
	_, _, err = s.Watches.PutEndpoint(t.Context(), watch.Endpoint{
		Account: account.ID, Name: "hook", URL: "https://hooks.example/shop", Types: []string{watch.Changed},
		Secret: []byte("sealed"), CreatedAt: now,
	}, 0)
	must(err)
	_, err = s.Watches.Rekey(t.Context(), account.ID, "hook", []byte("sealed again"), now.Add(time.Hour))
	must(err)
	for key, ttl := range map[string]time.Duration{"ledger-key": years, "job/1": time.Hour} {
		_, err := s.Records.Put(t.Context(), records.Record{Key: key, Value: []byte{1, 2, 0xff}}, ttl)
		must(err)
	}
	_, err = s.Blocklist.Secret(t.Context())
	must(err)
	subject = privacy.Announcement{Digest: [32]byte{1, 2}, Block: []privacy.Name{7, 1<<64 - 2}, Erased: []privacy.Name{7}}
	_, err = s.Blocklist.Announce(t.Context(), subject)
	must(err)
	for _, kind := range []string{privacy.Begun, privacy.Done} {
		_, err := s.Blocklist.Append(t.Context(), privacy.Receipt{
			At: now, By: "command", Kind: kind, Platform: "mock", Subject: "0102", Block: true, Attempts: 1,
			Removed: map[string]int{"cache entries": 2},
		})
		must(err)
	}
	return account, subject
}

// all reads what fillAll has made.
func all(t *testing.T, s Store, account string) (v everything) {
	t.Helper()
	var errs [7]error
	v.accounts, errs[6] = s.Accounts(t.Context())
	v.monitors, errs[0] = s.Watches.Monitors(t.Context(), account, "", "", 0)
	v.endpoints, errs[1] = s.Watches.Endpoints(t.Context(), account, "", 0)
	v.state, errs[2] = s.Blocklist.Load(t.Context())
	v.receipts, errs[3] = s.Blocklist.Receipts(t.Context(), 0, 0)
	v.secret, errs[4] = s.Blocklist.Secret(t.Context())
	v.lasting, errs[5] = s.Records.Get(t.Context(), "ledger-key")
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	for i := range v.monitors {
		v.monitors[i].Snapshot = watch.Snapshot{}
	}
	slices.Sort(v.state.Blocked)
	v.state.Erased, v.lasting.Version = nil, 0
	return v
}

// testEverything moves monitors, endpoints, records, a block list and receipts.
func testEverything(t *testing.T, open Open) {
	t.Helper()
	from := open(t)
	if from.Watches == nil {
		t.Skip("it stores only accounts, keys and entries")
	}
	account, subject := fillAll(t, from)
	text, lines := exportOf(t, from)
	to := open(t)
	if err := to.Import(t.Context(), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if _, got := exportOf(t, to); !cmp.Equal(lines, got) {
		t.Errorf("the export of an import (-want +got):\n%s", cmp.Diff(lines, got))
	}
	want, got := all(t, from, account.ID), all(t, to, account.ID)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{})); diff != "" {
		t.Errorf("what was imported (-want +got):\n%s", diff)
	}
	if len(got.monitors) != 2 || len(got.endpoints) != 1 || len(got.state.Blocked) != 2 {
		t.Errorf("imported were %+v", got)
	}
	if _, err := to.Records.Get(t.Context(), "job/1"); !errors.Is(err, records.ErrAbsent) {
		t.Errorf("a job was imported: %v", err)
	}
	if n, err := privacy.Verify(t.Context(), to.Blocklist); n != 2 || err != nil {
		t.Errorf("Verify = %d, %v; want 2 receipts", n, err)
	}
	continued(t, to, account.ID, subject)
	used := open(t)
	if _, err := used.Blocklist.Secret(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]Store{"itself": from, "a store with a secret of its own": used} {
		if err := into.Import(t.Context(), strings.NewReader(text)); !errors.Is(err, bookkeeping.ErrExists) {
			t.Errorf("an import into %s: %v; want ErrExists", name, err)
		}
	}
	wantAudit(t, used, "")
	broken := strings.Replace(text, `"kind":"begun"`, `"kind":"unblocked"`, 1)
	if err := open(t).Import(t.Context(), strings.NewReader(broken)); !errors.Is(err, privacy.ErrBroken) {
		t.Errorf("a changed receipt: %v; want privacy.ErrBroken", err)
	}
}

// continued checks that a store goes on with what was imported: the feed, the polls, the epochs and the subjects.
func continued(t *testing.T, s Store, account string, subject privacy.Announcement) {
	t.Helper()
	if err := s.Watches.Tell(t.Context(), account, []schema.Change{{ID: "chg_2", Type: watch.Changed, At: time.Now().UTC()}}); err != nil {
		t.Fatal(err)
	}
	changes, err := s.Watches.Changes(t.Context(), watch.Since{Account: account})
	if err != nil || len(changes) != 1 || changes[0].Seq != 2 {
		t.Errorf("Changes = %+v, %v; want one with the number 2", changes, err)
	}
	claims, err := s.Watches.Claim(t.Context(), time.Now().Add(24*time.Hour), 10, time.Minute)
	if err != nil || len(claims) != 1 || claims[0].Monitor.Paused {
		t.Errorf("Claim = %+v, %v; want the monitor that is not paused", claims, err)
	}
	epoch, err := s.Blocklist.Announce(t.Context(), privacy.Announcement{Digest: subject.Digest, Unblock: true})
	if err != nil || epoch != 2 {
		t.Errorf("Announce = %d, %v; want the epoch 2", epoch, err)
	}
	if state, err := s.Blocklist.Load(t.Context()); err != nil || len(state.Blocked) != 0 {
		t.Errorf("blocked are %v, %v; want none after the subject was unblocked", state.Blocked, err)
	}
}

// earlier is an export that an earlier program wrote.
//
//go:embed testdata/earlier.jsonl
var earlier string

// testEarlier imports what an earlier program exported.
func testEarlier(t *testing.T, open Open) {
	t.Helper()
	s := open(t)
	if s.Watches == nil {
		t.Skip("it stores only accounts, keys and entries")
	}
	if err := s.Import(t.Context(), strings.NewReader(earlier)); err != nil {
		t.Fatal(err)
	}
	want := bookkeeping.Report{Accounts: 2, Keys: 4, Entries: 13, Credits: 1434}
	if report := wantAudit(t, s, ""); !cmp.Equal(want, report) {
		t.Errorf("the report is %+v; want %+v", report, want)
	}
	if _, got := exportOf(t, s); !cmp.Equal(slices.Sorted(strings.Lines(earlier)), got) {
		t.Errorf("its export (-want +got):\n%s", cmp.Diff(slices.Sorted(strings.Lines(earlier)), got))
	}
}
