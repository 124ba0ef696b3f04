// Package attacks attacks the shipped program over loopback, in the ways open to its callers, the users of its machine
// and its upstreams. Each attack has succeeded once before; docs/security-tests.md names the promise that it tries to break.
//
//	go test ./examples/attacks                                   # small, as in CI
//	SIZE=full go test -timeout 3h ./examples/attacks # ten times as large
//
// The program is built first, unless SOCIALDATA_TEST_PROGRAM names it.
package attacks
