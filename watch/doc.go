// Package watch asks operations again and again and tells what changes: monitors, the feed of their changes, and the history
// of the numbers that they meet.
//
// A [Store] keeps monitors, their snapshots and the feed; [NewMemory] keeps them in the process. A [Runner] takes the
// monitors that are due, reads through a [Reader] and commits what it found. It may be killed anywhere: a poll that is done
// again is charged once, by the name of its read, and told once, by the id of its changes.
//
// A monitor of one thing tells changed, gone and back. A monitor of a list tells new, and changed and gone of the newest items
// when it follows some. Numbers such as followers are no change: they go to the history, and raise alerts.
//
// Stores of other packages run the suite of watch/watchtest.
package watch
