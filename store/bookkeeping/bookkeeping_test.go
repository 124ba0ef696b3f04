package bookkeeping_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/watch"
)

// books is the content of a store; it is also a [bookkeeping.Sink].
type books struct {
	Accounts  []keys.Account
	Keys      []keys.Key
	Entries   []credits.Entry
	Monitors  []watch.Monitor
	Feeds     map[string]int64
	Endpoints []watch.Endpoint
	Records   []records.Record
	Expire    []time.Time
	Blocked   bookkeeping.Blocklist
	Receipts  []privacy.Receipt
}

func (b *books) Account(a keys.Account) error { b.Accounts = append(b.Accounts, a); return nil }
func (b *books) Key(k keys.Key) error         { b.Keys = append(b.Keys, k); return nil }
func (b *books) Entry(e credits.Entry) error  { b.Entries = append(b.Entries, e); return nil }

func (b *books) Monitor(m watch.Monitor) error { b.Monitors = append(b.Monitors, m); return nil }

func (b *books) Feed(account string, seq int64) error {
	b.Feeds = map[string]int64{account: seq}
	return nil
}

func (b *books) Endpoint(e watch.Endpoint) error { b.Endpoints = append(b.Endpoints, e); return nil }

func (b *books) Record(r records.Record, expires time.Time) error {
	b.Records, b.Expire = append(b.Records, r), append(b.Expire, expires)
	return nil
}

func (b *books) Blocklist(list bookkeeping.Blocklist) error { b.Blocked = list; return nil }
func (b *books) Receipt(r privacy.Receipt) error            { b.Receipts = append(b.Receipts, r); return nil }

func (b *books) last(id string) (l credits.Entry) {
	for _, e := range b.Entries {
		if e.Account == id {
			l = bookkeeping.Head(e)
		}
	}
	return l
}

// sample returns two accounts: one with a grant and a charge by a key with a cap, and one without entries. The first one
// has a monitor and an endpoint.
func sample(t *testing.T) *books {
	t.Helper()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	_, k, err := keys.NewKey{Name: "web", Environment: keys.Live, DayCap: new(int64(8))}.Mint("acct_a", at)
	if err != nil {
		t.Fatal(err)
	}
	k.RevokedAt = new(at.Add(time.Hour))
	grant := credits.Entry{Account: "acct_a", Kind: credits.Granted, Amount: 10, Reason: "<& متجر", At: at}.Next(credits.Entry{})
	charge := credits.Entry{
		Account: "acct_a", Kind: credits.Charged, Amount: -3, Key: k.ID, Hold: "hold_1", At: at.Add(-time.Second),
	}.Next(grant)
	begun := privacy.Receipt{At: at, By: "command", Kind: privacy.Begun, Platform: "x", Subject: "5b"}.Seal(privacy.Receipt{})
	done := privacy.Receipt{At: at, By: "command", Kind: privacy.Done, Platform: "x", Subject: "5b", Attempts: 1}.Seal(begun)
	list := bookkeeping.Blocklist{Secret: bytes.Repeat([]byte{7}, privacy.SecretLen), Epoch: 3}
	list.Block(bytes.Repeat([]byte{9}, 32), 1<<64-2)
	return &books{
		Monitors: []watch.Monitor{{
			Definition: watch.Definition{Ask: watch.Ask{Operation: "profile", Platform: "x"}, Every: time.Hour, Pages: 1},
			Account:    "acct_a", Name: "rima", Key: k.ID, Paused: true, CreatedAt: at, Baseline: 2,
			Progress: watch.Progress{State: watch.Active, NextAt: at, Polls: 5, Month: "2026-11", Credits: 5},
		}},
		Feeds: map[string]int64{"acct_a": 4},
		Endpoints: []watch.Endpoint{{
			Account: "acct_a", Name: "hook", URL: "https://hooks.example/a", Secret: []byte{1, 2}, CreatedAt: at, Position: 4,
		}},
		Records: []records.Record{{Key: "ledger-key", Value: []byte{3}}}, Expire: []time.Time{at.AddDate(9, 0, 0)},
		Blocked:  list,
		Receipts: []privacy.Receipt{begun, done},
		Accounts: []keys.Account{{ID: "acct_a", Name: "shop", CreatedAt: at}, {ID: "acct_b", Name: "متجر", CreatedAt: at}},
		Keys:     []keys.Key{k},
		Entries:  []credits.Entry{grant, charge},
	}
}

