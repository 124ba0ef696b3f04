package upstreams

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/socialdata/socialdata/observe"
)

// restOfOpen is for how long a breaker stays open before one call tries the upstream again.
const restOfOpen = 20 * time.Second

// newBreaker returns the circuit breaker of s, which reports its changes to o.
func newBreaker(s *Source, o observe.Observer) *gobreaker.TwoStepCircuitBreaker[struct{}] {
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: s.Provider.Name, Interval: time.Minute, BucketPeriod: 10 * time.Second, Timeout: restOfOpen, MaxRequests: 1,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return s.trips(n.Requests, n.TotalFailures) },
		IsSuccessful: func(err error) bool { return err == nil },
		IsExcluded:   func(err error) bool { return errors.Is(err, errNoVerdict) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			o.Breaker(observe.Breaker{Platform: s.Provider.Platform, Provider: s.Provider.Name, State: stateOf(to)})
		},
	})
}

func stateOf(s gobreaker.State) observe.State {
	switch s {
	case gobreaker.StateOpen:
		return observe.Open
	case gobreaker.StateHalfOpen:
		return observe.HalfOpen
	default:
		return observe.Closed
	}
}
