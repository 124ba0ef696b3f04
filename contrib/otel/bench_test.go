package otel

import (
	"testing"
	"time"

	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// BenchmarkHit measures what telemetry adds to a call over HTTP that the cache answers.
func BenchmarkHit(b *testing.B) {
	meter, _, err := Prometheus()
	if err != nil {
		b.Fatal(err)
	}
	t, err := New(Config{Meter: meter})
	if err != nil {
		b.Fatal(err)
	}
	o := t.Observer()
	request := server.Request{
		Method: "GET", Route: "/v1/{platform}/profile", Operation: "profile", Platform: "mock", Status: 200,
		Duration: time.Millisecond,
	}
	b.ReportAllocs()
	for b.Loop() {
		o.Call(observe.Call{Operation: "profile", Platform: "mock", Cache: schema.Hit})
		o.Charge(observe.Charge{Operation: "profile", Platform: "mock", Credits: 1})
		t.end(b.Context(), request)
	}
}
