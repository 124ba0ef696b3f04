package search_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// adding is a store of records that is slow to answer that a job was added.
type adding struct {
	records.Store
	long time.Duration
}

func (a *adding) Add(ctx context.Context, r records.Record, ttl time.Duration) (records.Record, bool, error) {
	stored, added, err := a.Store.Add(ctx, r, ttl)
	if jobs(r.Key) != nil {
		time.Sleep(a.long)
	}
	return stored, added, err
}

// TestTheFirstAnswerAgreesWithItsRecord lets a platform fail while the record of the first answer is being written.
func TestTheFirstAnswerAgreesWithItsRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, enginetest.Config{})
		fails := slow(enginetest.Searcher(platform.X, func(context.Context, providers.SearchQuery, string) (found, error) {
			return found{}, providers.Unavailable(nil, "down")
		}), 2*time.Second)
		c := over(t, e, nil, &adding{e.Records, 1500 * time.Millisecond}, twoPlatforms()[0], fails)
		first := searchAll(t, c, socialdata.SearchAcrossRequest{Wait: time.Second})
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Pending}, first.Meta.Platforms)
		last := job(t, c, first.Meta.JobID, 5)
		wantStates(t, states{platform.TikTok: schema.OK, platform.X: schema.Failed}, last.Meta.Platforms)
	})
}
