package scrapecreators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestKwai(t *testing.T) {
	const cafe = "cafe.riyadh"
	run(t, platform.Kwai, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", cafe),
			providertest.Posts("posts", cafe),
			providertest.Post("post", "@"+cafe+"/5193363430624671876"),
			providertest.Post("post-number", "5193363430624671875"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown account", "nobody"), Want: providers.ErrNotFound},
			{
				Call: providertest.Post("an address that the app shares", "558843093/5193363430624671876"),
				Want: providers.ErrUnsupported,
			},
		},
		Drift: &providertest.Drift{Absent: []string{"data"}}, // what does not exist
	})
}

func TestKwaiTagsAreHashtags(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Kwai, `{"data": {"id": "519", "caption": "Shay #tea", "tags": ["#tea", "قهوة", ""], "author": {"id": 5, "handle": "ann"}}}`)
	post, err := p.Post(t.Context(), "@ann/519")
	if diff := cmp.Diff([]string{"tea", "قهوة"}, post.Hashtags); err != nil || diff != "" {
		t.Errorf("hashtags (%v) (-want +got):\n%s", err, diff)
	}
}
