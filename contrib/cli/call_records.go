package cli

import (
	"fmt"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

// callRecordFlags configure how long a server stores what it writes for each call.
type callRecordFlags struct {
	LogCalls    int           `help:"How many calls the request log keeps, the newest ones; with 0 there is no log, and usage contains only paid calls." default:"100000" env:"SOCIALDATA_LOG_CALLS" group:"watching"`
	LogLife     time.Duration `help:"How long the request log keeps a call." default:"168h" env:"SOCIALDATA_LOG_LIFE" group:"watching"`
	KeepAnswers time.Duration `help:"How long an answer is kept under its Idempotency-Key, up to 24h. A call that is repeated later is made again, but not charged again within 24 hours." default:"24h" env:"SOCIALDATA_KEEP_ANSWERS" group:"limits"`
	KeepJobs    time.Duration `help:"How long the job of a search is kept after its end, up to 24h; one made under an Idempotency-Key is kept as long as its answer." default:"15m" env:"SOCIALDATA_KEEP_JOBS" group:"limits"`
}

func (f *callRecordFlags) check() error {
	if f.LogCalls < 0 || f.LogLife <= 0 {
		return misusef("--log-calls must not be negative, and --log-life must be positive")
	}
	for flag, d := range map[string]time.Duration{"--keep-answers": f.KeepAnswers, "--keep-jobs": f.KeepJobs} {
		if d < time.Minute || d > credits.IdempotentFor {
			return fmt.Errorf("%s must be between 1m and 24h", flag)
		}
	}
	return nil
}

// bounds returns the limits of the request log.
func (f *callRecordFlags) bounds() requests.Bounds {
	b := requests.Bounds{Most: f.LogCalls, Life: f.LogLife}
	if b.Most == 0 {
		b.Most = -1
	}
	return b
}

// limit returns how long a kind is stored, and which setting changes it.
func (f *callRecordFlags) limit(kind string) string {
	switch kind {
	case bookkeeping.SizeBooks:
		return "kept for ever"
	case bookkeeping.SizeUsage:
		return fmt.Sprintf("kept for %s", counted(f.bounds().Filled().Days, "day"))
	case bookkeeping.SizeRequests:
		return fmt.Sprintf("the newest %d of %s are kept (SOCIALDATA_LOG_CALLS, SOCIALDATA_LOG_LIFE)", f.LogCalls,
			span(f.LogLife))
	case "idempotent answers":
		return "kept for " + span(f.KeepAnswers) + " (SOCIALDATA_KEEP_ANSWERS)"
	case "jobs":
		return "kept for " + span(f.KeepJobs) + " after their end (SOCIALDATA_KEEP_JOBS)"
	}
	return ""
}

// disk reports the disk space of each kind of data, and how long it is stored.
func (c *doctorCmd) disk(e *env, kept callRecordFlags, say func(ok bool, what, words string) error) error {
	var sizes []bookkeeping.Size
	if err := e.with(func(db *store) (err error) {
		sizes, err = db.Sizes(e.ctx)
		return err
	}); err != nil {
		return nil //nolint:nilerr // an earlier check has reported it, or there is no database
	}
	for _, s := range sizes {
		words := fmt.Sprintf("%s: %d, %s", s.Kind, s.Rows, megabytes(s.Bytes))
		if limit := kept.limit(s.Kind); limit != "" {
			words += "; " + limit
		}
		if err := say(true, "disk", words); err != nil {
			return err
		}
	}
	return nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// span formats a duration in its largest units, such as 24h or 15m.
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
