package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/providers"
	settings "github.com/socialdata/socialdata/providers/env"
)

type quotasCmd struct {
	outputFlags `embed:""`
}

// unknownLimit is printed for a limit that the upstream has not reported.
const unknownLimit = "unknown"

// Run prints the limits of the upstreams, how much of each is left, and when it resets.
func (c *quotasCmd) Run(e *env) error {
	if err := e.local("quotas"); err != nil {
		return err
	}
	quotas, err := e.quotas()
	if err != nil {
		return err
	}
	shapes := make([]quotaShape, len(quotas))
	for i, q := range quotas {
		shapes[i] = shapeOfQuota(q)
	}
	return c.show(e, shapes, func() error {
		err := e.table([]string{"PLATFORM", "PROVIDER", "LIMIT", "LEFT", "OF", "STARTS ANEW"}, func(row func(...string)) {
			for _, q := range quotas {
				left, of, anew := "-", unknownLimit, "-"
				if q.Limit > 0 {
					left, of = strconv.FormatInt(q.Left, 10), strconv.FormatInt(q.Limit, 10)
				}
				if !q.Resets.IsZero() {
					anew = q.Resets.UTC().Format(time.RFC3339)
				}
				row(string(q.Platform), q.Provider, orDash(q.Name), left, of, anew)
			}
		})
		if err == nil && (len(quotas) == 0 || !quotas[0].Shared) {
			err = e.printf("\nThere is no database %s: the use by other programs is unknown.\n", e.cli.DB)
		}
		return err
	})
}

// quotas returns the limits of the upstreams, with their stored state if there is a database.
func (e *env) quotas() (quotas []observe.Quota, err error) {
	read := func(opts ...socialdata.Option) error {
		client, err := e.client(opts...)
		if err == nil {
			quotas, err = client.Operator().Quotas(), client.Close(e.ctx)
		}
		return err
	}
	if _, err := os.Stat(e.cli.DB); os.IsNotExist(err) && e.cli.Postgres == "" {
		return quotas, read()
	}
	err = e.with(func(db *store) error { return read(socialdata.WithRecords(db.Records())) })
	return quotas, err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// shareVariable returns the setting for how much of a provider's limits each class of reads can use.
func shareVariable(provider string) string {
	return settings.Prefix + strings.ToUpper(provider) + "_SHARE"
}

// shares reads the shares of the providers' limits from the environment.
func (e *env) shares(chains []providers.Chain) (map[string]providers.Shares, error) {
	out := map[string]providers.Shares{}
	for _, chain := range chains {
		for _, p := range chain {
			name := shareVariable(p.Name)
			text := e.getenv(name)
			if text == "" {
				continue
			}
			s, err := parseShares(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[p.Name] = s
		}
	}
	return out, nil
}

// parseShares reads dear:80,background:50. Classes that are not named keep their defaults.
func parseShares(text string) (providers.Shares, error) {
	s := providers.DefaultShares()
	to := map[string]*int{"dear": &s.Dear, "background": &s.Background}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		n, err := strconv.Atoi(value)
		if to[name] == nil || err != nil || n < 0 || n > 100 {
			return s, fmt.Errorf("%q must be one of %s and a percentage from 0 to 100 after a colon, such as "+
				"dear:80,background:50",
				part, strings.Join(slices.Sorted(maps.Keys(to)), " and "))
		}
		*to[name] = n
	}
	return s, nil
}
