//go:build race

package main

// underRace is the factor by which tests are smaller under the race detector, which makes everything slow.
const underRace = 6
