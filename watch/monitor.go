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
	Failing = "failing" // several consecutive polls have failed
	Stopped = "stopped" // it does not poll any more: its key was revoked, or its parameters are invalid
)

// The types of changes.
const (
	Ready     = "ready" // the first poll: from now on, changes are compared with it
	New       = "new"
	Changed   = "changed"
	Gone      = "gone"
	Back      = "back"
	Alerted   = "alert"
	Gap       = "gap" // more items were new than a poll reads
	Recovered = "recovered"
	// Starved, Failing and Stopped are also types of changes.
)

// The limits of a monitor.
const (
	MaxEvery  = 31 * 24 * time.Hour
	MaxPages  = 10
	MaxFollow = 100
	maxFields = 50
	maxAlerts = 20
)

// ErrInvalid means that the definition of a monitor is invalid. The error that wraps it has the reason.
var ErrInvalid = errors.New("watch: invalid monitor")

// Ask is the call of a monitor: an operation with its parameters.
type Ask struct {
	Operation string
	Platform  string // "" if the operation has none
	Params    map[string]string
	List      bool // whether its data is a list
}

// Equal reports whether both are the same call.
func (a Ask) Equal(b Ask) bool {
	return a.Operation == b.Operation && a.Platform == b.Platform && a.List == b.List && maps.Equal(a.Params, b.Params)
}

// Definition is the part of a monitor that its account defines.
type Definition struct {
	Ask

	Every  time.Duration
	Pages  int      // of a list; the maximum number that a poll reads
	Follow int      // of a list; how many of the newest items are compared
	Fields []string // the compared ones; none means all
	Alerts []string // such as "followers:5%" and "viewers:>=10000"

	Caps  Caps
	Heard int64 `json:",omitempty"` // the Seq of the last change that the only reader of this monitor has processed
}

// Caps are those of the key that pays, for programs whose keys are not in a store.
type Caps struct {
	Day   *int64 `json:",omitempty"` // credits in one UTC day; nil is no limit
	Total *int64 `json:",omitempty"` // credits in total; nil is no limit
}

// Monitor is a definition with its name and its state.
type Monitor struct {
	Definition

	Account   string
	Name      string
	Key       string // the id of the key that pays for its polls
	Paused    bool
	CreatedAt time.Time
	// Baseline is increased when Ask changes: results from before are not compared with results after it.
	Baseline int64
	Progress
}

// Progress is the state of a monitor after its polls.
type Progress struct {
	State    string // Active, Starved, Failing or Stopped
	NextAt   time.Time
	LastAt   time.Time // zero before the first poll
	Code     string    // of the last poll's problem; "" when it had none
	Detail   string
	Failures int   // number of consecutive polls that have failed
	Polls    int64 // number of commits of this baseline
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

// Due reports whether the monitor polls at all.
func (m *Monitor) Due() bool { return !m.Paused && m.State != Stopped }

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// CheckName returns an error if the name of a monitor or an endpoint is invalid.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%w: a name has 1 to 64 of a-z, 0-9 and -, and does not begin with -", ErrInvalid)
	}
	return nil
}

// Check sets the defaults of d, and returns an error that wraps [ErrInvalid] if d is invalid. least is the shortest
// interval, the cache lifetime of the operation.
func (d *Definition) Check(least time.Duration) error {
	switch {
	case d.Every == 0:
		d.Every = max(least, 15*time.Minute)
	case d.Every < least || d.Every > MaxEvery:
		return fmt.Errorf("%w: every is from %v to %v for this operation", ErrInvalid, least, MaxEvery)
	}
	if !d.List && (d.Pages > 1 || d.Follow > 0) {
		return fmt.Errorf("%w: pages and follow are for operations that return a list", ErrInvalid)
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
		return fmt.Errorf("%w: alerts are for operations that return one object", ErrInvalid)
	}
	for _, text := range d.Alerts {
		if _, err := parseAlert(text); err != nil {
			return err
		}
	}
	return nil
}

// Same reports whether both definitions are equal in everything that the account defines.
func (d Definition) Same(o Definition) bool {
	return d.Equal(o.Ask) && d.Every == o.Every && d.Pages == o.Pages && d.Follow == o.Follow &&
		slices.Equal(d.Fields, o.Fields) && slices.Equal(d.Alerts, o.Alerts)
}

// place returns when in each interval a monitor polls, which a hash distributes evenly.
func (m *Monitor) place() time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.Account + "\x00" + m.Name))
	return time.Duration(h.Sum64() % uint64(m.Every))
}

// after returns the monitor's next time after now.
func (m *Monitor) after(now time.Time) time.Time {
	since := time.Duration(now.UnixNano() - int64(m.place()))
	periods := since / m.Every
	if since < 0 {
		periods--
	}
	return time.Unix(0, int64(m.place())+int64(periods+1)*int64(m.Every)).UTC()
}
