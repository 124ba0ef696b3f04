package sqlite

import (
	"context"

	"github.com/socialdata/socialdata/store/bookkeeping"
)

// Sizes returns the disk space of each kind of data: the ledger, the request log, the usage and the records. It reads
// the whole file. An entry that is still in the journal counts in the bytes of the ledger, but not in its rows.
func (db *DB) Sizes(ctx context.Context) ([]bookkeeping.Size, error) {
	pages := map[string]int64{}
	rows, err := db.read.QueryContext(ctx, `SELECT coalesce(m.tbl_name, s.name), sum(s.pgsize) FROM dbstat AS s
		LEFT JOIN sqlite_schema AS m ON m.name = s.name WHERE s.aggregate = TRUE GROUP BY 1`)
	if err != nil {
		return nil, db.explain(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table string
		var bytes int64
		if err := rows.Scan(&table, &bytes); err != nil {
			return nil, err
		}
		pages[table] = bytes
	}
	if err := rows.Err(); err != nil {
		return nil, db.explain(ctx, err)
	}
	var out []bookkeeping.Size
	for _, of := range []struct{ kind, rows, table string }{
		{bookkeeping.SizeBooks, "SELECT entries FROM totals", "entries"},
		{bookkeeping.SizeBooks, "SELECT 0", "journal"},
		{bookkeeping.SizeRequests, "SELECT coalesce(sum(n), 0) FROM requests", "requests"},
		{bookkeeping.SizeUsage, "SELECT count(*) FROM usage", "usage"},
	} {
		s := bookkeeping.Size{Kind: of.kind, Bytes: pages[of.table]}
		if err := db.file.read.QueryRowContext(ctx, of.rows).Scan(&s.Rows); err != nil {
			return nil, db.explain(ctx, err)
		}
		out = append(out, s)
	}
	parts, err := db.recordParts(ctx)
	if err != nil {
		return nil, err
	}
	return bookkeeping.SumSizes(append(out, bookkeeping.RecordSizes(pages["records"], parts)...)), nil
}

// recordParts counts the records by the first word of their keys. It reads no values, because their length is in the
// row.
func (db *DB) recordParts(ctx context.Context) ([]bookkeeping.Size, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT substr(key, 1, instr(key || '/', '/') - 1), count(*),
		sum(octet_length(key) + length(value)) FROM records GROUP BY 1`)
	if err != nil {
		return nil, db.explain(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	var out []bookkeeping.Size
	for rows.Next() {
		var s bookkeeping.Size
		if err := rows.Scan(&s.Kind, &s.Rows, &s.Bytes); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
