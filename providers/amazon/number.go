package amazon

import (
	"regexp"
	"strconv"
	"strings"
)

// plainDigits are the digits and marks of Arabic pages, and the spaces that group digits, in ASCII.
var plainDigits = strings.NewReplacer(
	"٠", "0", "١", "1", "٢", "2", "٣", "3", "٤", "4", "٥", "5", "٦", "6", "٧", "7", "٨", "8", "٩", "9",
	"٫", ".", "٬", ",", "\u00a0", " ", "\u202f", " ", "\u200e", "", "\u200f", "", "\u061c", "",
)

// The forms of an amount, with a point and with a comma before the cents. In India, hundred thousands have a mark too. A
// point with two digits behind it stands before cents wherever it is written: no thousands end so.
var (
	withPoint = regexp.MustCompile(`^\d{1,3}(?:[, ]\d{3})*(?:\.\d{2})?$|^\d{1,2}(?:,\d{2})*,\d{3}(?:\.\d{2})?$|^\d+(?:\.\d{2})?$`)
	inEnglish = regexp.MustCompile(`\.\d{2}$`)
	withComma = regexp.MustCompile(`^\d{1,3}(?:[. ]\d{3})*(?:,\d{2})?$|^\d+(?:,\d{2})?$`)
)

// amount reads a price as the marketplace writes it, such as "$1,399.00". It is nil for one in another currency, and for
// one that can be read in two ways: to guess would make it a hundred times too much.
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
	if m.comma && !inEnglish.MatchString(rest) { // in which we ask for the page, and may get it
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

// stars reads a rating such as "4.2 out of 5 stars"; nil when there is none between 0 and 5.
func stars(words string) *float64 {
	number := strings.ReplaceAll(firstNumber.FindString(plainDigits.Replace(words)), ",", ".")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n > 5 {
		return nil
	}
	return &n
}
