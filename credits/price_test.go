package credits_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/credits"
)

func TestPrice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		base          int64
		fresh, enrich bool
		want          credits.Quote
		total         int64
	}{
		{"plain read", 1, false, false, credits.Quote{Base: 1}, 1},
		{"fresh doubles the base", 2, true, false, credits.Quote{Base: 4}, 4},
		{"enriched", 1, false, true, credits.Quote{Base: 1, Enrich: 3}, 4},
		{"fresh doubles the base, not the enrichment", 2, true, true, credits.Quote{Base: 4, Enrich: 3}, 7},
		{"enrichment alone", 0, false, true, credits.Quote{Enrich: 3}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := credits.Price(tt.base, tt.fresh, tt.enrich)
			if diff := cmp.Diff(tt.want, got); diff != "" || got.Total() != tt.total {
				t.Errorf("Price = %d in all; want %d (-want +got):\n%s", got.Total(), tt.total, diff)
			}
		})
	}
}
