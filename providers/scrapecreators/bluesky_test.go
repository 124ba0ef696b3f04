package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestBluesky(t *testing.T) {
	const ann = "did:plc:annannannannannannannann"
	const post = "at://" + ann + "/app.bsky.feed.post/3one"
	run(t, platform.Bluesky, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "ann.example.com"),
			providertest.Posts("posts", "ann.example.com"),
			providertest.Posts("posts-by-did", ann),
			providertest.Post("post", post),
			providertest.Comments("comments", post),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown account inside a success", "soft.example.com"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a key that is refused", "key.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("no credits left", "broke.example.com"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown post", "at://"+ann+"/app.bsky.feed.post/3none"), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{
			Absent: []string{"post"},
			Sums:   []string{"post.repostCount", "post.quoteCount", "feed[].repostCount", "feed[].quoteCount"},
			Trees:  []string{"replies[]", "replies[].replies", "replies[].replies[]"},
		},
	})
}
