package bookkeeping_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// books is the content of a store; it is also a [bookkeeping.Sink].
type books struct {
	Accounts []keys.Account
	Keys     []keys.Key
	Entries  []credits.Entry
}

func (b *books) Account(a keys.Account) error { b.Accounts = append(b.Accounts, a); return nil }
func (b *books) Key(k keys.Key) error         { b.Keys = append(b.Keys, k); return nil }
func (b *books) Entry(e credits.Entry) error  { b.Entries = append(b.Entries, e); return nil }
func (b *books) last(id string) (l credits.Entry) {
	for _, e := range b.Entries {
		if e.Account == id {
			l = bookkeeping.Head(e)
		}
	}
	return l
}

// sample returns two accounts: one with a grant and a charge by a key with a cap, and one without entries.
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
	return &books{
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
		{"a later version", strings.Replace(whole, `"version":1`, `"version":2`, 1), bookkeeping.ErrImport},
		{"an unknown field", strings.Replace(whole, `"id":`, `"size":1,"id":`, 1), bookkeeping.ErrImport},
		{"one account twice", strings.Replace(whole, "acct_b", "acct_a", 1), bookkeeping.ErrExists},
		{"one name twice", strings.Replace(whole, `"name":"متجر"`, `"name":"shop"`, 1), bookkeeping.ErrExists},
		{"a bad prefix", strings.Replace(whole, `"prefix":"sk_live_`, `"prefix":"sk_test_`, 1), bookkeeping.ErrImport},
		{"another amount", strings.Replace(whole, `"amount":10,"balance":10`, `"amount":9,"balance":9`, 1), credits.ErrBroken},
		{"an entry before its key", strings.Join([]string{lines[0], lines[1], lines[2], lines[4], lines[5], lines[3], lines[6]}, ""), bookkeeping.ErrImport},
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
