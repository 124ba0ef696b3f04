package zid

import (
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
)

// local is a text as Zid writes it: plain, or in Arabic and English, of which either may be missing.
type local struct{ plain, ar, en string }

// UnmarshalJSON never fails: what is neither form is no text.
func (l *local) UnmarshalJSON(b []byte) error {
	*l = local{}
	if json.Unmarshal(b, &l.plain) == nil {
		return nil
	}
	var both struct{ Ar, En words }
	if json.Unmarshal(b, &both) == nil {
		l.ar, l.en = string(both.Ar), string(both.En)
	}
	return nil
}

// words is a text that is "" where none stands.
type words string

// UnmarshalJSON never fails.
func (w *words) UnmarshalJSON(b []byte) error {
	var s string
	_ = json.Unmarshal(b, &s) // what is no text is none
	*w = words(s)
	return nil
}

// in returns the text in a language, "ar" or "en", else in Arabic, else in English; "" when there is none.
func (l local) in(lang string) string {
	asked := l.ar
	if lang == "en" {
		asked = l.en
	}
	for _, s := range []string{asked, l.ar, l.en, l.plain} {
		if s := text.NonEmpty(s); s != nil {
			return *s
		}
	}
	return ""
}

// public returns the named fields of an object of the merchant API, and so never what the merchant alone may see.
func public(raw json.RawMessage, names []string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	kept := make(map[string]json.RawMessage, len(names))
	for _, name := range names {
		if v, ok := all[name]; ok {
			kept[name] = v
		}
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return b
}

// code returns an ISO 4217 code, or "" for what is none.
func code(s string) string {
	for _, r := range s {
		if r < 'A' || r > 'Z' {
			return ""
		}
	}
	return s
}
