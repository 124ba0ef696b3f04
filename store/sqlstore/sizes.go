package sqlstore

import (
	"context"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Sizes returns the disk space of each kind of data, with its indexes: the ledger, the request log, the usage and the
// records. It may read the whole database.
func (db *DB) Sizes(ctx context.Context) ([]bookkeeping.Size, error) {
	tables, err := list(ctx, db, func(r row) (s bookkeeping.Size, err error) {
		err = r.Scan(&s.Kind, &s.Bytes)
		return s, err
	}, db.dialect.Sizes)
	if err != nil {
		return nil, err
	}
	bytes := map[string]int64{}
	for _, table := range tables {
		bytes[table.Kind] = table.Bytes
	}
	var sizes []bookkeeping.Size
	for _, of := range []struct{ kind, table, rows string }{
		{bookkeeping.SizeBooks, "entries", "SELECT CAST(coalesce(sum(seq), 0) AS {int}) FROM @accounts"}, // numbered from 1
		{bookkeeping.SizeRequests, "requests", "SELECT CAST(coalesce(sum(n), 0) AS {int}) FROM @requests"},
		{bookkeeping.SizeUsage, "usage", "SELECT count(*) FROM @usage"},
	} {
		n, err := one(ctx, db, scanOne[int64], of.rows)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, bookkeeping.Size{Kind: of.kind, Rows: n, Bytes: bytes[of.table]})
	}
	parts, err := list(ctx, db, func(r row) (s bookkeeping.Size, err error) {
		err = r.Scan(&s.Kind, &s.Rows, &s.Bytes)
		return s, err
	}, "SELECT CASE WHEN {slash} > 0 THEN substr(key, 1, {slash} - 1) ELSE key END, count(*), "+
		"sum(length(key) + length(value)) FROM @records GROUP BY 1")
	if err != nil {
		return nil, err
	}
	return bookkeeping.SumSizes(append(sizes, bookkeeping.RecordSizes(bytes["records"], parts)...)), nil
}