func (b *books) write(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	w, err := bookkeeping.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range b.Accounts {
		err = errors.Join(err, w.Account(a))
	}
	for _, k := range b.Keys {
		err = errors.Join(err, w.Key(k))
	}
	for _, e := range b.Entries {
		err = errors.Join(err, w.Entry(e))
	}
	for _, m := range b.Monitors {
		m.Snapshot.Key = "5" // which is not exported
		err = errors.Join(err, w.Monitor(m))
	}
	for account, seq := range b.Feeds {
		err = errors.Join(err, w.Feed(account, seq))
	}
	for _, e := range b.Endpoints {
		err = errors.Join(err, w.Endpoint(e))
	}
	for i, r := range b.Records {
		err = errors.Join(err, w.Record(r, b.Expire[i]))
	}
	err = errors.Join(err, w.Blocklist(b.Blocked))
	for _, r := range b.Receipts {
		err = errors.Join(err, w.Receipt(r))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func (b *books) heads(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	w := bookkeeping.NewHeadsWriter(&out)
	var err error
	for _, a := range b.Accounts {
		err = errors.Join(err, w.Account(a.ID, b.last(a.ID)))
	}
	for _, k := range b.Keys {
		err = errors.Join(err, w.Key(k))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReadReturnsWhatWriterWrote(t *testing.T) {
	t.Parallel()
	want, got := sample(t), &books{}
	if err := bookkeeping.Read(t.Context(), strings.NewReader(want.write(t)), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("content (-written +read):\n%s", diff)
	}
}

func TestReadAcceptsVersionOne(t *testing.T) {
	t.Parallel()
	b := sample(t)
	lines := strings.SplitAfter(b.write(t), "\n")
	text := strings.Replace(lines[0], `"version":2`, `"version":1`, 1) + strings.Join(lines[1:6], "") +
		`{"end":{"accounts":2,"keys":1,"entries":2}}` + "\n"
	got := &books{}
	if err := bookkeeping.Read(t.Context(), strings.NewReader(text), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&books{Accounts: b.Accounts, Keys: b.Keys, Entries: b.Entries}, got); diff != "" {
		t.Errorf("content (-written +read):\n%s", diff)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	b := sample(t)
	whole := b.write(t)
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	without := func(i int) string { return strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "") }
	tests := []struct {
		name, text string
		want       error
	}{
		{"nothing", "", bookkeeping.ErrImport},
		{"no header", without(0), bookkeeping.ErrImport},
		{"no end", without(len(lines) - 1), bookkeeping.ErrImport},
		{"a missing account", without(2), bookkeeping.ErrImport},
		{"a missing entry", without(4), credits.ErrBroken},
		{"a later version", strings.Replace(whole, `"version":2`, `"version":3`, 1), bookkeeping.ErrImport},
		{"an unknown field", strings.Replace(whole, `"id":`, `"size":1,"id":`, 1), bookkeeping.ErrImport},
		{"one account twice", strings.Replace(whole, "acct_b", "acct_a", 1), bookkeeping.ErrExists},
		{"one name twice", strings.Replace(whole, `"name":"متجر"`, `"name":"shop"`, 1), bookkeeping.ErrExists},
		{"a bad prefix", strings.Replace(whole, `"prefix":"sk_live_`, `"prefix":"sk_test_`, 1), bookkeeping.ErrImport},
		{"another amount", strings.Replace(whole, `"amount":10,"balance":10`, `"amount":9,"balance":9`, 1), credits.ErrBroken},
		{"an entry before its key", strings.Join(slices.Concat(lines[:3], lines[4:6], lines[3:4], lines[6:]), ""), bookkeeping.ErrImport},
		{"a missing monitor", without(6), bookkeeping.ErrImport},
		{"a missing endpoint", without(8), bookkeeping.ErrImport},
		{"a missing block list", without(10), bookkeeping.ErrImport},
		{"a missing receipt", without(11), privacy.ErrBroken},
		{"a changed receipt", strings.Replace(whole, `"kind":"begun"`, `"kind":"unblocked"`, 1), privacy.ErrBroken},
		{"a monitor of no account", strings.Replace(whole, `"monitor":{"account":"acct_a"`, `"monitor":{"account":"acct_c"`, 1), bookkeeping.ErrImport},
		{"an endpoint of no account", strings.Replace(whole, `"endpoint":{"Account":"acct_a"`, `"endpoint":{"Account":"acct_c"`, 1), bookkeeping.ErrImport},
		{"a monitor with a negative interval", strings.Replace(whole, `"Every":3600`, `"Every":-3600`, 1), bookkeeping.ErrImport},
		{"one monitor twice", whole[:strings.Index(whole, lines[7])] + lines[6] + strings.Join(lines[7:], ""), bookkeeping.ErrExists},
		{"one record twice", whole[:strings.Index(whole, lines[10])] + lines[9] + strings.Join(lines[10:], ""), bookkeeping.ErrExists},
		{"a block list with a short digest", strings.Replace(whole, `"0909`, `"09`, 1), bookkeeping.ErrImport},
		{"data after the end", whole + "{}", bookkeeping.ErrImport},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := bookkeeping.Read(t.Context(), strings.NewReader(tt.text), bookkeeping.Discard); !errors.Is(err, tt.want) {
				t.Errorf("Read = %v; want %v", err, tt.want)
			}
		})
	}
}

func TestReadRefusesImpossibleLines(t *testing.T) {
	t.Parallel()
	const at = `"2026-01-01T00:00:00Z"`
	account := func(id, name string) string {
		return fmt.Sprintf(`{"account":{"id":%q,"name":"%s","created_at":%s}}`, id, name, at)
	}
	good := account("acct_0", "first")
	// key returns a line of a key with a field replaced or added.
	key := func(field, value string) string {
		fields := map[string]string{
			"id": `"key_0"`, "account": `"acct_0"`, "name": `"n"`, "prefix": `"sk_live_abcd"`, "environment": `"live"`,
			"created_at": at, "last_used_at": "null", "revoked_at": "null", "hash": `"` + strings.Repeat("ab", 32) + `"`,
		}
		fields[field] = value
		var all []string
		for name, value := range fields {
			all = append(all, fmt.Sprintf("%q:%s", name, value))
		}
		return `{"key":{` + strings.Join(all, ",") + `}}`
	}
	tests := []struct {
		name  string
		lines []string
		want  error
	}{
		{"a valid key", []string{good, key("name", `""`)}, nil},
		{"a control character in a name", []string{account("acct_0", `\u0007`)}, bookkeeping.ErrImport},
		{"no name", []string{account("acct_0", "")}, bookkeeping.ErrImport},
		{"no id", []string{account("", "first")}, bookkeeping.ErrImport},
		{"a space in an id", []string{account("a b", "first")}, bookkeeping.ErrImport},
		{"a name that is another's id", []string{good, account("acct_1", "acct_0")}, bookkeeping.ErrExists},
		{"an id that is another's name", []string{account("acct_1", "acct_0"), good}, bookkeeping.ErrExists},
		{"a time before 1970", []string{strings.Replace(good, at, `"0000-01-01T00:00:00Z"`, 1)}, bookkeeping.ErrImport},
		{"a rate of 0", []string{good, strings.Replace(key("capacity", "0"), "}}", `,"refill_per_s":0}}`, 1)}, bookkeeping.ErrImport},
		{"a huge rate", []string{good, strings.Replace(key("capacity", "1"), "}}", `,"refill_per_s":1e300}}`, 1)}, bookkeeping.ErrImport},
		{"a negative cap", []string{good, key("day_cap", "-5")}, bookkeeping.ErrImport},
		{"a huge cap", []string{good, key("total_cap", "9007199254740993")}, bookkeeping.ErrImport},
		{"no prefix", []string{good, key("prefix", `""`)}, bookkeeping.ErrImport},
		{"a prefix of another environment", []string{good, key("prefix", `"sk_test_abcd"`)}, bookkeeping.ErrImport},
		{"another environment", []string{good, key("environment", `"staging"`)}, bookkeeping.ErrImport},
		{"a short hash", []string{good, key("hash", `"abab"`)}, bookkeeping.ErrImport},
		{"a key of an unknown account", []string{good, key("account", `"acct_9"`)}, bookkeeping.ErrImport},
		{"a key twice", []string{good, key("name", `"a"`), key("name", `"b"`)}, bookkeeping.ErrExists},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			keys := strings.Count(strings.Join(tt.lines, ""), `{"key":`)
			text := `{"socialdata":{"version":2}}` + strings.Join(tt.lines, "\n") +
				fmt.Sprintf(`{"end":{"accounts":%d,"keys":%d,"entries":0}}`, len(tt.lines)-keys, keys)
			if err := bookkeeping.Read(t.Context(), strings.NewReader(text), bookkeeping.Discard); !errors.Is(err, tt.want) {
				t.Errorf("Read = %v; want %v", err, tt.want)
			}
		})
	}
}

func TestAuditorFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		change  func(b *books)
		kept    func(s *credits.Spent, last *credits.Entry)
		heads   bool // whether it compares with earlier heads
		want    string
		changed bool // whether the key is reported as changed
	}{
		{name: "nothing", heads: true},
		{name: "a changed text", change: func(b *books) { b.Entries[0].Reason = "" }, want: "another hash"},
		{name: "a missing entry", change: func(b *books) { b.Entries = b.Entries[1:] }, want: "follows entry 0"},
		{
			name: "a missing last entry", kept: func(_ *credits.Spent, last *credits.Entry) { last.Seq, last.Balance = 3, 5 },
			want: "ends with entry 2 and a balance of 7, but its record says entry 3 and 5",
		},
		{
			name: "another spending", kept: func(s *credits.Spent, _ *credits.Entry) { s.Today-- },
			want: "spent 3 in all and 3 on its last day, not 3 and 2",
		},
		{name: "a key of an unknown account", change: func(b *books) { b.Keys[0].Account = "acct_c" }, want: "acct_c, which does not exist"},
		{name: "a key that is valid again", change: func(b *books) { b.Keys[0].RevokedAt = nil }, heads: true, want: "was revoked when"},
		{name: "another key", change: func(b *books) { b.Keys[0].Name = "other" }, heads: true, want: "differs from the one when"},
		{name: "a removed cap", change: func(b *books) { b.Keys[0].DayCap = nil }, heads: true, changed: true},
		{name: "no key", change: func(b *books) { b.Keys = nil }, heads: true, want: "existed when"},
		{name: "no account", change: func(b *books) { b.Accounts = b.Accounts[:1] }, heads: true, want: "account acct_b existed"},
		{
			name: "fewer entries", change: func(b *books) { b.Entries = b.Entries[:1] }, heads: true,
			kept: func(s *credits.Spent, _ *credits.Entry) { *s = credits.Spent{} }, want: "had 2 entries when",
		},
		{
			name: "a rewritten history", heads: true, want: "entry 2 differs from the one when",
			change: func(b *books) { b.Entries[1].Operation = "posts"; b.Entries[1] = b.Entries[1].Next(b.Entries[0]) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := sample(t)
			spent := credits.Spent{}.Add(3, b.Entries[1].Time())
			var heads *bookkeeping.Heads
			if tt.heads {
				var err error
				if heads, err = bookkeeping.ReadHeads(strings.NewReader(b.heads(t))); err != nil {
					t.Fatal(err)
				}
			}
			key := b.Keys[0].ID
			if tt.change != nil {
				tt.change(b)
			}
			last := b.last("acct_a")
			if tt.kept != nil {
				tt.kept(&spent, &last)
			}
			r := b.audit(heads, key, spent, last)
			found := strings.Join(r.Problems, "\n")
			if tt.changed != slices.Equal(r.Changed, []string{key}) {
				t.Errorf("changed are %q; want the key: %v", r.Changed, tt.changed)
			}
			if r.OK() != (tt.want == "") || !strings.Contains(found, tt.want) {
				t.Errorf("problems %q; want one that contains %q", found, tt.want)
			}
		})
	}
}

