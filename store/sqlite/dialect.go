package sqlite

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// dialect is that of SQLite.
var dialect = sqlstore.Dialect{
	Words: map[string]string{
		"int": "INTEGER", "text": "TEXT", "bytes": "BLOB", "real": "REAL", "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
		"strict": "STRICT", "spare": "STRICT", "lock": "", "skip": "", "slash": "instr(key, x'2f')", "now": "0",
		// A constraint that fails ends the transaction, which it does anyway; then SQLite need not be able to undo the
		// statement alone.
		"insert": "INSERT OR ROLLBACK",
	},
	Rows: func(types string) string {
		columns := make([]string, len(types))
		for i, t := range types {
			value := "value ->> " + strconv.Itoa(i)
			if t == 'b' {
				value = "unhex(" + value + ")"
			}
			columns[i] = value + " AS c" + strconv.Itoa(i+1)
		}
		return "(SELECT " + strings.Join(columns, ", ") + " FROM json_each(?))"
	},
	RowArgs: func(types string, rows [][]any) []any {
		encoded := make([][]any, len(rows))
		for i, row := range rows {
			encoded[i] = append([]any{}, row...)
			for j, v := range row {
				if b, ok := v.([]byte); ok && types[j] == 'b' {
					encoded[i][j] = hex.EncodeToString(b)
				}
			}
		}
		b, _ := json.Marshal(encoded) // of numbers and texts that are UTF-8: it cannot fail
		return []any{string(b)}
	},
	InsertMax: 8,
	AppendOnly: func(table string) string {
		return "CREATE TRIGGER " + table + "_are_not_changed BEFORE UPDATE ON " + table + " BEGIN SELECT RAISE(ABORT, '" +
			table + " are never changed'); END;\nCREATE TRIGGER " + table + "_are_not_removed BEFORE DELETE ON " + table +
			" BEGIN SELECT RAISE(ABORT, '" + table + " are never removed'); END"
	},
	Missing: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && e.Code() == sqliteError
	},
	Exists: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && e.Code()&0xff == sqliteConstraint
	},
	Sizes: `SELECT coalesce(m.tbl_name, s.name), sum(s.pgsize) FROM dbstat AS s
		LEFT JOIN sqlite_schema AS m ON m.name = s.name WHERE s.aggregate = TRUE GROUP BY 1`,
}

// The connection that writes begins transactions with BEGIN IMMEDIATE: one that reads first could fail with SQLITE_BUSY
// when it begins to write. The checkpointer does what wal_autocheckpoint would do during a commit. A log that one large
// transaction has extended shrinks to 64 MB when it is used again. Removed content is overwritten with zeros. Locks are not
// fair: a command waits long for those of a busy server.
const writerParams = "_busy_timeout=15000&_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on" +
	"&_pragma=cache_size(-8192)&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)" +
	"&_pragma=secure_delete(ON)"

// scrubParams do not wait for locks: a scrub is tried again, and makes no writer wait meanwhile.
const scrubParams = "_busy_timeout=1&_journal_mode=WAL&_pragma=secure_delete(ON)"

const readerParams = "_busy_timeout=5000&_query_only=on&_pragma=cache_size(-16384)"

func dsn(path, params string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params}
	return u.String()
}
