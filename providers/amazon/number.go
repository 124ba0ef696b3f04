package amazon

import (
	"regexp"
	"strconv"
	"strings"
)

// plainDigits maps the digits and marks of Arabic pages, and the spaces that group digits, to ASCII.
var plainDigits = strings.NewReplacer(
	"٠", "0", "١", "1", "٢", "2", "٣", "3", "٤", "4", "٥", "5", "٦", "6", "٧", "7", "٨", "8", "٩", "9",
	"٫", ".", "٬", ",", "\u00a0", " ", "\u202f", " ", "\u200e", "", "\u200f", "", "\u061c", "",
)

// These match an amount, with a point and with a comma before the cents. India also puts a mark after the hundred
// thousands. A point followed by two digits always comes before cents, since no group of thousands has two digits.
var (
	withPoint = regexp.MustCompile(`^\d{1,3}(?:[, ]\d{3})*(?:\.\d{2})?$|^\d{1,2}(?:,\d{2})*,\d{3}(?:\.\d{2})?$|^\d+(?:\.\d{2})?$`)
	inEnglish = regexp.MustCompile(`\.\d{2}$`)
	withComma = regexp.MustCompile(`^\d{1,3}(?:[. ]\d{3})*(?:,\d{2})?$|^\d+(?:,\d{2})?$`)
)

// amount parses a price as the marketplace writes it, such as "$1,399.00". It is nil for another currency, and for a
// price that is ambiguous: a wrong guess would be off by a factor of a hundred.
func (m market) amount(price string) *float64 {
	price = strings.TrimSpace(plainDigits.Replace(price))
	rest, found := price, false
	for sign := range strings.FieldsSeq(m.signs) {
		if after, ok := strings.CutPrefix(price, sign); ok {
			rest, found = after, true
			break
		}
		if ahead, ok := strings.CutSuffix(price, sign); ok {
			rest, found = ahead, true
			break
		}
	}
	rest = strings.TrimSpace(rest)
	form, cents := withPoint, "."
	if m.comma && !inEnglish.MatchString(rest) { // the language that we request, and may get
		form, cents = withComma, ","
	}
	if !found || !form.MatchString(rest) {
		return nil
	}
	whole, fraction, _ := strings.Cut(rest, cents)
	whole = strings.NewReplacer(",", "", ".", "", " ", "").Replace(whole)
	n, err := strconv.ParseFloat(whole+"."+fraction, 64)
	if err != nil {
		return nil
	}
	return &n
}

var firstNumber = regexp.MustCompile(`\d(?:[.,]\d+)?`)

// stars parses a rating such as "4.2 out of 5 stars"; nil when there is none between 0 and 5.
func stars(words string) *float64 {
	number := strings.ReplaceAll(firstNumber.FindString(plainDigits.Replace(words)), ",", ".")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n > 5 {
		return nil
	}
	return &n
}
