package server

import (
	"net/http"
	"testing"
)

func TestWantsEvents(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"":                                    false,
		"*/*":                                 false,
		"text/*":                              false,
		"application/json":                    false,
		"text/event-stream":                   true,
		"Text/Event-Stream":                   true,
		"text/event-stream; charset=utf-8":    true,
		"text/event-stream, */*;q=0.1":        true,
		"application/json, text/event-stream": true,
		"text/event-stream;q=0":               false,
		"text/event-stream;Q=0.000":           false,
		"application/json, text/event-stream;q=0":   false,
		"application/json, text/event-stream;q=0.1": false,
		"application/json;q=0.5, text/event-stream": true,
		"text/event-stream;q=x":                     false,
		"text/event-stream;q=2":                     false,
		"text/event-stream;q=NaN":                   false,
		"text/event-streams":                        false,
		"x-text/event-stream":                       false,
		"a;b=text/event-stream":                     false,
	} {
		r := &http.Request{Header: http.Header{"Accept": {accept}}}
		if got := wantsEvents(r); got != want {
			t.Errorf("Accept %q: %t, want %t", accept, got, want)
		}
	}
	two := &http.Request{Header: http.Header{"Accept": {"application/json;q=0.9", "text/event-stream"}}}
	if !wantsEvents(two) {
		t.Error("a second Accept field is not read")
	}
}

func TestWantsGzip(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "identity": false, "br": false, "gzip": true, "GZIP": true, "br, gzip;q=0.2": true, "gzip;q=0": false,
		"*": true, "*;q=0": false, "gzip;q=0, *": false, "identity;q=0, *;q=0.1": true, "x-gzip": false, "gzip;q=1;x": true,
	} {
		r := &http.Request{Header: http.Header{"Accept-Encoding": {accept}}}
		if got := wantsGzip(r); got != want {
			t.Errorf("Accept-Encoding %q: %t, want %t", accept, got, want)
		}
	}
}
