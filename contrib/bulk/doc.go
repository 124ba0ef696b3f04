// Package bulk has bulk jobs worked by River (github.com/riverqueue/river), a queue in the database that a server has
// already: PostgreSQL, for any number of processes, or the file of store/sqlite, for one.
//
//	jobs, err := bulk.OpenPostgres(ctx, db, bulk.Config{}) // or OpenSQLite
//	defer jobs.Close()
//	client, err := socialdata.New(socialdata.WithBulk(jobs), …)
//
// A job's lines are cut into chunks of one platform and operation, which are compressed rows of a table of this package.
// Only a window of them, for each job and platform, are jobs of River at a time, so that a job of two million lines
// that waits or ends touches few rows. A process that works a chunk has a lease of it, which it extends; when it stops
// doing so, another one works the chunk again, under the same Idempotency-Key, and the results of the first are not
// accepted any more. A chunk's results and the end of its job of River are one transaction.
//
// # Other queues
//
// River is licensed under MPL-2.0, see NOTICE. It needs PostgreSQL itself, or SQLite: it does not run on CockroachDB.
// Behind PgBouncer, or if the DSN chooses how statements are run, it polls and does not listen.
//
// A team that runs Temporal does not need this package: an activity that makes a batch call with an Idempotency-Key is
// enough. NATS JetStream and Kafka have no transaction with the books: they are for what comes out, as a [Sink].
package bulk
