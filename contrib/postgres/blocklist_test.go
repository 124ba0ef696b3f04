package postgres

import (
	"testing"
	"time"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/privacy/privacytest"
)

func TestBlocklist(t *testing.T) {
	t.Parallel()
	newSchema(t)
	privacytest.Run(t, func(t *testing.T, now func() time.Time) privacy.Blocklist {
		t.Helper()
		cfg := newSchema(t)
		cfg.Now = now
		return openDB(t, cfg).Blocklist()
	})
}
