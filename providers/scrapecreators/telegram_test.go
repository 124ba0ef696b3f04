package scrapecreators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestTelegram(t *testing.T) {
	run(t, platform.Telegram, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Profile("profile", "teahouse"),
			providertest.Posts("posts", "teahouse"),
			providertest.Post("post", "teahouse/43"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("unknown post", "teahouse/99"), Want: providers.ErrNotFound},
		},
		// The last page has no cursor.
		Drift: &providertest.Drift{Absent: []string{"cursor", "has_more"}},
	})
}

func TestTelegramMedia(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Telegram, `{"id": "5", "channel_handle": "tea", "text": "", "media": [
		{"type": "photo", "url": "https://cdn.example.com/1.jpg"}, {"type": "video", "url": "https://cdn.example.com/2.mp4"},
		{"type": "voice", "url": "https://cdn.example.com/3.ogg"}, {"type": "document", "url": "https://t.me/tea/5"}]}`)
	post, err := p.Post(t.Context(), "tea/5")
	var kinds []schema.MediaType
	for _, m := range post.Media {
		kinds = append(kinds, m.Type)
	}
	if diff := cmp.Diff([]schema.MediaType{schema.Image, schema.Video, schema.Audio}, kinds); err != nil || diff != "" {
		t.Errorf("media (%v) (-want +got):\n%s", err, diff)
	}
}

func TestTelegramPostsOfOtherChannelsAreLeftOut(t *testing.T) {
	t.Parallel()
	p := saying(t, platform.Telegram, `{"has_more": false, "posts": [{"id": "5", "channel_handle": "coffee"}, {"id": "4", "channel_handle": "Tea"}]}`)
	page, err := p.Posts(t.Context(), "tea", "")
	if err != nil || len(page.Items) != 2 || page.Items[0].ID != "" || page.Items[1].ID != "Tea/4" {
		t.Errorf("got %v (%v), want the second alone", page.Items, err)
	}
}
