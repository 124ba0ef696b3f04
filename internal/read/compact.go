package read

import (
	"bytes"
	"encoding/json"
)

// compact returns raw without white space, as [json.Compact] does, and false if it is not JSON. Raw that is compact
// already, as nearly all is, is checked and not copied: that takes a third of the time of json.Compact, which took a
// tenth of a fan-out and of a page of posts (BenchmarkFanOut in the root package, BenchmarkMiss in providers/all).
func compact(raw []byte) ([]byte, bool) {
	if isCompact(raw) {
		return raw, true
	}
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return b.Bytes(), err == nil
}

// isCompact reports whether raw is JSON without white space and not nested deeper than [deepest].
func isCompact(raw []byte) bool {
	s := scanner{in: raw}
	return s.value(0) && s.at == len(raw)
}

// deepest is the deepest nesting of values that scanner reads.
const deepest = 100

// scanner reads JSON without white space. Each method moves past what it is named after, and returns false if that does
// not come next.
type scanner struct {
	in []byte
	at int
}

// take moves past c, and returns false if c does not come next.
func (s *scanner) take(c byte) bool {
	if s.at < len(s.in) && s.in[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) value(depth int) bool {
	if s.at >= len(s.in) || depth > deepest {
		return false
	}
	switch s.in[s.at] {
	case '"':
		return s.text()
	case '{':
		s.at++
		return s.take('}') || s.list('}', func() bool { return s.text() && s.take(':') && s.value(depth+1) })
	case '[':
		s.at++
		return s.take(']') || s.list(']', func() bool { return s.value(depth + 1) })
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

// list reads items that are separated by commas, up to and including end.
func (s *scanner) list(end byte, item func() bool) bool {
	for item() {
		if s.take(end) {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
	return false
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.in[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) text() bool {
	if !s.take('"') {
		return false
	}
	for i := s.at; i < len(s.in); i++ {
		switch c := s.in[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c < ' ':
			return false
		case c == '\\':
			if i++; i >= len(s.in) {
				return false
			}
			switch s.in[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i += 4; i >= len(s.in) || !hexadecimal(s.in[i-3:i+1]) {
					return false
				}
			default:
				return false
			}
		}
	}
	return false
}

func hexadecimal(digits []byte) bool {
	for _, c := range digits {
		if (c < '0' || c > '9') && (c|' ' < 'a' || c|' ' > 'f') {
			return false
		}
	}
	return true
}

func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.in) && s.in[s.at] >= '0' && s.in[s.at] <= '9' {
		s.at++
	}
	return s.at > from
}
