package upstream_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers/internal/upstream"
)

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		header   string
		low, top time.Duration
		told     bool
	}{
		{"", 0, 0, false},
		{"soon", 0, 0, false},
		{"60", time.Minute, time.Minute, true},
		{time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 59 * time.Minute, time.Hour, true},
		{"Mon, 02 Jan 2006 15:04:05 GMT", 0, 0, true},
	} {
		wait, told := (&upstream.Response{Header: http.Header{"Retry-After": {tt.header}}}).RetryAfter()
		if told != tt.told || wait < tt.low || wait > tt.top {
			t.Errorf("%q: %v, %v", tt.header, wait, told)
		}
	}
}
