package privacytest

import (
	"context"

	"github.com/socialdata/socialdata/privacy"
)

// touched is a store whose second receipt was changed.
type touched struct{ privacy.Blocklist }

// Receipts implements [privacy.Blocklist].
func (s touched) Receipts(ctx context.Context, after int64, limit int) ([]privacy.Receipt, error) {
	all, err := s.Blocklist.Receipts(ctx, after, limit)
	for i := range all {
		if all[i].No == 2 {
			all[i].Removed = map[string]int{}
		}
	}
	return all, err
}
