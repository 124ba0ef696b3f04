//go:build race

package main

// underRace is how much less is tried where the race detector makes everything slow.
const underRace = 6
