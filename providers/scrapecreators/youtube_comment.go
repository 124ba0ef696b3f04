package scrapecreators

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const (
	youtubeRemembers = 20_000 // comments, about 300 bytes each
	youtubeLooks     = 3      // pages of comments that are searched for one that is not cached
)

// youtubeThread is what leads to the replies to a comment.
type youtubeThread struct {
	post  string
	token string // "" when there are no replies
}

// comments reads comments, newest first. The vendor computes their times from texts such as "9 days ago".
// https://docs.scrapecreators.com/v1/youtube/video/comments
func (r youtubeReads) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	ask := upstream.Get("v1/youtube/video/comments").Says("url", youtubeWatch(postID)).With("order", "newest")
	return youtubeList(ctx, r.client, ask, cursor, "comments", r.under(postID, ""))
}

// under returns the conversion of comments on a post, or of replies to a comment of it.
func (r youtubeReads) under(postID, commentID string) func(youtubeComment, json.RawMessage) (schema.Comment, bool) {
	return func(c youtubeComment, raw json.RawMessage) (schema.Comment, bool) {
		if c.Token != "" || c.Engagement.Replies.V != nil && *c.Engagement.Replies.V == 0 {
			r.threads.Add(c.ID, youtubeThread{postID, c.Token})
		}
		out := c.comment(postID, raw)
		out.ReplyToID = text.NonEmpty(commentID)
		return out, true
	}
}

// replies reads replies with a token, which is beside the comment. A cursor is the post, and the token of the page.
// https://docs.scrapecreators.com/v1/youtube/video/comment/replies
func (r youtubeReads) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (page providers.Page[schema.Comment], err error) {
	var t youtubeThread
	if cursor == "" {
		if t, err = r.thread(ctx, q); err != nil || t.token == "" {
			return page, err
		}
	} else if t.post, t.token, _ = strings.Cut(cursor, " "); t.token == "" {
		return page, providers.ErrCursor
	}
	ask := upstream.Get("v1/youtube/video/comment/replies")
	page, err = youtubeList(ctx, r.client, ask, t.token, "comments", r.under(t.post, q.CommentID))
	if page.Next != "" {
		page.Next = t.post + " " + page.Next
	}
	return page, err
}

// thread searches the token of a comment that is not cached: among the newest of its post.
func (r youtubeReads) thread(ctx context.Context, q providers.RepliesQuery) (youtubeThread, error) {
	t, found := r.threads.Get(q.CommentID)
	if !found && q.PostID == "" {
		return t, providers.Invalid("post_id is required: ScrapeCreators finds a comment by its post")
	}
	token := ""
	for looks := 0; !found; looks++ {
		if looks > 0 && token == "" || looks == youtubeLooks {
			return t, providers.Unsupported(
				"the comment is not among the newest of its post: read the comments of the post, up to the page with the comment, and try again")
		}
		page, err := r.comments(ctx, q.PostID, token)
		if err != nil {
			return t, err
		}
		t, found = r.threads.Get(q.CommentID)
		token = page.Next
	}
	return t, nil
}

type youtubeComment struct {
	ID     string    `json:"id"` // for a reply the comment's id, a full stop, and its own
	Text   string    `json:"content"`
	At     wire.Time `json:"publishedTime"`
	Author struct {
		Name    string `json:"name"` // @ and the handle
		ID      string `json:"channelId"`
		Picture string `json:"avatarUrl"`
	} `json:"author"`
	Engagement struct {
		Likes   wire.Count `json:"likes"`
		Replies wire.Count `json:"replies"`
	} `json:"engagement"`
	Token string `json:"repliesContinuationToken"` // absent when there are no replies
}

func (c youtubeComment) comment(postID string, raw json.RawMessage) schema.Comment {
	id := cmp.Or(c.Author.ID, schema.UnknownActor().ID)
	return schema.Comment{
		Common: schema.Common{ID: c.ID, URL: youtubeWatch(postID) + "&lc=" + url.QueryEscape(c.ID), Raw: raw},
		PostID: postID,
		Author: schema.Actor{
			ID: id, Handle: cmp.Or(strings.TrimPrefix(c.Author.Name, "@"), id),
			DisplayName: text.NonEmpty(c.Author.Name), AvatarURL: text.URL(c.Author.Picture),
		},
		Text:      c.Text,
		CreatedAt: c.At.V,
		Likes:     c.Engagement.Likes.V,
	}
}
