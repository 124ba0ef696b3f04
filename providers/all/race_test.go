//go:build race

package all

// underRace is how much less is tried where the race detector makes everything slow.
const underRace = 6
