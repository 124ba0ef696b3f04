package status

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/schema"
)

//go:generate go tool qtc -skipLineComments

//go:embed status.css
var style string

// Policy is the Content-Security-Policy of the page: it has its own style and loads nothing.
func Policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// HTML returns the page. Its links are relative: status.json and status.atom are beside it.
func (r Report) HTML() []byte { return []byte(page(r)) }

// Summary returns the state of all platforms now, in a sentence.
func (r Report) Summary() string {
	bad := r.bad()
	switch {
	case len(r.Platforms) == 0:
		return "The service reads no platform yet."
	case len(bad) == 0:
		return "No platform has a problem now."
	case len(bad) == 1:
		return bad[0].Name + " has a problem now."
	}
	return strconv.Itoa(len(bad)) + " platforms have a problem now."
}

// called returns the platforms with calls, and the names of those without.
func (r Report) called() (called []Platform, rest string) {
	var names []string
	for _, p := range r.Platforms {
		if p.Answered != nil {
			called = append(called, p)
		} else {
			names = append(names, p.Name)
		}
	}
	return called, strings.Join(names, ", ")
}

// bad returns the platforms that are degraded or down now.
func (r Report) bad() (bad []Platform) {
	for _, p := range r.Platforms {
		if p.State == schema.Degraded || p.State == schema.Down {
			bad = append(bad, p)
		}
	}
	return bad
}

// Title returns the incident in a line.
func (i Incident) Title() string {
	if i.State == schema.Down {
		return i.Name + ": half of the calls failed, or more"
	}
	return i.Name + ": many calls failed"
}

// Text returns when the incident was, and how much has failed.
func (i Incident) Text() string {
	const form = "2 January 2006 15:04"
	failed := share(&i.Failed) + " of the calls failed"
	if i.EndedAt == nil {
		return "Since " + i.BeganAt.Format(form) + " UTC, " + failed + "."
	}
	ended := i.EndedAt.Format(form)
	if ended[:len(ended)-len("15:04")] == i.BeganAt.Format("2 January 2006 ") {
		ended = i.EndedAt.Format("15:04")
	}
	return "From " + i.BeganAt.Format(form) + " to " + ended + " UTC, " + failed + "."
}

// UpdatedAt returns when the incident has changed last: at the end of its last hour, or at now while that is to come.
func (i Incident) UpdatedAt(now time.Time) time.Time {
	if i.last.After(now) {
		return now
	}
	return i.last
}

// words returns a state in words.
func words(s schema.HealthState) string {
	switch s {
	case schema.Healthy:
		return "no incident"
	case schema.Degraded:
		return "many calls failed"
	case schema.Down:
		return "half of the calls failed, or more"
	case schema.Unknown:
	}
	return "no calls"
}

// now returns the present state of a platform in words.
func (p Platform) now() string {
	switch p.State {
	case schema.Healthy:
		return "answers"
	case schema.Degraded:
		return "answers badly"
	case schema.Down:
		return "does not answer"
	case schema.Unknown:
	}
	return "not called lately"
}

// share writes a percentage, "–" for nil.
func share(percent *float64) string {
	if percent == nil {
		return "–"
	}
	return strconv.FormatFloat(*percent, 'f', -1, 64) + " %"
}

// incidents returns on how many days there were incidents, for readers of the strip.
func (p Platform) incidents() string {
	n := 0
	for _, d := range p.Days {
		if d.State == schema.Degraded || d.State == schema.Down {
			n++
		}
	}
	if n == 1 {
		return p.Name + ": an incident on 1 of 90 days"
	}
	return p.Name + ": incidents on " + strconv.Itoa(n) + " of 90 days"
}
