package watch

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
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

	Every  time.Duration // between polls; with Cron, the least time between two of them
	Cron   string        `json:",omitempty"` // when it polls, instead of at intervals: see [ParseTimes]
	Pages  int           // of a list; the maximum number that a poll reads
	Follow int           // of a list; how many of the newest items are compared
	Fields []string      // the compared ones; none means all
	Alerts []string      // such as "followers:5%" and "viewers:>=10000"

	// Each makes the monitor a panel: the parameter of which each member has another value. A panel does not poll; its
	// members do, each by itself.
	Each string `json:",omitempty"`
	// Together reports whether the upstream answers for several members in one request, so that they poll at once.
	Together bool `json:",omitempty"`

	Caps      Caps
	Processed int64 `json:",omitempty"` // the Seq of the last change that the only reader of this monitor has processed
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
	Name      string // of a member, the names of its panel and of itself with a slash between them
	Panel     string `json:",omitempty"` // the name of the panel; "" if the monitor is not a member of one
	Key       string // the id of the key that pays for its polls
	Paused    bool
	CreatedAt time.Time
	Feed      string // the hash of the token of its feed; "" if it has none
	// Baseline is increased when Ask changes: results from before are not compared with results after it.
	Baseline int64
	Progress

	// Members are what [Store.Put] makes the members of a panel. They are not read back: see [Store.Monitors].
	Members []string `json:"-"`
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
func (m *Monitor) Due() bool { return !m.Paused && m.State != Stopped && m.Each == "" }

// Member returns the value of the panel's parameter; "" if m is not a member of a panel.
func (m *Monitor) Member() string {
	if m.Panel == "" {
		return ""
	}
	return strings.TrimPrefix(m.Name, m.Panel+"/")
}

// shownName returns the name of the monitor in changes: for a member, that of its panel.
func (m *Monitor) shownName() string { return cmp.Or(m.Panel, m.Name) }

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
	case d.Cron != "":
		if err := d.checkTimes(least); err != nil {
			return err
		}
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

// CheckFields returns an error that wraps [ErrInvalid] if d names a field that the data of the operation does not have,
// or an alert of one that is not a number.
func (d *Definition) CheckFields(data reflect.Type) error {
	columns := schema.Columns(data)
	for _, name := range d.Fields {
		if !slices.ContainsFunc(columns, func(c string) bool { return c == name || strings.HasPrefix(c, name+".") }) {
			return fmt.Errorf("%w: fields must be fields of %s, and has none called %s%s", ErrInvalid, d.Operation,
				problem.Quote(name), problem.DidYouMean(name, columns))
		}
	}
	for _, text := range d.Alerts {
		a, err := parseAlert(text)
		if err == nil {
			err = CheckNumber("alerts", a.field, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// NumbersOf returns the numbers of data that a monitor records, such as followers, in the order of the API description.
func NumbersOf(data reflect.Type) (names []string) {
	for _, name := range schema.Columns(data) {
		if last := name[strings.LastIndexByte(name, '.')+1:]; isFigure(last) && !slices.Contains(silent, last) {
			names = append(names, name)
		}
	}
	return names
}

// CheckNumber returns an error that wraps [ErrInvalid] unless field is a number of data. param is what names the field.
func CheckNumber(param, field string, data reflect.Type) error {
	figures := NumbersOf(data)
	if slices.Contains(figures, field) {
		return nil
	}
	return fmt.Errorf("%w: %s must name a number such as %s, and there is none called %s%s", ErrInvalid, param,
		strings.Join(figures[:min(len(figures), 5)], ", "), problem.Quote(field), problem.DidYouMean(field, figures))
}

// Same reports whether both definitions are equal in everything that the account defines.
func (d Definition) Same(o Definition) bool {
	return d.Equal(o.Ask) && d.Every == o.Every && d.Cron == o.Cron && d.Each == o.Each && d.Pages == o.Pages && d.Follow == o.Follow &&
		slices.Equal(d.Fields, o.Fields) && slices.Equal(d.Alerts, o.Alerts)
}

// place returns when in each interval a monitor polls, which a hash distributes evenly.
func (m *Monitor) place() time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.Account + "\x00" + m.shownName())) // members of a panel poll at the same time
	return time.Duration(h.Sum64() % uint64(m.Every))
}

// after returns the monitor's next time after now.
func (m *Monitor) after(now time.Time) time.Time {
	if m.Cron != "" {
		if times, err := ParseTimes(m.Cron); err == nil {
			return times.Next(now)
		}
	}
	since := time.Duration(now.UnixNano() - int64(m.place()))
	periods := since / m.Every
	if since < 0 {
		periods--
	}
	return time.Unix(0, int64(m.place())+int64(periods+1)*int64(m.Every)).UTC()
}
