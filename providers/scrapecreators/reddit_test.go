package scrapecreators_test

import (
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestReddit(t *testing.T) {
	const answers = "comments[].replies.items"
	run(t, platform.Reddit, providertest.Suite{
		Calls: []providertest.Call{
			providertest.Post("post", "1aaa"),
			providertest.Search("search", providers.SearchQuery{Query: "tea"}),
			providertest.Community("community", "tea"),
			providertest.CommunityPosts("community-posts", providers.CommunityPostsQuery{ID: "tea"}),
			providertest.CommunityPosts("community-posts-top", providers.CommunityPostsQuery{ID: "tea", Sort: "top"}),
			providertest.Comments("comments", "1aaa"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "c2", PostID: "1aaa"}),
			providertest.Replies("replies-none", providers.RepliesQuery{CommentID: "c4", PostID: "1aaa"}),
			providertest.Transcript("transcript", providers.TranscriptQuery{PostID: "1aaa"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("unknown post", "1none"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("an invalid cursor", "1aaa").From("x"), Want: providers.ErrCursor},
			{Call: providertest.Replies("a comment that is not shown", providers.RepliesQuery{CommentID: "c99", PostID: "1aaa"}), Want: providers.ErrNotHere},
			{Call: providertest.Replies("no post", providers.RepliesQuery{CommentID: "c1"}), Want: providers.ErrInvalid},
			{Call: providertest.Transcript("no transcript", providers.TranscriptQuery{PostID: "1bbb"}), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{
			// The last page has no token, and a false flag may be missing: then the score is shown.
			Absent: []string{
				"after", "raw_vtt", "more", "more.cursor", "hide_score", "posts[].hide_score", "comments[].score_hidden",
				answers + "[].score_hidden", answers + "[].replies.items[].score_hidden",
			},
			Scores: []string{
				"score", "posts[].score", "comments[].score", answers + "[].score", answers + "[].replies.items[].score",
			},
			Trees: []string{
				"comments[]", "comments[].replies", answers, answers + "[]", answers + "[].replies",
				answers + "[].replies.items", answers + "[].replies.items[]",
				answers + "[].replies.more", answers + "[].replies.more.cursor",
			},
		},
	})
}
