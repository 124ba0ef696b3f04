//go:build !race

package all

const underRace = 1
