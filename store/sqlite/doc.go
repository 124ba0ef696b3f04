// Package sqlite stores accounts, keys, the ledger and records in one SQLite file: the default durable store for one
// machine.
//
//	db, err := sqlite.Open(ctx, sqlite.Config{Path: "socialdata.db"})
//	defer db.Close()
//	client, err := socialdata.New(socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()))
//
// One process serves a file at a time; a second one fails with ErrInUse. Any number of other processes may open it with
// Config.Admin to create accounts and keys, grant, revoke, audit and export meanwhile. Their changes take effect with
// the server's next call; those of a process that was killed before it could announce them, some seconds later. During
// an import, no process may serve the file.
//
// # Durability
//
// Writes of all callers share transactions (group commit), and each caller waits for its own: a call succeeds only when
// its transaction is on disk (synchronous=FULL). Holds are in memory: after a crash they are gone, and nothing was
// charged for them. Entries are only added, each with a hash that covers the previous one. [DB.Audit] verifies them;
// [DB.AuditAgainst] compares them with what [DB.Heads] wrote earlier, which someone with access to the file cannot
// change.
//
// The entries of a transaction are one row of the table journal, which costs the same however many accounts they belong
// to. They are folded: moved into the table entries, with its indexes. That happens when there was no write for a tenth
// of a second; while there are more than 8,192, also some at a time after each transaction. Every call of this package
// reads both tables. For a tool that reads the tables itself, all entries are in the table entries after Close.
//
// # Files
//
// Next to the database are SQLite's own -wal and -shm files and a -lock file, which keeps a second process from serving
// it and announces changes of other processes to the one that serves. A -head file has the newest entry, at most a
// second late: a database that lacks this entry, because its -wal file was damaged or removed or because it is an older
// copy, is not served (ErrLost) until the loss is accepted with Config.AcceptLoss. Symbolic links to the database are
// followed, so that these files are next to the database itself; a database with several names (hard links) is refused.
// A copy of the database file alone is complete only after Close; [DB.Backup] copies a database that is being served.
package sqlite
