package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

const commentsPage = "100" // YouTube's maximum

// comments reads the top level of a video's comments, newest first. The replies within a thread are only a sample, and
// are read by the operation replies.
// https://developers.google.com/youtube/v3/docs/commentThreads/list
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	if !videoID.MatchString(postID) {
		return providers.Page[schema.Comment]{}, providers.NotFound("no such video")
	}
	r := upstream.Get("commentThreads").With("part", "snippet,replies").With("videoId", postID).
		With("maxResults", commentsPage).With("order", "time").With("textFormat", "plainText").With("pageToken", cursor)
	return listPage(ctx, c, r, func(t thread, raw json.RawMessage) (schema.Comment, bool) {
		if cmp.Or(t.video(), postID) != postID {
			return schema.Comment{}, true // a comment on another video
		}
		top := t.Snippet.Top
		top.ID = cmp.Or(top.ID, t.ID)
		return top.comment(postID, raw), true
	})
}

// replies reads the replies in a thread. YouTube returns them without their video: if the caller does not name it, the
// thread is read too.
// https://developers.google.com/youtube/v3/docs/comments/list
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	if !commentID.MatchString(q.CommentID) || q.PostID != "" && !videoID.MatchString(q.PostID) {
		return providers.Page[schema.Comment]{}, providers.NotFound("no such comment")
	}
	w := walk{List: q.PostID}
	if cursor != "" {
		var err error
		if w, err = walked(cursor); err != nil {
			return providers.Page[schema.Comment]{}, err
		}
	}
	r := upstream.Get("comments").With("part", "snippet").With("parentId", q.CommentID).
		With("maxResults", commentsPage).With("textFormat", "plainText").With("pageToken", w.Token)
	found, err := get[comment](ctx, c, r)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	if w.List == "" && (found.Items.Len() > 0 || found.Next != "") {
		w.List = c.videoOf(ctx, q.CommentID)
	}
	w.Token = found.Next
	items, err := wire.Items(ctx, "items", found.Items, func(r comment, raw json.RawMessage) (schema.Comment, bool) {
		r.Snippet.ParentID = cmp.Or(r.Snippet.ParentID, q.CommentID)
		return r.comment(w.List, raw), true
	})
	return providers.Page[schema.Comment]{Items: items, Next: w.String()}, err
}

// unknown replaces the video of a thread without one: a thread on the former discussion page of a channel.
const unknown = "unknown"

// videoOf returns the video of a thread. The replies have been read by then, and are valid without it: after a failure
// it is unknown.
func (c *client) videoOf(ctx context.Context, threadID string) string {
	found, err := get[thread](ctx, c, upstream.Get("commentThreads").With("part", "snippet").With("id", threadID))
	if err != nil {
		callctx.Of(ctx).Trace.Unknown("post_id", "url")
		return unknown
	}
	for _, t := range found.Items.All() {
		if t.V.ID == threadID {
			return cmp.Or(t.V.video(), unknown)
		}
	}
	callctx.Of(ctx).Trace.Unknown("post_id", "url")
	return unknown
}

// thread is an item of GET commentThreads; its id is that of its top-level comment.
// https://developers.google.com/youtube/v3/docs/commentThreads#resource
type thread struct {
	ID      string `json:"id"`
	Snippet struct {
		VideoID string  `json:"videoId"` // absent on a channel's discussion page
		Top     comment `json:"topLevelComment"`
	} `json:"snippet"`
}

func (t thread) video() string { return cmp.Or(t.Snippet.VideoID, t.Snippet.Top.Snippet.VideoID) }

// comment is an item of GET comments.
// https://developers.google.com/youtube/v3/docs/comments#resource
type comment struct {
	ID      string `json:"id"`
	Snippet struct {
		VideoID       string `json:"videoId"` // absent on replies
		ParentID      string `json:"parentId"`
		TextDisplay   string `json:"textDisplay"`
		TextOriginal  string `json:"textOriginal"` // documented as visible to the author only
		AuthorName    string `json:"authorDisplayName"`
		AuthorPicture string `json:"authorProfileImageUrl"`
		AuthorURL     string `json:"authorChannelUrl"`
		AuthorChannel struct {
			Value string `json:"value"`
		} `json:"authorChannelId"` // absent if the account has been deleted
		Likes       wire.Count `json:"likeCount"`
		PublishedAt wire.Time  `json:"publishedAt"`
	} `json:"snippet"`
}

func (c comment) comment(postID string, raw json.RawMessage) schema.Comment {
	s := c.Snippet
	postID = cmp.Or(s.VideoID, postID)
	page := watchURL(postID) + "&lc="
	if postID == unknown {
		page = "https://www.youtube.com/watch?lc="
	}
	return schema.Comment{
		Common:    schema.Common{ID: inForm(commentID, c.ID), URL: page + url.QueryEscape(c.ID), Raw: raw},
		PostID:    postID,
		Author:    c.author(),
		Text:      c.text(),
		CreatedAt: s.PublishedAt.V,
		Likes:     s.Likes.V,
		ReplyToID: text.NonEmpty(s.ParentID),
	}
}

func (c comment) author() schema.Actor {
	s := c.Snippet
	id := s.AuthorChannel.Value
	if u, err := url.Parse(s.AuthorURL); err == nil && id == "" {
		id = strings.TrimPrefix(u.Path[strings.LastIndexByte(u.Path, '/')+1:], "@")
	}
	id = cmp.Or(id, unknown)
	return schema.Actor{
		ID: id, Handle: cmp.Or(strings.TrimPrefix(s.AuthorName, "@"), id),
		DisplayName: text.NonEmpty(s.AuthorName), AvatarURL: text.URL(s.AuthorPicture),
	}
}

// text returns the plain text that was requested. If the answer is HTML nevertheless, which shows in its markup and in
// a difference from the original text, it is converted.
func (c comment) text() string {
	s := cmp.Or(c.Snippet.TextDisplay, c.Snippet.TextOriginal)
	if s == c.Snippet.TextOriginal {
		return s
	}
	for _, mark := range []string{`<a href="`, "<br>", "<br />", "&#39;", "&quot;", "&amp;", "&lt;", "&gt;"} {
		if strings.Contains(s, mark) {
			return text.FromHTML(s)
		}
	}
	return s
}
