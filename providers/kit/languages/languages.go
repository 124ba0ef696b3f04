// Package languages checks the languages that upstreams name.
package languages

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
)

// Tag returns the BCP 47 tag of the first of codes that names a language, such as "ar" or "pt-BR"; nil when none does.
// Codes for something else, such as "und" (undetermined) and "zxx" (no language), and free text name none (D107).
// Outdated codes become current ones.
func Tag(codes ...string) *string {
	for _, code := range codes {
		if tag := tagOf(strings.ReplaceAll(strings.TrimSpace(code), "_", "-")); tag != "" {
			return &tag
		}
	}
	return nil
}

func tagOf(code string) string {
	base, _, _ := strings.Cut(strings.ToLower(code), "-")
	if len(base) < 2 || len(base) > 3 || base >= "qaa" && base <= "qtz" {
		return ""
	}
	switch base {
	case "und", "zxx", "mul", "mis":
		return ""
	}
	tag, err := language.DeprecatedBase.Parse(code)
	if _, unknown := errors.AsType[language.ValueError](err); unknown { // one of the parts, which may not be the language
		tag, err = language.DeprecatedBase.Parse(base)
	}
	if err != nil {
		return ""
	}
	return tag.String()
}
