package cli

import (
	"fmt"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/watch"
)

// retentionFlags configure the retention of personal data.
type retentionFlags struct {
	Keep        string `help:"How long content is kept after its time in the cache, by platform, such as *:30d,reddit:2d. Platforms that require less have their own limit unless they are named." env:"SOCIALDATA_KEEP" placeholder:"LIMITS" group:"where"`
	KeepNumbers string `help:"How long the numbers of the history are kept." default:"400d" env:"SOCIALDATA_KEEP_NUMBERS" placeholder:"TIME" group:"where"`

	Redact []string `help:"Remove these from texts and raw before they are stored or returned: emails, phones." enum:"emails,phones" env:"SOCIALDATA_REDACT" placeholder:"KINDS" group:"where"`
}

// retention returns the limits of the flags.
func (f retentionFlags) retention() (r privacy.Retention, err error) {
	if r.Content, err = privacy.ParseContent(f.Keep); err != nil {
		return r, fmt.Errorf("--keep: %w", err)
	}
	if f.KeepNumbers == "" {
		return r, nil
	}
	if r.Numbers, err = privacy.ParseDays(f.KeepNumbers); err != nil {
		return r, fmt.Errorf("--keep-numbers: %w", err)
	}
	return r, nil
}

// options returns the options of a client for the flags.
func (f retentionFlags) options() ([]socialdata.Option, error) {
	r, err := f.retention()
	if err != nil {
		return nil, err
	}
	return []socialdata.Option{socialdata.WithKeep(r), socialdata.WithRedaction(f.redactions()...)}, nil
}

// redactions returns what is blanked in answers.
func (f retentionFlags) redactions() []privacy.Redaction {
	kinds := make([]privacy.Redaction, len(f.Redact))
	for i, kind := range f.Redact {
		kinds[i] = privacy.Redaction(kind)
	}
	return kinds
}

// sweepSlack is how much older than its limit data may be before doctor warns, because servers sweep every 10 minutes.
const sweepSlack = time.Hour

// retention reports the oldest data of each kind, how much there is, and what should have been removed.
func (c *doctorCmd) retention(
	e *env, say func(ok bool, what, words string) error, warn func(what, words string) error,
) error {
	retention, err := e.cli.Retention.retention()
	if err != nil {
		return nil //nolint:nilerr // an earlier check has reported it
	}
	retention = retention.Filled()
	var all []privacy.Stored
	if err := e.with(func(db *store) (err error) {
		all, err = db.Watches().Stored(e.ctx)
		return err
	}); err != nil {
		return nil //nolint:nilerr // an earlier check has reported it
	}
	if len(all) == 0 {
		return say(true, "kept", "nothing of monitors is stored; the limits are "+retention.String())
	}
	for _, kind := range []string{watch.KeptSnapshots, watch.KeptChanges, watch.KeptSamples} {
		words, late := oldestContent(all, kind, retention, e.now())
		if words == "" {
			continue
		}
		if late {
			err = warn("kept", words+"; that is longer than allowed: check that a server runs")
		} else {
			err = say(true, "kept", words)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// oldestContent returns, in words, how much there is of a kind and the age of the oldest; "" when there is none. late
// reports whether that is older than its limit.
func oldestContent(all []privacy.Stored, kind string, r privacy.Retention, now time.Time) (words string, late bool) {
	var number, bytes int64
	var oldest *privacy.Stored
	for i := range all {
		k := &all[i]
		if k.Kind != kind {
			continue
		}
		number, bytes = number+k.Number, bytes+k.Bytes
		if oldest == nil || k.Since.Before(oldest.Since) {
			oldest = k
		}
		late = late || now.Sub(k.Since) > limitOf(k, r)+sweepSlack
	}
	if oldest == nil {
		return "", false
	}
	on := ""
	if oldest.Platform != "" {
		on = " of " + string(oldest.Platform)
	}
	return fmt.Sprintf("%s: %d, %d KiB; the oldest%s since %s, of at most %s", kind, number, (bytes+1023)/1024, on,
		oldest.Since.UTC().Format(time.DateOnly), privacy.Days(limitOf(oldest, r))), late
}

// limitOf returns for how long k may be stored.
func limitOf(k *privacy.Stored, r privacy.Retention) time.Duration {
	if k.Kind == watch.KeptSamples {
		return r.Numbers
	}
	return r.Of(k.Platform)
}
