package dashboard

import (
	"math"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/schema"
)

// plot is a line of a number over time. The page draws it as SVG, with its figures in a table below.
type plot struct {
	Field  string
	Line   string // the points of the line, as SVG has them
	Dots   []label
	Labels []label
	Points []schema.HistoryPoint // oldest first
	Last   string                // the latest value
	Change string                // since the first, with its sign; "" if it has not moved
}

// mostDots is the number of points up to which each is marked.
const mostDots = 60

// plotOf draws the points of a number, of which there are at least two.
func plotOf(field string, points []schema.HistoryPoint) plot {
	first, last := points[0], points[len(points)-1]
	low, high := first.Value, first.Value
	for _, p := range points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	p := plot{Field: field, Points: points, Last: figure(last.Value)}
	if moved := last.Value - first.Value; moved > 0 {
		p.Change = "+" + figure(moved)
	} else if moved < 0 {
		p.Change = figure(moved)
	}
	span := last.At.Sub(first.At)
	var line strings.Builder
	for _, one := range points {
		x, y := int(float64(chartWidth)*float64(one.At.Sub(first.At))/float64(span)), headroom+drawing/2
		if high > low {
			y = headroom + int(drawing*(high-one.Value)/(high-low))
		}
		line.WriteString(strconv.Itoa(x) + "," + strconv.Itoa(y) + " ")
		if len(points) <= mostDots {
			p.Dots = append(p.Dots, label{x, y, minute(one.At) + ": " + figure(one.Value)})
		}
	}
	p.Line = strings.TrimSpace(line.String())
	p.Labels = []label{{0, headroom - 8, figure(high)}, {0, headroom + drawing + 18, minute(first.At)}}
	if high > low {
		p.Labels = append(p.Labels, label{0, headroom + drawing - 6, figure(low)})
	}
	p.Labels = append(p.Labels, label{chartWidth, headroom + drawing + 18, minute(last.At)})
	return p
}

// figure writes a number, with separators between thousands if it is whole.
func figure(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return number(int64(v))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
