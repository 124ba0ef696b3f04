// Package attacks attacks the shipped program over loopback, in the ways open to its callers, the users of its machine
// and its upstreams. Each attack has succeeded once before; SECURITY.md names the promise that it tries to break.
//
//	go test ./examples/attacks                                   # small, as in CI
//	SOCIALDATA_ATTACKS=10 go test -timeout 1h ./examples/attacks # ten times as large
//
// The program is built first, unless SOCIALDATA_PROGRAM names it.
package attacks
