package problem

import (
	"strings"
	"unicode/utf8"
)

// longestName is the length of the longest word that is compared with names: longer ones are not typing errors.
const longestName = 64

// DidYouMean returns " (did you mean x?)", to be appended to a word that is not one of names, where x is the most
// similar name; "" when none is similar.
func DidYouMean(given string, names []string) string {
	if name := Nearest(given, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}

// Nearest returns the name with the smallest edit distance to given; "" when all differ in more than a third of the
// letters.
func Nearest(given string, names []string) string {
	letters := utf8.RuneCountInString(given)
	if letters > longestName {
		return ""
	}
	best, least := "", letters/3+1
	for _, name := range names {
		d := distance([]rune(strings.ToLower(given)), []rune(strings.ToLower(name)))
		if d <= least && d < utf8.RuneCountInString(name) && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many letters must be added, dropped, changed or swapped with the next to turn a into b.
// https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance#Optimal_string_alignment_distance
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			changed := last[j]
			if a[i] != b[j] {
				changed++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, changed)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
