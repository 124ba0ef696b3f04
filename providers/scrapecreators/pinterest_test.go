package scrapecreators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestPinterest(t *testing.T) {
	run(t, platform.Pinterest, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Post("pin", "68747564459"),
			providertest.Post("pin-video", "68747564460"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Collections("boards", providers.CollectionsQuery{Handle: "ann_example"}),
			providertest.CollectionPosts("board", providers.CollectionQuery{ID: "ann_example/tea"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("unknown pin", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a short link", "pin.it/abc"), Want: providers.ErrUnsupported},
			{
				Call: providertest.CollectionPosts("a board by number", providers.CollectionQuery{ID: "282812120289423044"}),
				Want: providers.ErrUnsupported,
			},
		},
		Drift: &providertest.Drift{Absent: []string{"cursor"}}, // no flag says that there is more
	})
}

func TestPinterestPinHashtags(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Pinterest, `{"entityId": "68", "title": "Pot", "description": "of #tea", "hashtags": ["#tea", "#شاي"],
		"totalReactionCount": 692, "reactionCountsData": [{"reactionType": 1, "reactionCount": 690}],
		"pinner": {"entityId": "7", "username": "ann"}}`)
	post, err := p.Post(t.Context(), "68")
	if diff := cmp.Diff([]string{"tea", "شاي"}, post.Hashtags); err != nil || diff != "" {
		t.Errorf("hashtags (%v) (-want +got):\n%s", err, diff)
	}
}
