package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Sizes returns the disk space of each kind of data, with its indexes: the ledger, the request log, the usage and the
// records. The number of ledger entries is an estimate from PostgreSQL's statistics.
func (db *DB) Sizes(ctx context.Context) ([]bookkeeping.Size, error) {
	var out []bookkeeping.Size
	for _, of := range []struct{ kind, rows, table string }{
		{bookkeeping.SizeBooks, "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = '@entries'::regclass", "@entries"},
		{bookkeeping.SizeRequests, "SELECT coalesce(sum(n), 0)::bigint FROM @requests", "@requests"},
		{bookkeeping.SizeUsage, "SELECT count(*) FROM @usage", "@usage"},
	} {
		s := bookkeeping.Size{Kind: of.kind}
		err := db.pool.QueryRow(ctx, db.sql("SELECT ("+of.rows+"), pg_total_relation_size('"+of.table+"'::regclass)")).
			Scan(&s.Rows, &s.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	var disk int64
	if err := db.pool.QueryRow(ctx,
		db.sql("SELECT pg_total_relation_size('@records'::regclass)")).Scan(&disk); err != nil {
		return nil, err
	}
	parts, err := list(ctx, db, scanSize, `SELECT encode(substring(key FROM 1 FOR position('/'::bytea IN key || '/'::bytea) - 1), 'escape'),
		count(*), sum(octet_length(key) + pg_column_size(value))::bigint FROM @records GROUP BY 1`)
	if err != nil {
		return nil, err
	}
	return bookkeeping.SumSizes(append(out, bookkeeping.RecordSizes(disk, parts)...)), nil
}

func scanSize(row pgx.CollectableRow) (s bookkeeping.Size, err error) {
	err = row.Scan(&s.Kind, &s.Rows, &s.Bytes)
	return s, err
}

// Sizes is [DB.Sizes], for all databases together.
func (s *Shards) Sizes(ctx context.Context) ([]bookkeeping.Size, error) {
	all, err := gather(ctx, s, func(ctx context.Context, db *DB) ([]bookkeeping.Size, error) { return db.Sizes(ctx) })
	return bookkeeping.SumSizes(all), err
}
