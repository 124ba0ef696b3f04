//go:build race

package all

// underRace is the factor by which fewer cases run under the race detector, which is slow.
const underRace = 24
