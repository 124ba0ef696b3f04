package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
)

// TestTheTimeThatACallerAsksToWaitDoesNotCount waits for changes for longer than a call may take: the balance is read
// after that.
func TestTheTimeThatACallerAsksToWaitDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		began := time.Now()
		got, err := e.Client.Account().Changes(t.Context(), accounts.ChangesRequest{Wait: 25 * time.Second})
		if err != nil || got.Meta.CreditsRemaining != 1000 || time.Since(began) != 25*time.Second {
			t.Errorf("after %v: %+v, %v; want an answer after 25s, 1000 credits left", time.Since(began), got, err)
		}
	})
}

// TestAStreamMayLastLongerThanACall follows changes while the key is looked up again and again.
func TestAStreamMayLastLongerThanACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		beats := 0
		err := socialdata.FrontEnd(e.Client).Stream(t.Context(), socialdata.Operation("changes"), operation.Call{}, func(operation.Event) bool {
			beats++
			return beats < 5
		})
		if err != nil || beats != 5 {
			t.Errorf("%d events came, and the stream ended with %v; want 5", beats, err)
		}
	})
}
