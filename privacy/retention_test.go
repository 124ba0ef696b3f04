package privacy_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
)

const day = 24 * time.Hour

func TestLimitsAreRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want map[platform.ID]time.Duration // nil when it is invalid
	}{
		{"", map[platform.ID]time.Duration{}},
		{"*:30d,youtube:30d,reddit:2d", map[platform.ID]time.Duration{"*": 30 * day, "youtube": 30 * day, "reddit": 2 * day}},
		{" reddit : 36h , ", map[platform.ID]time.Duration{"reddit": 36 * time.Hour}},
		{"reddit", nil},
		{"reddit:", nil},
		{":2d", nil},
		{"reddit:2", nil},
		{"reddit:-2d", nil},
		{"reddit:99999999d", nil},
		{"reddit:2d,reddit:3d", nil},
	}
	for _, tt := range tests {
		got, err := privacy.ParseContent(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.want != nil) {
			t.Errorf("ParseContent(%q): %v (-want +got):\n%s", tt.text, err, diff)
		}
	}
}

func TestAPlatformThatAsksForLessKeepsItsLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                    string
		set                     map[platform.ID]time.Duration
		reddit, youtube, github time.Duration
	}{
		{"nothing is set", nil, 2 * day, 30 * day, 30 * day},
		{"the rest for longer", map[platform.ID]time.Duration{"*": 90 * day}, 2 * day, 30 * day, 90 * day},
		{"the rest for less", map[platform.ID]time.Duration{"*": 7 * day}, 2 * day, 7 * day, 7 * day},
		{"one that is named", map[platform.ID]time.Duration{"reddit": 9 * day}, 9 * day, 30 * day, 30 * day},
	}
	for _, tt := range tests {
		r := privacy.Retention{Content: tt.set}.Filled()
		got := []time.Duration{r.Of(platform.Reddit), r.Of(platform.YouTube), r.Of(platform.GitHub)}
		if diff := cmp.Diff([]time.Duration{tt.reddit, tt.youtube, tt.github}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if r.Numbers != 400*day {
			t.Errorf("%s: numbers are kept for %v", tt.name, r.Numbers)
		}
		again, err := privacy.ParseContent(r.String())
		if diff := cmp.Diff(r.Content, again); diff != "" || err != nil {
			t.Errorf("%s: %q is read as %v, %v", tt.name, r, again, err)
		}
	}
}

func TestEveryLimitOfAPlatformNamesThePageThatAsksForIt(t *testing.T) {
	t.Parallel()
	last := platform.ID("")
	for _, term := range privacy.Terms() {
		u, err := url.Parse(term.Page)
		if err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("the page of %s is %q", term.Platform, term.Page)
		}
		if term.Keep < privacy.LeastRetention || term.Keep > privacy.DefaultContent || term.Platform <= last {
			t.Errorf("%s is kept for %v, behind %s", term.Platform, term.Keep, last)
		}
		last = term.Platform
	}
	if err := privacy.DefaultRetention().Check(platform.Specified()); err != nil {
		t.Error(err)
	}
}
