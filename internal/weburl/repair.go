package weburl

import (
	"regexp"
	"strings"
)

var (
	// misspelt matches the scheme of an address in any of the spellings in which its colon or slashes are wrong.
	misspelt = regexp.MustCompile(`(?i)(^|[\s(<"'])(https?)(?:[:;]/*|//+)([^\s/:;])`)
	// appended matches the first parameter of a query whose question mark is missing, plain or escaped.
	appended = regexp.MustCompile(`(?i)(?:&|%26)(?:amp;)?[a-z_][a-z0-9_.-]*(?:=|%3D)`)
	// wide are the forms of @ that keyboards for Chinese and Japanese enter.
	wide = strings.NewReplacer("＠", "@", "﹫", "@", "%EF%BC%A0", "@", "%EF%B9%AB", "@")
)

// Repair returns a pasted identifier, address, or text with an address, as it was meant: the scheme of an address is
// spelt correctly, parameters that were appended to a path without a question mark are removed, and a full-width @ is an
// ordinary one.
func Repair(s string) string {
	if strings.ContainsAny(s, "＠﹫%") {
		s = wide.Replace(s)
	}
	if strings.Contains(strings.ToLower(s), "http") {
		s = misspelt.ReplaceAllString(s, "$1$2://$3")
	}
	if !strings.Contains(s, "&") && !strings.Contains(s, "%26") {
		return s
	}
	words := strings.SplitAfter(s, " ")
	for i, word := range words {
		end := strings.IndexAny(word, "?# \t\n")
		if end < 0 {
			end = len(word)
		}
		if at := appended.FindStringIndex(word[:end]); at != nil && at[0] > 0 {
			words[i] = word[:at[0]] + word[end:]
		}
	}
	return strings.Join(words, "")
}