// audit passes everything to an auditor, with what is stored besides the entries of the first account.
func (b *books) audit(
	heads *bookkeeping.Heads, key string, spent credits.Spent, last credits.Entry,
) bookkeeping.Report {
	a := bookkeeping.NewAuditor(heads)
	for _, k := range b.Keys {
		a.Key(k)
	}
	for i, account := range b.Accounts {
		a.Account(account.ID)
		if i > 0 {
			a.Last(account.ID, credits.Entry{})
			continue
		}
		a.Spending(account.ID, key, spent)
		for _, e := range b.Entries {
			a.Entry(e)
		}
		a.Last(account.ID, last)
	}
	return a.Report()
}

func TestIncompleteHeadsAreRefused(t *testing.T) {
	t.Parallel()
	whole := sample(t).heads(t)
	lines := strings.SplitAfter(whole, "\n")
	for name, text := range map[string]string{
		"nothing": "", "an empty line": "{}\n", "no end": strings.Join(lines[:3], ""), "one account": strings.Join(lines[1:], ""),
	} {
		if _, err := bookkeeping.ReadHeads(strings.NewReader(text)); !errors.Is(err, bookkeeping.ErrHeads) {
			t.Errorf("%s: ReadHeads = %v; want ErrHeads", name, err)
		}
	}
}
