// Package watch repeats calls of operations and reports what changes. It defines monitors, the feed of their changes,
// and the history of the numbers that they read.
//
// A [Store] stores monitors, their snapshots and the feed; [NewMemory] keeps them in the process. A [Runner] polls the
// monitors that are due: it reads through a [Reader] and commits what it found. It may be killed at any time: a poll
// that is repeated is charged once, because its reads have names, and its changes are reported once, because they have
// ids.
//
// A monitor of one thing reports changed, gone and back. A monitor of a list reports new, and if it follows some of the
// newest items, changed and gone for these. Numbers such as followers do not count as changes: they are recorded in the
// history, and raise alerts.
//
// Other stores must pass the suite of watch/watchtest.
package watch
