package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Times are the times of a cron line.
type Times struct{ schedule cron.Schedule }

// ParseTimes parses a cron line: minute, hour, day of the month, month and day of the week, or a word such as @daily,
// and after them the name of a time zone, such as Europe/Berlin; without one the times are in UTC. The error says what
// is wrong, and wraps [ErrInvalid].
func ParseTimes(line string) (Times, error) {
	fields := strings.Fields(line)
	words := 5
	if strings.HasPrefix(line, "@") {
		words = 1
	}
	zone := "UTC"
	if len(fields) == words+1 {
		zone, fields = fields[words], fields[:words]
	}
	if len(fields) != words || fields[0] == "@every" {
		return Times{}, fmt.Errorf("%w: every must be a duration such as 15m, or a cron line of five fields with an "+
			"optional time zone, such as 0 9 * * 1-5 Europe/Berlin", ErrInvalid)
	}
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		return Times{}, fmt.Errorf("%w: every must end with the name of a time zone, such as Europe/Berlin: there is none "+
			"called %q", ErrInvalid, zone)
	}
	schedule, err := cron.ParseStandard("CRON_TZ=" + zone + " " + strings.Join(fields, " "))
	if err != nil {
		return Times{}, fmt.Errorf("%w: every must be a cron line such as 0 9 * * 1-5: %w", ErrInvalid, err)
	}
	return Times{schedule}, nil
}

// Next returns the first time after at; zero if there is none within five years. When clocks are put forward, times in
// the hour that is skipped are skipped; when they are put back, times in the hour that is repeated come twice.
func (t Times) Next(at time.Time) time.Time { return t.schedule.Next(at).UTC() }

// ahead is how far into the future the times of a cron line are checked.
const ahead = 366 * 24 * time.Hour

// checkTimes sets Every to the least time between two times of Cron, and returns an error if it is too short.
func (d *Definition) checkTimes(least time.Duration) error {
	times, err := ParseTimes(d.Cron)
	if err != nil {
		return err
	}
	d.Every = 0
	begin := time.Now()
	for at := times.Next(begin); !at.IsZero() && at.Sub(begin) <= ahead; {
		next := times.Next(at)
		if next.IsZero() {
			break
		}
		if every := next.Sub(at); d.Every == 0 || every < d.Every {
			d.Every = every
		}
		if d.Every < least {
			return fmt.Errorf("%w: every fires at %s and again after %v; the least interval of this operation is %v",
				ErrInvalid, at.Format(time.RFC3339), d.Every, least)
		}
		if d.Every <= time.Minute { // none is shorter
			break
		}
		at = next
	}
	if d.Every == 0 {
		return fmt.Errorf("%w: every has no time within the next 366 days", ErrInvalid)
	}
	return nil
}

// Count returns how many times are within d after at.
func (t Times) Count(at time.Time, d time.Duration) (n int64) {
	for next := t.Next(at); !next.IsZero() && next.Sub(at) <= d; next = t.Next(next) {
		n++
	}
	return n
}
