// Package tables answers SQL over a [socialdata.Reader]: each read is a table of SQLite.
//
//	db, err := tables.Open(client, tables.Config{})
//	rows, err := db.QueryContext(ctx, `SELECT author_handle, sum(likes) FROM posts
//		WHERE platform = 'github' AND handle IN ('octocat', 'torvalds') GROUP BY 1`)
//
// There is a table for each operation that reads from a platform, such as profile, posts or collection_tracks, and for
// search_across, platforms, usage, changes and history. Its columns are those of [schema.Flat]: a time is a text as RFC
// 3339 writes it, a list is JSON, and what is absent is NULL. The parameters of the operation and the platform are
// columns too, hidden ones unless the rows have a field of that name. More hidden columns say where a row is from:
//
//	_cache    HIT or MISS
//	_age_s    age of the row, in seconds
//	_credits  what the call that brought the row has cost, in its first row; 0 in the others
//	_source   official, own, or upstream:NAME
//	_raw      the upstream's own object, as JSON; it is only read when a query names it
//
// # What is read
//
// A parameter gets its value by = or IN, from a constant, an argument or a column of a table that is joined. Pages are
// read as the query needs their rows: LIMIT 3 reads one page, ORDER BY and count(*) read all of them. created_at >= x
// is passed on as the parameter since where an operation has it. IN with several constants over the key of an operation
// that has a batch is one call for up to 100 keys, unless the query has a LIMIT. Everything else is SQLite's own.
//
// A query that leaves a required parameter without a value, in any branch of an OR, fails before anything is read.
// EXPLAIN QUERY PLAN says which reads a query makes and, if the values are in the query, what the first page of each
// may cost and whether all pages are read.
//
// # Errors, money, writing
//
// A problem ends the query with its *[problem.Error]; of several keys with IN, those that are not found have no row. A
// query stops with insufficient_credits before it has cost more than [Config.MaxCredits]. The tables are read-only; a
// connection may have tables of its own, which are in memory, and attach files. Connections share nothing: use
// [sql.DB.Conn] for statements that belong together.
package tables
