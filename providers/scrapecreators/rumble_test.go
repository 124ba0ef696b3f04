package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestRumble(t *testing.T) {
	run(t, platform.Rumble, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Posts("posts", "AnnTea"),
			providertest.Posts("posts-of-a-channel", "c/AnnTea"),
			providertest.Post("post", "v6aaaa"),
			providertest.Comments("comments", "v6aaaa"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "v6aaaa", Lang: "en"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("unknown video", "v6none"), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("no transcript", providers.TranscriptQuery{PostID: "v6bbbb"}), Want: providers.ErrNotFound},
			{Call: providertest.Transcript("another language", providers.TranscriptQuery{PostID: "v6aaaa", Lang: "ar"}), Want: providers.ErrNotFound},
		},
		// The last page has no cursor, a video without subtitles no transcript.
		Drift: &providertest.Drift{Absent: []string{"cursor", "transcript"}},
	})
}
