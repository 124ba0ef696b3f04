package scrapecreators_test

import (
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestThreads(t *testing.T) {
	const (
		cafe    = "cafe.riyadh"
		post    = "DEUxBnGRDtS"
		comment = "DJKjWK1SdLh"
	)
	noon := time.Date(2025, 1, 2, 13, 12, 0, 0, time.UTC)
	run(t, platform.Threads, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", cafe),
			providertest.Posts("posts", cafe),
			providertest.Post("post", post),
			providertest.Comments("comments", post),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: comment}),
			providertest.Search("search", providers.SearchQuery{Query: "قهوة"}),
			providertest.Search("search-days", providers.SearchQuery{
				Query: "#coffee", Since: noon.Add(-time.Hour), Until: noon,
			}),
			providertest.Search("people", providers.SearchQuery{Query: "cafe", Kind: schema.ProfileResult}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("deleted post", "DEUxBnGRDtU"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown post", "DEUxBnGRDtV"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a media id", "18298876294239445"), Want: providers.ErrUnsupported},
			{
				Call: providertest.Search("people by age", providers.SearchQuery{
					Query: "cafe", Kind: schema.ProfileResult, Since: noon,
				}),
				Want: providers.ErrUnsupported,
			},
		},
		Drift: &providertest.Drift{Absent: []string{"post"}}, // what does not exist
	})
}
