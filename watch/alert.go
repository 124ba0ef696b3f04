package watch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// alert is a condition on a number: how far it must have moved since it was last reported, or a bound that it must
// cross.
type alert struct {
	field string
	// holds reports whether the number is beyond the bound; nil for an alert with a step.
	holds func(value float64) bool
	step  float64
	part  bool // the step is a part of the value last reported
	up    bool
	down  bool
}

// parseAlert reads "followers:5%", "price.amount:-10%", "likes:+100" or "viewers:>=10000".
func parseAlert(text string) (alert, error) {
	field, spec, ok := strings.Cut(text, ":")
	if !ok || field == "" {
		return alert{}, alertError(text)
	}
	a := alert{field: field, up: true, down: true}
	for _, op := range []string{">=", "<=", ">", "<"} {
		rest, ok := strings.CutPrefix(spec, op)
		if !ok {
			continue
		}
		limit, err := number(rest)
		if err != nil {
			return alert{}, alertError(text)
		}
		a.holds = comparison(op, limit)
		return a, nil
	}
	switch {
	case strings.HasPrefix(spec, "+"):
		a.down, spec = false, spec[1:]
	case strings.HasPrefix(spec, "-"):
		a.up, spec = false, spec[1:]
	}
	spec, a.part = strings.CutSuffix(spec, "%")
	step, err := number(spec)
	if err != nil || step <= 0 {
		return alert{}, alertError(text)
	}
	if a.step = step; a.part {
		a.step /= 100
	}
	return a, nil
}

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && (math.IsInf(v, 0) || math.IsNaN(v)) {
		return 0, strconv.ErrRange
	}
	return v, err
}

func alertError(text string) error {
	return fmt.Errorf("%w: alert %q is invalid: write a field, a colon and a step or a bound, such as followers:5%%, "+
		"price.amount:-10%% or viewers:>=10000", ErrInvalid, text)
}

func comparison(op string, limit float64) func(float64) bool {
	switch op {
	case ">=":
		return func(v float64) bool { return v >= limit }
	case "<=":
		return func(v float64) bool { return v <= limit }
	case ">":
		return func(v float64) bool { return v > limit }
	}
	return func(v float64) bool { return v < limit }
}

// raised reports whether the number raises the alert. last is the number that was last reported, or that of the first
// poll. For a bound it is the number of the previous poll.
func (a alert) raised(last, value float64) bool {
	if a.holds != nil {
		return a.holds(value) && !a.holds(last)
	}
	moved := value - last
	if moved > 0 && !a.up || moved < 0 && !a.down {
		return false
	}
	if a.part {
		return moved != 0 && math.Abs(moved) >= a.step*math.Abs(last)
	}
	return math.Abs(moved) >= a.step
}
