package privacy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// Retention is how long personal data may be stored after its cache lifetime: in expired entries, in the snapshots of
// monitors and in their changes. The zero value means [DefaultRetention].
type Retention struct {
	// Content is for how long content of a platform is stored after it was read. [AnyPlatform] is for all platforms
	// that are not named, except that those in [Terms] keep their own limit if it is shorter. The minimum is a day,
	// because idempotent answers and jobs are stored that long.
	Content map[platform.ID]time.Duration
	// Numbers is for how long the numbers of the history are stored; 0 means [DefaultNumbers].
	Numbers time.Duration
}

// AnyPlatform means every platform that a [Retention] does not name.
const AnyPlatform platform.ID = "*"

const (
	// LeastRetention is the minimum for a [Retention].
	LeastRetention = 24 * time.Hour
	// DefaultContent is for how long content is stored of a platform without a known limit.
	DefaultContent = 30 * 24 * time.Hour
	// DefaultNumbers is for how long the numbers of the history are stored.
	DefaultNumbers = 400 * 24 * time.Hour
)

// Term is a platform's limit for storing its content.
type Term struct {
	Platform platform.ID
	Keep     time.Duration // maximum duration
	Page     string        // the page with the limit
}

// Terms returns the known limits of platforms, in the order of their identifiers.
func Terms() []Term {
	const day = 24 * time.Hour
	return []Term{
		{platform.Amazon, day, "https://affiliate-program.amazon.com/help/operating/policies"},
		{platform.Google, day, "https://developers.google.com/custom-search/terms"}, // no longer than a cache needs
		{platform.LinkedIn, day, "https://learn.microsoft.com/en-us/linkedin/marketing/data-storage-requirements"},
		{platform.Reddit, 2 * day, "https://support.reddithelp.com/hc/en-us/articles/16160319875092-Reddit-Data-API-Wiki"},
		{platform.Spotify, day, "https://developer.spotify.com/terms"}, // no longer than a cache needs
		{platform.TikTok, 15 * day, "https://www.tiktok.com/legal/page/global/terms-of-service-research-api/en"},
		{platform.Twitch, day, "https://www.twitch.tv/p/legal/developer-agreement/"},
		{platform.X, day, "https://docs.x.com/developer-terms/policy"}, // 24 hours after a request, what is deleted there
		{platform.YouTube, 30 * day, "https://developers.google.com/youtube/terms/developer-policies"},
	}
}

// DefaultRetention returns the default limits: those of [Terms], and 30 days for the rest.
func DefaultRetention() Retention {
	r := Retention{Content: map[platform.ID]time.Duration{AnyPlatform: DefaultContent}, Numbers: DefaultNumbers}
	for _, t := range Terms() {
		r.Content[t.Platform] = t.Keep
	}
	return r
}

// Filled returns r with defaults for the limits that are not set.
func (r Retention) Filled() Retention {
	out := DefaultRetention()
	out.Numbers = cmp.Or(r.Numbers, out.Numbers)
	if rest, ok := r.Content[AnyPlatform]; ok {
		for id, keep := range out.Content {
			out.Content[id] = min(keep, rest)
		}
	}
	maps.Copy(out.Content, r.Content)
	return out
}

// Of returns for how long content of a platform is stored. r must be filled.
func (r Retention) Of(id platform.ID) time.Duration {
	if keep, ok := r.Content[id]; ok {
		return keep
	}
	return r.Content[AnyPlatform]
}

// Check returns an error if r is invalid, or names a platform that is not in known.
func (r Retention) Check(known *platform.Table) error {
	for _, id := range slices.Sorted(maps.Keys(r.Content)) {
		if id != AnyPlatform && !known.Has(id) {
			return fmt.Errorf("there is no platform %q", id)
		}
		if keep := r.Content[id]; keep < LeastRetention {
			return fmt.Errorf("content of %s cannot be kept for %v only: at least for %v", id, keep, LeastRetention)
		}
	}
	if r.Numbers != 0 && r.Numbers < LeastRetention {
		return fmt.Errorf("numbers cannot be kept for %v only: at least for %v", r.Numbers, LeastRetention)
	}
	return nil
}

// ParseContent parses limits such as "*:30d,reddit:2d". "" means none.
func ParseContent(text string) (map[platform.ID]time.Duration, error) {
	out := map[platform.ID]time.Duration{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, limit, ok := strings.Cut(part, ":")
		keep, err := ParseDays(limit)
		id := platform.ID(strings.TrimSpace(name))
		if !ok || err != nil || id == "" {
			return nil, fmt.Errorf("%q must be a platform and how long, as reddit:2d", part)
		}
		if _, twice := out[id]; twice {
			return nil, fmt.Errorf("%q is given twice", id)
		}
		out[id] = keep
	}
	return out, nil
}

// ParseDays parses a duration in days, such as 30d, or as in [time.ParseDuration].
func ParseDays(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	number, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	const most = 100 * 366
	days, err := strconv.ParseUint(number, 10, 32)
	if err != nil || days > most {
		return 0, fmt.Errorf("%q is not a number of days from 0 to %d", text, most)
	}
	return time.Duration(days) * 24 * time.Hour, nil
}

// Days formats a duration for [ParseDays].
func Days(d time.Duration) string {
	if d > 0 && d%(24*time.Hour) == 0 {
		return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
	}
	return d.String()
}

// String formats the limits for [ParseContent], with that of [AnyPlatform] first.
func (r Retention) String() string {
	parts := make([]string, 0, len(r.Content))
	for _, id := range slices.Sorted(maps.Keys(r.Content)) { // "*" sorts before all letters
		parts = append(parts, string(id)+":"+Days(r.Content[id]))
	}
	return strings.Join(parts, ",")
}

// Stored is how much a store has of one kind.
type Stored struct {
	Kind     string      // such as "changes"
	Platform platform.ID // "" if it belongs to no single platform
	Number   int64
	Bytes    int64     // approximate
	Since    time.Time // when the oldest of it was read
}

// SumStored adds up what several stores have, by kind and platform, sorted by both.
func SumStored(lists ...[]Stored) []Stored {
	type of struct {
		kind string
		on   platform.ID
	}
	sum := map[of]Stored{}
	for _, k := range slices.Concat(lists...) {
		at := of{k.Kind, k.Platform}
		if s, ok := sum[at]; ok {
			k.Number, k.Bytes = k.Number+s.Number, k.Bytes+s.Bytes
			if s.Since.Before(k.Since) {
				k.Since = s.Since
			}
		}
		sum[at] = k
	}
	return slices.SortedFunc(maps.Values(sum), func(a, b Stored) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Platform, b.Platform))
	})
}
