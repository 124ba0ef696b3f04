package credits

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check returns ErrInvalid unless every text of c can be stored.
func (c Charge) Check() error {
	for _, s := range []string{c.Operation, c.Platform, c.RequestID, c.Cache, c.IdempotencyKey, c.ID} {
		if err := CheckText("charge", s); err != nil {
			return err
		}
	}
	return nil
}

// maxText is the length of the longest text that is stored, in bytes.
const maxText = 4096

// CheckText returns ErrInvalid unless s is UTF-8 of at most 4,096 bytes without control characters, so that every
// store, export and terminal returns it unchanged. The error calls the text what.
func CheckText(what, s string) error {
	if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%w: the %s %.50q must be UTF-8 of at most %d bytes without control characters",
			ErrInvalid, what, s, maxText)
	}
	return nil
}
