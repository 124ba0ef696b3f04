// Package sqlite keeps accounts, keys, the ledger and records in one SQLite file: the durable default of one machine.
//
//	db, err := sqlite.Open(ctx, sqlite.Config{Path: "socialdata.db"})
//	defer db.Close()
//	client, err := socialdata.New(socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()))
//
// One process serves a file at a time; a second one that tries gets ErrInUse. Any number of others may open it with
// Config.Admin to create accounts and keys, grant, revoke, audit and export while the first one serves: what they did
// counts from the server's next call on, and what one did that was killed before it could tell, some seconds later. An
// import wants the file for itself.
//
// # Durability
//
// Writes of all callers share transactions (group commit) and each caller waits for its own; a transaction is on disk
// (synchronous=FULL) before anybody in it hears of success. Holds live in memory: a crash forgets them and charges
// nothing. Entries are only ever added, each with a hash over the one before it; [DB.Audit] proves them, and
// [DB.AuditAgainst] proves them against what [DB.Heads] wrote earlier, which an insider with the file cannot change.
//
// The entries of a transaction are one row of the table journal, which costs the same however many accounts they are
// of. They are folded into the table entries, with its indexes, when nobody has written for a tenth of a second, and
// some of them after each transaction while there are more than 8,192. Every call of this package knows both; whoever
// reads the tables with a tool of their own finds all entries in one place after Close.
//
// # Files
//
// Beside the database stand SQLite's own -wal and -shm files and a -lock file, which tells servers apart and tells the
// server that another process has changed something. A -head file keeps, at most a second behind, where the books end: a
// file that has less than that, because its -wal file was damaged or removed or because it is an older copy, is not served
// (ErrLost) until the loss is accepted with Config.AcceptLoss. Links to the database are followed, so that these files stand
// beside the file itself; one with several names (hard links) is refused. A copy of the database alone is whole only
// after Close; [DB.Backup] copies one that is being served.
package sqlite
