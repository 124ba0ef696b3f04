package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// TestBatchesChargeWhatTheyTell draws batches of keys that are found, absent, refused and failing, plain, fresh and enriched,
// some of them repeated under an idempotency key: what is told is the price of the keys that were found, and what is told is
// charged.
//
//	go test ./internal/engine -run TestBatchesChargeWhatTheyTell -rapid.checks=100000
func TestBatchesChargeWhatTheyTell(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		e := enginetest.New(t, enginetest.Config{Credits: 10_000})
		word := rapid.SampledFrom([]string{
			"salma", "@salma", "omar", "noura", "SALMA", "not_found", "private", "timeout", "rate_limited_upstream", "a\x00b", "https://elsewhere.example/",
		})
		told := int64(0)
		for i := range rapid.IntRange(1, 20).Draw(rt, "batches") {
			req := socialdata.ProfileBatchRequest{
				Platform: platform.Mock, Handles: rapid.SliceOfN(word, 1, 12).Draw(rt, "keys"),
				Fresh: rapid.Bool().Draw(rt, "fresh"),
			}
			if rapid.Bool().Draw(rt, "enrich") {
				req.Enrich = socialdata.Arabic
			}
			calls := 1
			if rapid.Bool().Draw(rt, "under a key") {
				req.IdempotencyKey = fmt.Sprintf("batch-of-the-model-%d", i)
				calls = rapid.IntRange(1, 3).Draw(rt, "calls")
			}
			before := e.Balance(t)
			for n := range calls {
				got, err := e.Client.ProfileBatch(t.Context(), req)
				used := before - e.Balance(t)
				switch {
				case err != nil && used != 0:
					rt.Fatalf("%q failed with %v and cost %d", req.Handles, err, used)
				case err != nil:
				case got.Meta.CreditsUsed != used: // a repetition tells what the first call cost
					rt.Fatalf("%q, call %d: told %d, charged %d", req.Handles, n, got.Meta.CreditsUsed, used)
				default:
					wantPrice(rt, req, got, used)
				}
			}
			told += before - e.Balance(t)
		}
		sum := int64(0)
		for _, c := range e.Charges(t) {
			sum += c.Amount
		}
		if sum != told || e.Balance(t) != 10_000-sum {
			rt.Fatalf("told %d, charged %d, the balance is %d", told, sum, e.Balance(t))
		}
	})
}

// wantPrice compares what a batch cost with what its answer is worth.
func wantPrice(
	t *rapid.T, req socialdata.ProfileBatchRequest, got *schema.Envelope[[]schema.BatchItem[schema.Profile]], used int64,
) {
	found, enriched := map[string]bool{}, int64(0)
	for _, item := range got.Data {
		if item.Data == nil {
			continue
		}
		found[strings.ToLower(item.Data.Handle)] = true
		if item.Data.Enrichment.Value != nil {
			enriched = 3
		}
	}
	want := int64(len(found))
	if req.Fresh {
		want *= 2
	}
	if want += enriched; want != used {
		t.Fatalf("%q, fresh %t, enrich %q: %d keys were found, it cost %d, want %d", req.Handles, req.Fresh, req.Enrich, len(found), used, want)
	}
}
