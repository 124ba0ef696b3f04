package dashboard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/schema"
)

func TestPlotOf(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	at := func(days int, value float64) schema.HistoryPoint {
		return schema.HistoryPoint{At: day.AddDate(0, 0, days), Value: value}
	}
	for _, tt := range []struct {
		name               string
		points             []schema.HistoryPoint
		line, last, change string
	}{
		{"it rises", []schema.HistoryPoint{at(0, 1000), at(1, 1500), at(2, 2000)}, "0,202 360,112 720,22", "2,000", "+1,000"},
		{"it falls", []schema.HistoryPoint{at(0, 4.5), at(4, 4)}, "0,22 720,202", "4", "-0.5"},
		{"it stays", []schema.HistoryPoint{at(0, 7), at(1, 7)}, "0,112 720,112", "7", ""},
	} {
		got := plotOf("followers", tt.points)
		if diff := cmp.Diff([]string{tt.line, tt.last, tt.change}, []string{got.Line, got.Last, got.Change}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
