package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/socialdata/socialdata/store/sqlstore"
)

// Error codes of https://www.postgresql.org/docs/current/errcodes-appendix.html, and classes: their first two letters.
const (
	connectionException  = "08" // also a pooler that has lost the server
	transactionRollback  = "40" // such as a serialization failure or a deadlock
	shortOfResources     = "53" // such as too many connections
	operatorIntervention = "57" // such as a shutdown, and statement_timeout
	systemError          = "58" // such as a disk that cannot be read

	completionUnknown   = "40003"
	uniqueViolation     = "23505" // another transaction has written the same first
	foreignKeyViolation = "23503" // or has removed what this one refers to
	duplicateSchema     = "42P06" // or created it first
	duplicateTable      = "42P07"
	readOnlyTransaction = "25006" // a primary that has become a standby
	undefinedColumn     = "42703"
	undefinedTable      = "42P01"
	undefinedSchema     = "3F000"
	diskFull            = "53100"
	adminShutdown       = "57P01"
	crashShutdown       = "57P02"
	databaseDropped     = "57P04"

	// The limits that a role can have.
	lockTimeout              = "55P03"
	idleInTransactionTimeout = "25P03"
	transactionTimeout       = "25P04"
	idleSessionTimeout       = "57P05"

	// The server process is not the one that this connection has prepared its statements in, or has begun its
	// transaction in: a pooler has assigned another one, or another program has changed a table.
	failedTransaction  = "25P02"
	noTransaction      = "25P01"
	unknownStatement   = "26000"
	duplicateStatement = "42P05"
	unsupported        = "0A000"
	changedPlan        = "RevalidateCachedQuery" // where PostgreSQL says that a statement's plan must not change
)

// isCode reports whether err is an error of PostgreSQL with one of these codes.
func isCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, e.Code)
}

// isClass reports whether err is an error of PostgreSQL of one of these classes.
func isClass(err error, classes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && len(e.Code) == 5 && slices.Contains(classes, e.Code[:2])
}

// errBroken means that the connection has ended, or that the driver's own time is over, whatever the error says.
var errBroken = errors.New("postgres: the connection broke")

// isEnd reports whether err is the end of a context.
func isEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// broken reports whether err is that of a connection that broke or could not be made.
func broken(err error) bool {
	switch {
	case errors.Is(err, errBroken):
		return true
	case isEnd(err):
		return false
	case isClass(err, connectionException), isCode(err, adminShutdown, crashShutdown, databaseDropped, completionUnknown,
		idleInTransactionTimeout, idleSessionTimeout, transactionTimeout):
		return true
	}
	_, network := errors.AsType[net.Error](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return network || connecting || pgconn.SafeToRetry(err) || slices.ContainsFunc([]error{
		driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone, pgconn.ErrConnClosed, io.ErrUnexpectedEOF, io.EOF, net.ErrClosed,
		syscall.EPIPE, syscall.ECONNRESET,
	}, func(target error) bool { return errors.Is(err, target) })
}

// passing reports whether what failed with err may succeed when it is repeated.
func passing(err error) bool {
	if isCode(err, diskFull) {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == unsupported {
		return e.Routine == changedPlan
	}
	return broken(err) || isClass(err, transactionRollback, shortOfResources, operatorIntervention, systemError) ||
		isCode(err, duplicateSchema, duplicateTable, readOnlyTransaction, lockTimeout, failedTransaction, noTransaction,
			unknownStatement, duplicateStatement)
}

// explain wraps an error with one that says what it means for the caller.
func explain(err error) error {
	switch {
	case isCode(err, diskFull):
		return sqlstore.Unavailable(errors.Join(sqlstore.ErrFull, err))
	case isCode(err, readOnlyTransaction):
		return sqlstore.Unavailable(errors.Join(sqlstore.ErrReadOnly, err))
	case err != nil && passing(err):
		return sqlstore.Unavailable(err)
	}
	return err
}
