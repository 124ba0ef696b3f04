// Package store has what the stores of all contracts have in common.
package store

// UnavailableError means that a store cannot serve a call now, and may serve it later: its disk is full, it is
// read-only, or it cannot be reached. The engine answers calls that need the store with platform_unavailable, and lets
// only one in a while try it until a write has succeeded.
type UnavailableError struct {
	Err          error
	MaybeWritten bool // it is not known whether the call has written; otherwise it has not
}

// Error implements error.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Unavailable reports that the call may succeed later.
func (*UnavailableError) Unavailable() bool { return true }

// Unsure reports whether the call may have written.
func (e *UnavailableError) Unsure() bool { return e.MaybeWritten }
