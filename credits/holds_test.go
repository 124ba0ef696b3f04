package credits_test

import (
	"errors"
	"testing"
	"time"

	"github.com/socialdata/socialdata/credits"
)

// TestAHoldIsRevivedOnce lets two callers settle one hold late. The second has looked for the entry before the first
// has written it, and must not reopen the hold.
func TestAHoldIsRevivedOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	holds := credits.NewHolds(now)
	late := credits.Hold{ID: "hold", Spender: credits.Spender{Account: "acct"}, Amount: 2, Expires: now.Add(-time.Hour)}
	holds.Revive(late, 2, now.Add(credits.LateFor))
	if _, begun, err := holds.Begin(late.ID, 2, now); err != nil || !begun {
		t.Fatalf("Begin = %t, %v", begun, err)
	}
	holds.End(late.ID, 2, true)
	holds.Revive(late, 2, now.Add(credits.LateFor))
	if _, begun, err := holds.Begin(late.ID, 2, now); err != nil || begun || holds.Charged(late.ID) != 2 {
		t.Errorf("Begin of the second = %t, %v, %d charged; want false, nil, 2", begun, err, holds.Charged(late.ID))
	}
	now = now.Add(credits.LateFor)
	if _, _, err := holds.Begin(late.ID, 2, now); !errors.Is(err, credits.ErrExpired) || holds.Len() != 0 {
		t.Errorf("Begin after its time = %v, %d remembered; want ErrExpired, 0", err, holds.Len())
	}
}
