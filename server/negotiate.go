package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/operation"
)

// quality returns the quality value of a word, from 0 to 1, in the lists of an Accept or Accept-Encoding field, and
// whether the word itself is listed. It ignores case. If a word is listed twice, the higher value counts.
// https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2
func quality(lists []string, word string) (q float64, listed bool) {
	for _, list := range lists {
		for item := range strings.SplitSeq(list, ",") {
			name, params, _ := strings.Cut(item, ";")
			if strings.EqualFold(strings.TrimSpace(name), word) {
				q, listed = max(q, weight(params)), true
			}
		}
	}
	return q, listed
}

// weight returns the q parameter of an item: 1 when there is none, 0 when it is not a number from 0 to 1.
func weight(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

// wantsEvents reports whether a caller accepts server-sent events, and prefers nothing to them. For a caller that
// accepts anything it returns false.
func wantsEvents(r *http.Request) bool {
	accept := r.Header.Values("Accept")
	events, _ := quality(accept, "text/event-stream")
	plain, _ := quality(accept, "application/json")
	return events > 0 && events >= plain
}

// wantsLines reports whether a caller accepts lines of JSON, and prefers nothing to them.
func wantsLines(r *http.Request) bool {
	accept := r.Header.Values("Accept")
	lines, _ := quality(accept, operation.Lines)
	plain, _ := quality(accept, "application/json")
	return lines > 0 && lines >= plain
}

// wantsGzip reports whether a caller accepts gzip.
func wantsGzip(r *http.Request) bool {
	accept := r.Header.Values("Accept-Encoding")
	q, listed := quality(accept, "gzip")
	if !listed {
		q, _ = quality(accept, "*")
	}
	return q > 0
}

// matches reports whether one of the tags of If-None-Match is tag, by weak comparison.
// https://www.rfc-editor.org/rfc/rfc9110#field.if-none-match
func matches(headers []string, tag string) bool {
	for _, h := range headers {
		for t := range strings.SplitSeq(h, ",") {
			t = strings.TrimSpace(t)
			if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
