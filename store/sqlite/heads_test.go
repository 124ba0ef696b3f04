package sqlite

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

func headsOf(t *testing.T, db *DB) string {
	t.Helper()
	var b bytes.Buffer
	if err := db.Heads(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLaterChangesAgreeWithTheHeads(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	addAccount(t, db, "empty", 0)
	heads := headsOf(t, db)
	if got := strings.Count(heads, "\n"); got != 3+4+1 {
		t.Errorf("%d lines; want one for each of 3 accounts and 4 keys, and an end:\n%s", got, heads)
	}
	all, err := db.Keys().Keys(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if _, err := db.Keys().Revoke(t.Context(), k.ID); err != nil {
			t.Fatal(err)
		}
		db.Keys().Touch(k.ID, db.cfg.Now())
	}
	spend(t, db.Ledger(), credits.Spender{Account: all[0].Account}, 1, credits.Charge{})
	if _, err := db.Ledger().Grant(t.Context(), "empty", 5, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Keys().CreateKey(t.Context(), keys.NewKey{Account: "first", Environment: keys.Live}); err != nil {
		t.Fatal(err)
	}
	r, err := db.AuditAgainst(t.Context(), strings.NewReader(heads))
	if err != nil || !r.OK() {
		t.Errorf("AuditAgainst = %q, %v", r.Problems, err)
	}
}

func TestHeadsDetectARewrittenFile(t *testing.T) {
	t.Parallel()
	const unlocked = "DROP TRIGGER entries_are_not_changed; DROP TRIGGER entries_are_not_removed;"
	tests := []struct{ name, script, want string }{
		{
			"the last entries of an account removed, and subtracted from the totals",
			unlocked + `
			UPDATE totals SET entries = entries - 1, credits = credits - 2;
			DELETE FROM entries WHERE no = (SELECT max(no) FROM entries)`, "has fewer now",
		},
		{"a revoked key made valid again", "UPDATE keys SET revoked_at = NULL", "was revoked"},
		{"a removed cap", "UPDATE keys SET day_cap = NULL", "changed key_"},
		{"a key given to another account", "UPDATE keys SET account = (SELECT id FROM accounts WHERE no = 1)", "differs from the one when"},
		{"a removed key", "DELETE FROM keys WHERE no = 1", "existed"},
		{
			"an account removed with everything it had", unlocked + `PRAGMA foreign_keys = off;
			UPDATE totals SET entries = entries - 8, credits = credits - 90;
			DELETE FROM entries WHERE account = 2; DELETE FROM spending WHERE account = 2;
			DELETE FROM keys WHERE account = (SELECT id FROM accounts WHERE no = 2);
			DELETE FROM accounts WHERE no = 2`, "existed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := openFilled(t)
			fold(t, db)
			heads := headsOf(t, db)
			if err := tamper(db, tt.script); err != nil {
				t.Fatal(err)
			}
			wantAudit(t, db) // the file alone shows nothing
			r, err := db.AuditAgainst(t.Context(), strings.NewReader(heads))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(r.Problems, "\n")
			for _, id := range r.Changed {
				got += "\nchanged " + id
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("AuditAgainst found %q; want %q", got, tt.want)
			}
		})
	}
	t.Run("a history that was rewritten", func(t *testing.T) {
		t.Parallel()
		db := openFilled(t)
		// As if the chain of hashes were different.
		heads := strings.Replace(headsOf(t, db), `"hash":"`, `"hash":"x`, 1)
		r, err := db.AuditAgainst(t.Context(), strings.NewReader(heads))
		if err != nil || !strings.Contains(strings.Join(r.Problems, "\n"), "differs from the one when") {
			t.Errorf("AuditAgainst = %q, %v", r.Problems, err)
		}
	})
}

func TestIncompleteHeadsAreRefused(t *testing.T) {
	t.Parallel()
	db := openFilled(t)
	heads := headsOf(t, db)
	lines := strings.SplitAfter(heads, "\n")
	for name, text := range map[string]string{
		"nothing": "", "no heads": "hello", "an empty line": "{}", "cut short": strings.Join(lines[:3], ""),
		"a line lost": strings.Join(lines[1:], ""), "another field": strings.Replace(heads, `"seq"`, `"sequence"`, 1),
	} {
		if _, err := db.AuditAgainst(t.Context(), strings.NewReader(text)); !errors.Is(err, ErrHeads) {
			t.Errorf("%s: AuditAgainst = %v; want ErrHeads", name, err)
		}
	}
}
