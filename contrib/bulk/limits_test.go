package bulk

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/bulkjob/bulktest"
	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// TestProcessesTogetherKeepALimit has three processes work a job that is longer than the upstream's limit, whose window
// does not end in the test. The upstream counts the requests.
func TestProcessesTogetherKeepALimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit, share int
	}{
		{limit: 20, share: 50},
		{limit: 60, share: 50},
		{limit: 200, share: 100},
		{limit: 1000, share: 100},
	} {
		t.Run(fmt.Sprintf("%d%% of %d", tt.share, tt.limit), func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
			t.Cleanup(web.Close)
			db := newSchema(t)
			var client *socialdata.Client
			for range 3 {
				client = process(t, openWith(t, db), web.URL, tt.limit, tt.share)
			}
			var file strings.Builder
			for n := range max(300, 2*tt.limit) {
				fmt.Fprintf(&file, `{"platform":"github","operation":"profile","params":{"handle":"p%d"}}`+"\n", n)
			}
			jobs := client.Account().Bulk()
			if _, err := jobs.Start(t.Context(), accounts.BulkRequest{Name: "night", File: strings.NewReader(file.String())}); err != nil {
				t.Fatal(err)
			}
			var j schema.BulkJob
			await.Until(t, "the job to wait with all that was read", func() bool {
				var err error
				if j, err = jobs.Status(t.Context(), "night"); err != nil {
					t.Fatal(err)
				}
				return j.WaitingFor != nil && j.Found == sent.Load()
			})
			if *j.WaitingFor != "github" {
				t.Errorf("the job waits for %s", *j.WaitingFor)
			}
			n, most, least := sent.Load(), int64(tt.limit)*105/100, int64(tt.limit*tt.share/100)*8/10
			if n > most || n < least {
				t.Errorf("%d requests were sent; want %d to %d", n, least, most)
			}
		})
	}
}

// process is a client with its own count of the upstream's limit, which works bulk jobs of the database. Each makes an
// account of its own.
func process(t *testing.T, db *postgres.DB, address string, limit, share int) *socialdata.Client {
	t.Helper()
	c := upstream.New(upstream.Config{Base: address, Quota: upstream.NewQuota(limit, time.Hour)})
	p := enginetest.Profiles(platform.GitHub, "github", schema.Official, func(ctx context.Context, handle string) (schema.Profile, error) {
		_, err := c.Do(ctx, upstream.Get("users", handle))
		return enginetest.Profile(handle), err
	})
	p.Limits = upstream.Limits(map[string]*upstream.Quota{"core": c.Quota()})
	jobs, err := OpenPostgres(t.Context(), db, testConfig(t, bulktest.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	client, err := socialdata.New(socialdata.WithProviders(providers.Chain{p}), socialdata.WithLedger(db.Ledger()),
		socialdata.WithKeys(db.Keys()), socialdata.WithRecords(db.Records()), socialdata.WithBulk(jobs),
		socialdata.WithShares(map[string]providers.Shares{"github": {Dear: 100, Background: share}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := jobs.Close(); err != nil {
			t.Error(err)
		}
	})
	account, err := db.Keys().CreateAccount(t.Context(), rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Grant(t.Context(), account.ID, 10_000, "for a test"); err != nil {
		t.Fatal(err)
	}
	_, key, err := db.Keys().CreateKey(t.Context(), keys.NewKey{
		Account: account.ID, Environment: keys.Live, Manage: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client.As(key)
}
