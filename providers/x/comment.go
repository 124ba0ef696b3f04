package x

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// The kinds of requests for a list of comments. They are the first part of its cursors, so that the post is paid for
// once.
const (
	conversation = "c"
	direct       = "r"
)

// comments reads the conversation under a post. X identifies a conversation by its first post, so the post is read
// first. If the post is itself a reply, only its direct replies can be requested.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	way, token, ok := strings.Cut(cursor, ":")
	switch {
	case cursor == "":
		t, _, err := c.tweet(ctx, postID)
		if err != nil {
			return providers.Page[schema.Comment]{}, err
		}
		way = conversation
		if t.V.ConversationID != "" && string(t.V.ConversationID) != postID {
			way = direct
		}
	case !ok || token == "" || way != conversation && way != direct:
		return providers.Page[schema.Comment]{}, providers.ErrCursor
	}
	query, parent := "conversation_id:"+postID+" -is:retweet", ""
	if way == direct {
		query, parent = "in_reply_to_tweet_id:"+postID, postID
	}
	page, err := c.answers(ctx, query, postID, parent, token)
	if page.Next != "" {
		page.Next = way + ":" + page.Next
	}
	return page, err
}

// replies reads the direct replies to a comment. Each of them has the id of its conversation.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	return c.answers(ctx, "in_reply_to_tweet_id:"+q.CommentID, q.PostID, q.CommentID, cursor)
}

// answers searches for replies to a post: parent, or "" for any post in the conversation. postID is the first post, ""
// if the caller does not know it.
// https://docs.x.com/x-api/fundamentals/conversation-id
func (c *client) answers(ctx context.Context, query, postID, parent, token string) (providers.Page[schema.Comment], error) {
	a, err := c.searchTweets(ctx, upstream.Request{}.With("query", query).With("next_token", token))
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	return page(ctx, a, func(t tweet, raw json.RawMessage) (schema.Comment, bool) {
		item := t.comment(a.Includes, postID, raw)
		if parent != "" {
			item.ReplyToID = &parent
		}
		return item, postID == "" || string(t.ID) != postID
	})
}

func (t tweet) comment(in includes, postID string, raw json.RawMessage) schema.Comment {
	author, page := t.author(in, nil)
	out := schema.Comment{
		Common:    schema.Common{ID: string(t.ID), URL: page, Raw: raw},
		PostID:    cmp.Or(string(t.ConversationID), postID),
		Author:    author,
		Text:      t.whole(),
		Lang:      language(t.Lang),
		CreatedAt: t.CreatedAt.V,
		Likes:     t.PublicMetrics.Likes.V,
	}
	if to := string(t.refers("replied_to")); to != "" && to != out.PostID {
		out.ReplyToID = &to
	}
	return out
}
