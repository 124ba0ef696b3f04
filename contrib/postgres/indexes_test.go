package postgres

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/credits/ledgertest"
)

// indexed returns how many rows each index of entries has, and "rows" how many entries there are.
func indexed(t *testing.T, db *DB) map[string]int64 {
	t.Helper()
	conditions := map[string]string{}
	rows, err := db.pool.Query(t.Context(), `
		SELECT indexrelid::regclass::text, coalesce(pg_get_expr(indpred, indrelid), 'true')
		FROM pg_index WHERE indrelid = ($1::text || 'entries')::regclass`, db.prefix)
	if err != nil {
		t.Fatal(err)
	}
	var name, condition string
	if _, err := pgx.ForEachRow(rows, []any{&name, &condition}, func() error {
		name = strings.TrimPrefix(strings.TrimPrefix(name, db.prefix), db.cfg.Schema+".")
		conditions[name] = condition
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	conditions["rows"] = "true"
	for name, condition := range conditions {
		var n int64
		if err := db.pool.QueryRow(t.Context(), db.sql("SELECT count(*) FROM @entries WHERE ")+condition).Scan(&n); err != nil {
			t.Fatal(err)
		}
		found[name] = n
	}
	return found
}

func TestTheEntryOfAHitIsInTwoIndexes(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	who := credits.Spender{Account: "acct"}
	c := credits.Charge{Amount: 1, Operation: "profile", Platform: "x", RequestID: "req_1", Cache: "HIT"}
	hit := func(once string) func() error {
		return func() error {
			c := c
			c.IdempotencyKey = once
			_, err := db.Ledger().Charge(t.Context(), who, c)
			return err
		}
	}
	miss := func() error {
		holds, err := db.Ledger().Reserve(t.Context(), who, time.Hour, 1)
		if err == nil {
			_, err = db.Ledger().Settle(t.Context(), holds[0], c)
		}
		return err
	}
	refund := func() error { _, err := db.Ledger().Refund(t.Context(), "acct", 1, "req_1", ""); return err }
	const account, hold, request, once = "entries_pkey", "entries_hold_idx", "entries_request_id_account_seq_idx",
		"entries_account_idempotency_key_seq_idx"
	for _, tt := range []struct {
		name string
		add  func() error
		want []string
	}{
		{"a hit", hit(""), []string{hold, account}},
		{"another of the same request", hit(""), []string{hold, account}},
		{"a hit under an idempotency key", hit("once"), []string{once, hold, account}},
		{"a hit under one that is used again after a day", func() error {
			become(t, db, "UPDATE @entries SET at = at - 90000000000 WHERE idempotency_key <> ''")
			return hit("once")() // decided by a batch
		}, []string{once, hold, account}},
		{"a miss", miss, []string{hold, account, request}},
		{"a refund", refund, []string{account, request}},
	} {
		before := indexed(t, db)
		if err := tt.add(); err != nil {
			t.Fatal(err)
		}
		after := indexed(t, db)
		var got []string
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if name != "rows" && after[name] > before[name] {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || after["rows"] != before["rows"]+1 {
			t.Errorf("%s wrote %d entries, in these indexes (-want +got):\n%s", tt.name, after["rows"]-before["rows"], diff)
		}
	}
}

// openOld makes a schema of an older version and adds entries to it, as the account's whole chain.
func openOld(t *testing.T, cfg Config, version int, entries []credits.Entry) (all []credits.Entry) {
	t.Helper()
	db := &DB{cfg: cfg, prefix: pgx.Identifier{cfg.Schema}.Sanitize() + "."}
	c, err := pgx.Connect(t.Context(), cfg.DSN)
	if err != nil {
		t.Fatal(err)
	}
	statements := append([]string{"CREATE SCHEMA " + cfg.Schema}, migrations[:version]...)
	statements = append(statements, "CREATE TABLE @migrations (version BIGINT PRIMARY KEY, compatible BOOLEAN NOT NULL)",
		fmt.Sprintf("INSERT INTO @migrations VALUES (%d, true)", version),
		"INSERT INTO @accounts (id, name, created_at) VALUES ('acct', 'acct', 0)")
	for _, statement := range statements {
		if _, err := c.PgConn().Exec(t.Context(), db.sql(statement)).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	var no int64
	if err := c.QueryRow(t.Context(), db.sql("SELECT no FROM @accounts")).Scan(&no); err != nil {
		t.Fatal(err)
	}
	last := credits.Entry{}
	var rows []entry
	for i, e := range entries {
		e.Account, e.At = "acct", time.UnixMicro(int64(i+1)).UTC()
		last = e.Next(last)
		all, rows = append(all, last), append(rows, entry{no, last})
	}
	_, err = c.Exec(t.Context(), db.sql(insertEntries), columns(rows)...)
	if err == nil {
		_, err = c.Exec(t.Context(), db.sql("UPDATE @accounts SET seq = $1, balance = $2, at = $3, hash = $4"), last.Seq,
			last.Balance, last.At.UnixMicro(), last.Hash[:])
	}
	if err = errors.Join(err, c.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEntriesOfAnOlderSchemaAreFoundByTheirRequest writes entries with the indexes of before, whose holds begin with the
// id of their request only by chance.
func TestEntriesOfAnOlderSchemaAreFoundByTheirRequest(t *testing.T) {
	t.Parallel()
	cfg := newSchema(t)
	const older = 10 // migrations, which have an index of platforms
	all := openOld(t, cfg, older, ledgertest.OldEntries())
	db := openDB(t, cfg)
	wantAudit(t, db)
	charge := credits.Charge{Amount: 11, Platform: "x", RequestID: "req_1"}
	if _, err := db.Ledger().Charge(t.Context(), credits.Spender{Account: "acct"}, charge); err != nil {
		t.Fatal(err)
	}
	ledgertest.CheckOldEntries(t, db.Ledger(), all)
	wantAudit(t, db)
}

// TestAProgramOfThePreviousVersionFindsEntries runs its statements after the schema was migrated by this one.
func TestAProgramOfThePreviousVersionFindsEntries(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 100)
	c := credits.Charge{Amount: 1, Platform: "x", RequestID: "req_1", ID: "req_1/1"}
	if _, err := db.Ledger().Charge(t.Context(), credits.Spender{Account: "acct"}, c); err != nil {
		t.Fatal(err)
	}
	for _, condition := range []string{
		"request_id = 'req_1' AND request_id <> ''", "platform = 'x' AND platform <> ''", "hold = ANY ('{req_1/1}') AND hold <> ''",
	} {
		var n int
		err := db.pool.QueryRow(t.Context(), db.sql("SELECT count(*) FROM @entries WHERE "+condition)).Scan(&n)
		if n != 1 || err != nil {
			t.Errorf("%s: %d entries, %v; want 1", condition, n, err)
		}
	}
}

// TestEveryQueryOfEntriesIsServedByIndexes plans queries of a table with 200 accounts, of which the second has half of
// the entries, with and without the arguments.
func TestEveryQueryOfEntriesIsServedByIndexes(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	become(t, db, `
		INSERT INTO @accounts (id, name, created_at) SELECT 'a' || i, 'a' || i, 0 FROM generate_series(1, 200) AS i;
		INSERT INTO @entries (account, seq, kind, amount, balance, key, operation, platform, request_id, cache, reason, hold,
			idempotency_key, at, hash)
		SELECT CASE WHEN i % 2 = 0 THEN 2 ELSE i % 200 + 1 END, i, 'charge', -1, 0, 'key', 'profile', 'github', 'req_' || i, 'HIT',
			'', CASE WHEN i % 3 = 0 THEN 'h' || i ELSE 'req_' || i || '/1' END, '', i, ''
		FROM generate_series(1, 40000) AS i`)
	become(t, db, "VACUUM ANALYZE @entries") // not in a transaction with anything else
	// Not while another test has a transaction that began before.
	var visible bool
	if err := db.pool.QueryRow(t.Context(), db.sql("SELECT relallvisible > 0 FROM pg_class "+
		"WHERE oid = '@entries'::regclass")).Scan(&visible); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	const account, hold, request = "entries_pkey", "entries_hold_idx", "entries_request_id_account_seq_idx"
	refundable := strings.NewReplacer("a.no", "$1", "u.request", "$2::text").
		Replace("SELECT coalesce(-sum(amount), 0)::bigint FROM " + ofRequest("amount", "a.no", "u.request"))
	tests := []struct {
		name string
		q    credits.Query
		want []string
	}{
		{"all", credits.Query{}, []string{account}},
		{"before", credits.Query{Before: 5}, []string{account}},
		{"time", credits.Query{Since: now.Add(-time.Hour), Until: now}, []string{account}},
		{"platform", credits.Query{Platform: "x", Before: 5000}, []string{account}},
		{"platform and time", credits.Query{Platform: "x", Since: now}, []string{account}},
		{"request", credits.Query{RequestID: "req_2"}, []string{hold, request}},
		{"request on a platform", credits.Query{RequestID: "req_2", Platform: "github"}, []string{hold, request}},
		{"request, before", credits.Query{RequestID: "req_2", Before: 5000}, []string{hold, request}},
		{"refundable", credits.Query{}, []string{hold, request}},
		{"charged", credits.Query{}, []string{hold}},
	}
	for _, tt := range tests {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			t.Run(tt.name+", "+mode, func(t *testing.T) {
				t.Parallel()
				query, args := selectEntries(2, tt.q)
				switch tt.name {
				case "refundable":
					query, args = refundable, []any{int64(2), "req_2"}
				case "charged":
					query, args = "SELECT amount FROM @entries WHERE hold = ANY ($1) AND hold <> ''", []any{[]string{"req_2/1"}}
				}
				if plan, used := planned(t, db, mode, query, args); !slices.Equal(used, tt.want) || strings.Contains(plan, "Seq Scan") {
					t.Errorf("%s uses %q; want %q:\n%s", query, used, tt.want, plan)
				} else if visible && tt.name == "platform" && !strings.Contains(plan, "Index Only Scan Backward") {
					t.Errorf("%s reads the table:\n%s", query, plan)
				}
			})
		}
	}
}

// planned returns the plan of a prepared query, and the indexes of entries that it uses.
func planned(t *testing.T, db *DB, mode, query string, args []any) (plan string, used []string) {
	t.Helper()
	conn, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // it only ends a setting
	if _, err := tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = "+mode); err != nil {
		t.Fatal(err)
	}
	literals := make([]string, len(args))
	for i, a := range args {
		if literals[i] = fmt.Sprint(a); strings.HasPrefix(literals[i], "req") {
			literals[i] = "'" + literals[i] + "'"
		} else if list, ok := a.([]string); ok {
			literals[i] = "'{" + strings.Join(list, ",") + "}'"
		} else if text, ok := a.(string); ok {
			literals[i] = "'" + text + "'"
		}
	}
	if _, err := tx.Exec(t.Context(), db.sql("PREPARE planned AS "+query)); err != nil {
		t.Fatal(err)
	}
	defer conn.Exec(t.Context(), "DEALLOCATE planned") //nolint:errcheck // the next one would fail
	rows, err := tx.Query(t.Context(), "EXPLAIN EXECUTE planned ("+strings.Join(literals, ", ")+")",
		pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan = strings.Join(lines, "\n")
	for _, name := range []string{
		"entries_pkey", "entries_hold_idx", "entries_request_id_account_seq_idx",
		"entries_account_idempotency_key_seq_idx",
	} {
		if strings.Contains(plan, name) {
			used = append(used, name)
		}
	}
	slices.Sort(used)
	return plan, used
}
