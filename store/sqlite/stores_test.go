package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/store/sqlstore/sqlstoretest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	sqlstoretest.Run(t, func(t *testing.T, o sqlstoretest.Options) sqlstoretest.Subject {
		t.Helper()
		db := openDB(t, Config{
			Path: filepath.Join(t.TempDir(), "test.db"),
			Now:  o.Now, Logger: o.Logger, FlushEvery: o.FlushEvery, maxUses: o.MaxUses,
		})
		return sqlstoretest.Subject{DB: db.DB, Number: func(query string) (n int64, err error) {
			err = db.runner.readers.QueryRowContext(t.Context(), strings.ReplaceAll(query, "@", "")).Scan(&n)
			return n, err
		}, Write: func(statement string) error { return tamper(db, strings.ReplaceAll(statement, "@", "")) }}
	})
}
