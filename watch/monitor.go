package watch

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"time"
)

// The states of a monitor.
const (
	Active  = "active"
	Paused  = "paused"
	Starved = "starved" // its account cannot pay for a poll
	Failing = "failing" // several polls in a row have failed
	Stopped = "stopped" // it polls no more: its key was revoked, or what it asks is no valid question
)

// The types of changes.
const (
	Ready     = "ready" // the first poll: what there is from now on is compared with it
	New       = "new"
	Changed   = "changed"
	Gone      = "gone"
	Back      = "back"
	Alerted   = "alert"
	Gap       = "gap" // more was new than the pages of a poll hold
	Recovered = "recovered"
	// Starved, Failing and Stopped are told as changes too.
)

// The bounds of a monitor.
const (
	MaxEvery  = 31 * 24 * time.Hour
	MaxPages  = 10
	MaxFollow = 100
	maxFields = 50
	maxAlerts = 20
)

// ErrInvalid says that a monitor cannot be as it is asked for. The error that wraps it says why.
var ErrInvalid = errors.New("watch: invalid monitor")

// Ask is what a monitor asks: an operation with its parameters.
type Ask struct {
	Operation string
	Platform  string // "" where the operation has none
	Params    map[string]string
	List      bool // whether it answers with a list
}

// Equal reports whether both ask the same.
func (a Ask) Equal(b Ask) bool {
	return a.Operation == b.Operation && a.Platform == b.Platform && a.List == b.List && maps.Equal(a.Params, b.Params)
}

// Definition is a monitor as its account wants it.
type Definition struct {
	Ask

	Every  time.Duration
	Pages  int      // of a list; a poll reads so many at most
	Follow int      // of a list; so many of the newest items are compared
	Fields []string // those compared; none means all
	Alerts []string // such as "followers:5%" and "viewers:>=10000"

	Caps  Caps
	Heard int64 `json:",omitempty"` // the Seq of the last change that a reader of this monitor alone has dealt with
}

// Caps are those of the key that pays, for programs whose keys are in no store that could be asked for them.
type Caps struct {
	Day   *int64 `json:",omitempty"` // credits in one UTC day; nil is no bound
	Total *int64 `json:",omitempty"` // credits ever; nil is no bound
}

// Monitor is a definition with its name and what has come of it.
type Monitor struct {
	Definition

	Account   string
	Name      string
	Key       string // the id of the key that pays for its polls
	Paused    bool
	CreatedAt time.Time
	// Baseline grows with each new question: what was found before is not compared with what is found after.
	Baseline int64
	Progress
}

// Progress is what the polls of a monitor have come to.
type Progress struct {
	State    string // Active, Starved, Failing or Stopped
	NextAt   time.Time
	LastAt   time.Time // zero before the first poll
	Code     string    // of the problem of the last poll; "" when it had none
	Detail   string
	Failures int   // polls in a row that failed
	Polls    int64 // commits of this baseline
	Month    string
	Credits  int64 // charged in Month
	Snapshot Snapshot
}

// Shown returns the state as it is shown.
func (m *Monitor) Shown() string {
	if m.Paused {
		return Paused
	}
	return m.State
}

// Due reports whether the monitor may be polled at all.
func (m *Monitor) Due() bool { return !m.Paused && m.State != Stopped }

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// CheckName returns what is wrong with the name of a monitor or an endpoint.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%w: a name has 1 to 64 of a-z, 0-9 and -, and does not begin with -", ErrInvalid)
	}
	return nil
}

// Check fills in what d leaves out, and returns what is wrong with it: an error that wraps [ErrInvalid]. Least is the
// shortest pace, the lifetime of the operation's answers.
func (d *Definition) Check(least time.Duration) error {
	switch {
	case d.Every == 0:
		d.Every = max(least, 15*time.Minute)
	case d.Every < least || d.Every > MaxEvery:
		return fmt.Errorf("%w: every is from %v to %v for this operation", ErrInvalid, least, MaxEvery)
	}
	if !d.List && (d.Pages > 1 || d.Follow > 0) {
		return fmt.Errorf("%w: pages and follow are for operations that answer with a list", ErrInvalid)
	}
	switch {
	case d.Pages == 0 && d.List:
		d.Pages = 2
	case d.Pages == 0:
		d.Pages = 1
	case d.Pages < 0 || d.Pages > MaxPages:
		return fmt.Errorf("%w: pages is from 1 to %d", ErrInvalid, MaxPages)
	}
	if d.Follow < 0 || d.Follow > MaxFollow {
		return fmt.Errorf("%w: follow is from 0 to %d", ErrInvalid, MaxFollow)
	}
	if len(d.Fields) > maxFields || len(d.Alerts) > maxAlerts {
		return fmt.Errorf("%w: at most %d fields and %d alerts", ErrInvalid, maxFields, maxAlerts)
	}
	if len(d.Alerts) > 0 && d.List {
		return fmt.Errorf("%w: alerts are for operations that answer with one object", ErrInvalid)
	}
	for _, text := range d.Alerts {
		if _, err := parseAlert(text); err != nil {
			return err
		}
	}
	return nil
}

// Same reports whether both definitions are equal in everything that the account wants.
func (d Definition) Same(o Definition) bool {
	return d.Equal(o.Ask) && d.Every == o.Every && d.Pages == o.Pages && d.Follow == o.Follow &&
		slices.Equal(d.Fields, o.Fields) && slices.Equal(d.Alerts, o.Alerts)
}

// place returns when, in each period, a monitor polls: monitors are spread over it by a hash.
func (m *Monitor) place() time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.Account + "\x00" + m.Name))
	return time.Duration(h.Sum64() % uint64(m.Every))
}

// after returns the first time after now that is the monitor's place in its period.
func (m *Monitor) after(now time.Time) time.Time {
	since := time.Duration(now.UnixNano() - int64(m.place()))
	periods := since / m.Every
	if since < 0 {
		periods--
	}
	return time.Unix(0, int64(m.place())+int64(periods+1)*int64(m.Every)).UTC()
}
