package zid

import (
	"encoding/json"

	"github.com/socialdata/socialdata/providers/kit/text"
)

// local is a text as Zid writes it: plain, or in Arabic and English, either of which may be missing.
type local struct{ plain, ar, en string }

// UnmarshalJSON never fails: a value of another form is an empty text.
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

// words is a text that is "" when the value is not one.
type words string

// UnmarshalJSON never fails.
func (w *words) UnmarshalJSON(b []byte) error {
	var s string
	_ = json.Unmarshal(b, &s) // anything else is ""
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

// public returns the given fields of an object of the merchant API, so that private ones are never included.
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

// code returns an ISO 4217 code, or "" if s is not one.
func code(s string) string {
	for _, r := range s {
		if r < 'A' || r > 'Z' {
			return ""
		}
	}
	return s
}
