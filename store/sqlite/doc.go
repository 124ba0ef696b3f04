// Package sqlite keeps every store in one SQLite file: the default durable store for one machine.
//
//	db, err := sqlite.Open(ctx, sqlite.Config{Path: "socialdata.db"})
//	defer db.Close()
//	client, err := socialdata.New(socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()))
//
// The stores are those of [sqlstore.DB]; this package opens, locks, copies and checks the file. One process serves a
// file at a time; a second one fails with ErrInUse. Any number of other processes may open it with Config.Admin to
// create accounts and keys, grant, revoke, audit and export meanwhile. Their changes take effect with the server's next
// call, because each call reads the file. During an import, no process may serve it.
//
// # Durability
//
// Writes of callers that wait at the same time share a transaction (group commit), and each caller waits for its own: a
// call succeeds only when its transaction is on disk (synchronous=FULL). Holds are rows; those of a process that has
// ended are removed when the file is served again, and nothing was charged for them. Entries are only added, each with
// a hash that covers the previous one. Audit verifies them; AuditAgainst compares them with what Heads wrote earlier,
// which someone with access to the file cannot change.
//
// # Files
//
// Next to the database are SQLite's own -wal and -shm files and a -lock file, which keeps a second process from serving
// it. A -head file has the newest entry, at most a second late: a database that lacks this entry, because its -wal file
// was damaged or removed or because it is an older copy, is not served (ErrLost) until the loss is accepted with
// Config.AcceptLoss. Symbolic links to the database are followed, so that these files are next to the database itself;
// a database with several names (hard links) is refused. A copy of the database file alone is complete only after
// Close; [DB.Backup] copies a database that is being served.
package sqlite
