// Package jsontext goes over JSON without decoding it: it finds where strings end, checks JSON, and removes white space.
package jsontext

import "bytes"

// Closing returns the index of the quote that closes a string, in what follows its opening quote; len(data) if there is
// none.
func Closing(data []byte) int {
	for from := 0; ; {
		n := bytes.IndexByte(data[from:], '"')
		if n < 0 {
			return len(data)
		}
		at := from + n
		escapes := at // a quote after an odd number of backslashes is a part of the string
		for escapes > from && data[escapes-1] == '\\' {
			escapes--
		}
		if (at-escapes)%2 == 0 {
			return at
		}
		from = at + 1
	}
}
