package upstream_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
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
			t.Errorf("%q: got %v, %t; want %v to %v, %t", tt.header, wait, told, tt.low, tt.top, tt.told)
		}
	}
}

func TestMalformedBlamesTheCallerOnlyForItsOwnWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		res  upstream.Response
		want bool
	}{
		{upstream.Response{Input: true, Body: []byte(`{"message":"too long"}`)}, true},
		{upstream.Response{Body: []byte(`{"message":"too long"}`)}, false},
		{upstream.Response{Input: true, Body: []byte(`{"message":""}`)}, false},
		{upstream.Response{Input: true, Body: []byte(`<html>`)}, false},
	}
	for _, tt := range tests {
		err := tt.res.Malformed("Example")
		if invalid := errors.Is(err, providers.ErrInvalid); invalid != tt.want || (err == nil) == tt.want {
			t.Errorf("%+v: got error %v, want one of the caller's: %v", tt.res, err, tt.want)
		}
		if tt.want && !strings.Contains(err.Error(), "too long") {
			t.Errorf("got error %v, want the upstream's reason", err)
		}
	}
}
