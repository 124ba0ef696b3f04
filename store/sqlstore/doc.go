// Package sqlstore keeps accounts, keys, the ledger, records, monitors, the request log and the block list in an SQL
// database. It is one implementation of every contract over database/sql; store/sqlite and contrib/postgres open a
// database for it.
//
// A driver implements [Runner], which runs transactions and reads, and fills in a [Dialect], which has the words in
// which databases differ. Everything else is here: the schema and its migrations, the statements, the audit, export and
// import. The rule of a charge is not: see [credits.State].
package sqlstore
