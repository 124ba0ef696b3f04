package postgres

import (
	"strings"
	"testing"

	"github.com/socialdata/socialdata/store/sqlstore/sqlstoretest"
)

func TestStores(t *testing.T) {
	t.Parallel()
	newSchema(t)
	sqlstoretest.Run(t, func(t *testing.T, o sqlstoretest.Options) sqlstoretest.Subject {
		t.Helper()
		cfg := newSchema(t)
		cfg.Now, cfg.Logger, cfg.FlushEvery, cfg.maxUses = o.Now, o.Logger, o.FlushEvery, o.MaxUses
		db := openDB(t, cfg)
		return sqlstoretest.Subject{DB: db.DB, Number: func(query string) (n int64, err error) {
			query = strings.ReplaceAll(query, "@", cfg.Schema+".")
			err = db.runner.pool.QueryRow(t.Context(), query).Scan(&n)
			return n, err
		}, Write: func(statement string) error {
			_, err := db.runner.pool.Exec(t.Context(), strings.ReplaceAll(statement, "@", cfg.Schema+"."))
			return err
		}}
	})
}
