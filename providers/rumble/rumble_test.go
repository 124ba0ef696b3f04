package rumble_test

import (
	"net/http"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/rumble"
	"github.com/socialdata/socialdata/schema"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return rumble.New(rumble.Config{HTTP: c}) }, Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("profile", "TeaHouse"),
			providertest.Profile("profile-user", "ann"),
			providertest.Profile("profile-bare", "c/quiet"),
			providertest.Posts("posts", "TeaHouse"),
			providertest.Posts("posts-featured-alone", "user/ann"),
			providertest.Posts("posts-none", "quiet"),
			providertest.Post("post", "v5tea01"),
			providertest.Post("post-by-player", "embed/v100000"),
			providertest.Post("post-on-air", "v5air01"),
			providertest.Live("live", "onair"),
			providertest.Live("live-off-air", "TeaHouse"),
			providertest.Live("live-ended", "ended"),
			providertest.Live("live-by-its-state", "started"),
			providertest.Search("search-posts", providers.SearchQuery{Query: "tea"}),
			providertest.Search("search-by-views", providers.SearchQuery{Query: "tea", Sort: "views"}),
			providertest.Search("search-profiles", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.Search("search-none", providers.SearchQuery{Query: "p3423n dkje", Kind: schema.PostResult}),
			providertest.Comments("comments", "v5tea01"),
			providertest.Comments("comments-none", "v5none"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "410001", PostID: "v5tea01"}),
			providertest.Replies("replies-deeper", providers.RepliesQuery{CommentID: "410002", PostID: "v5tea01"}),
			providertest.Replies("replies-none", providers.RepliesQuery{CommentID: "410004", PostID: "v5tea01"}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "v5tea01"}),
			providertest.Transcript("transcript-english", providers.TranscriptQuery{PostID: "v5tea01", Lang: "en"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("neither channel nor user", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown handle", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("page without its account", "headless"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page of another account", "mistaken"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("page without its list", "changed"), Want: providers.ErrUnavailable},
			{Call: providertest.Live("live on a page without its list", "changed"), Want: providers.ErrUnavailable},
			{Call: providertest.Live("live without a word whether it is", "untold"), Want: providers.ErrUnavailable},
			{
				Call: providertest.Transcript("subtitles on another's host", providers.TranscriptQuery{PostID: "v5else1"}),
				Want: providers.ErrUnavailable,
			},
			{Call: providertest.Profile("check with status 200", "challenged"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("check with status 403", "checked"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("an invalid cursor", "TeaHouse").From("x"), Want: providers.ErrCursor},
			{Call: providertest.Posts("cursor of no kind", "TeaHouse").From("2"), Want: providers.ErrCursor},
			{Call: providertest.Post("unknown video", "v0000000"), Want: providers.ErrNotFound},
			{Call: providertest.Post("video that is gone", "v5gone1"), Want: providers.ErrNotFound},
			{Call: providertest.Post("page without its video", "v5bare1"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("page of another video", "v5wrong"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("video that is not played", "v5refus"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("unknown player", "embed/v10002r"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments off", "v5off"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments off on the page", "v5offpage"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments without html", "v5nohtml"), Want: providers.ErrUnavailable},
			{Call: providertest.Comments("comments without a list", "v5nolist"), Want: providers.ErrUnavailable},
			{Call: providertest.Comments("comments behind a log-in", "v5login"), Want: providers.ErrUnavailable},
			{
				Call: providertest.Replies("replies to no comment", providers.RepliesQuery{CommentID: "1", PostID: "v5tea01"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Replies("replies without a video", providers.RepliesQuery{CommentID: "410001"}),
				Want: providers.ErrInvalid,
			},
			{
				Call: providertest.Transcript("no subtitles", providers.TranscriptQuery{PostID: "v5air01"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Transcript("none in this language", providers.TranscriptQuery{PostID: "v5tea01", Lang: "fr"}),
				Want: providers.ErrNotFound,
			},
			{
				Call: providertest.Search("search without a list", providers.SearchQuery{Query: "changed"}),
				Want: providers.ErrUnavailable,
			},
			{
				Call: providertest.Search("accounts by views", providers.SearchQuery{
					Query: "tea", Kind: schema.ProfileResult, Sort: "views",
				}),
				Want: providers.ErrInvalid,
			},
		},
		Drift: &providertest.Drift{
			// The player answers an unknown id with false or {}. It has no subtitles field when there are none, and no stream
			// before a broadcast begins or after it has ended.
			Absent: []string{"{}", "cc.en-auto", "u", "u.hls"},
			Tuples: []string{"$"}, // JSON-LD: the video, the site
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "Bongino", Want: "Bongino"},
			{Subject: providers.Handle, In: "@Bongino", Want: "Bongino"},
			{Subject: providers.Handle, In: "user/ann", Want: "user/ann"},
			{Subject: providers.Handle, In: "https://rumble.com/c/Bongino/livestreams?x=1", Want: "c/Bongino"},
			{Subject: providers.Handle, In: "www.rumble.com/user/ann/", Want: "user/ann"},
			{Subject: providers.Handle, In: "https://rumble.com/BonginoClips", Want: "BonginoClips"},
			{Subject: providers.Handle, In: "https://rumble.com/videos"},
			{Subject: providers.Handle, In: "https://rumble.com/v1a992g-x.html"},
			{Subject: providers.Handle, In: "https://example.com/c/ann"},
			{Subject: providers.Handle, In: "shop/ann"},
			{Subject: providers.Handle, In: ".."},
			{Subject: providers.Handle, In: "a b"},
			{Subject: providers.PostID, In: "v1a992g", Want: "v1a992g"},
			{Subject: providers.PostID, In: "v1a992g-its-title.html", Want: "v1a992g"},
			{Subject: providers.PostID, In: "https://rumble.com/v1a992g-its-title.html?mref=x#comment-1", Want: "v1a992g"},
			{Subject: providers.PostID, In: "https://rumble.com/v1a992g", Want: "v1a992g"},
			{Subject: providers.PostID, In: "https://rumble.com/embed/v17n34y/?pub=4", Want: "embed/v17n34y"},
			{Subject: providers.PostID, In: "https://rumble.com/embed/u4.v17n34y/", Want: "embed/v17n34y"},
			{Subject: providers.PostID, In: "https://rumble.com/c/Bongino"},
			{Subject: providers.PostID, In: "https://rumble.com/shorts/v6cccc", Want: "v6cccc"},
			{Subject: providers.PostID, In: "https://rumble.com/shorts/"},
			{Subject: providers.PostID, In: "embed/../x"},
			{Subject: providers.PostID, In: "12"},
			{Subject: providers.CommentID, In: "410000001", Want: "410000001"},
			{Subject: providers.CommentID, In: "https://rumble.com/v1a992g-x.html#comment-410000001", Want: "410000001"},
			{Subject: providers.CommentID, In: "x"},
		},
	})
	providertest.Off(t, rumble.New(rumble.Config{Own: providers.OwnOff})[0])
}
