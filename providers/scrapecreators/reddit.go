package scrapecreators

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/vtt"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/providers/reddit"
	"github.com/socialdata/socialdata/schema"
)

// redditReads reads answers of Reddit's own API, without its wrappers. The vendor has nothing by account.
type redditReads struct{ *client }

func (c *client) reddit() providers.Provider {
	r := redditReads{c}
	return providers.Provider{
		Platform:       platform.Reddit,
		Post:           r.post,
		Comments:       r.comments,
		Replies:        r.replies,
		Search:         r.search,
		Community:      r.community,
		CommunityPosts: r.communityPosts,
		Transcript:     r.transcript,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:         {"kind": {"post"}, "sort": {"recent", "relevance", "top", "comments"}},
			providers.OpCommunityPosts: {"sort": {"recent", "hot", "top", "rising"}},
		},
	}
}

// redditSorts maps our sort orders to the vendor's.
var redditSorts = map[string]string{
	"": "new", "recent": "new", "relevance": "relevance", "comments": "comment_count", "hot": "hot", "top": "top", "rising": "rising",
}

func redditURL(ctx context.Context, id string) string {
	return providers.AddressOf(ctx, providers.PostID, "https://www.reddit.com/comments/"+id+"/")
}

func (r redditReads) post(ctx context.Context, id string) (schema.Post, error) {
	p, err := one(ctx, r.client, upstream.Get("v1/reddit/post").Says("url", redditURL(ctx, id)), reddit.ParsePost)
	if err == nil {
		err = wire.Same(ctx, "post", id, p.ID)
	}
	return p, err
}

func (r redditReads) search(ctx context.Context, q providers.SearchQuery, cursor string) (providers.Page[schema.SearchResult], error) {
	ask := upstream.Get("v1/reddit/search").Says("query", q.Query).With("sort", redditSorts[q.Sort]).With("after", cursor)
	return list(ctx, r.client, ask, "posts", "after", func(_ struct{}, raw json.RawMessage) (schema.SearchResult, bool) {
		p, belongs := parsed(ctx, reddit.ParsePost)(struct{}{}, raw)
		return schema.Result(&p), belongs
	})
}

// community reads a community, whose name is case-sensitive.
func (r redditReads) community(ctx context.Context, name string) (p schema.Profile, err error) {
	var c wire.Object[redditCommunity]
	ask := upstream.Get("v1/reddit/subreddit/details").Says("subreddit", providers.SpellingOf(ctx, providers.CommunityID, name))
	if _, err = r.http.Read(ctx, ask, &c); err == nil {
		p = c.V.profile(c.Raw)
		err = wire.SameFold(ctx, "community", name, p.Handle)
	}
	return p, err
}

func (r redditReads) communityPosts(
	ctx context.Context, q providers.CommunityPostsQuery, cursor string,
) (providers.Page[schema.Post], error) {
	ask := upstream.Get("v1/reddit/subreddit").Says("subreddit", providers.SpellingOf(ctx, providers.CommunityID, q.ID)).
		With("sort", redditSorts[q.Sort]).With("after", cursor)
	if q.Sort == "top" {
		ask = ask.With("timeframe", "week")
	}
	return list(ctx, r.client, ask, "posts", "after", parsed(ctx, reddit.ParsePost))
}

type redditCommunity struct {
	ID          string     `json:"subreddit_id"` // t5_…
	Name        string     `json:"display_name"`
	Description string     `json:"description"`
	Icon        string     `json:"icon_img"`
	Subscribers wire.Count `json:"subscribers"`
}

func (c redditCommunity) profile(raw json.RawMessage) schema.Profile {
	return schema.Profile{
		Common:    schema.Common{ID: c.ID, URL: "https://www.reddit.com/r/" + c.Name + "/", Raw: raw},
		Handle:    c.Name,
		Bio:       text.NonEmpty(c.Description),
		AvatarURL: text.URL(c.Icon),
		Followers: c.Subscribers.V,
	}
}

// comments reads comments of every level, with each reply after what it replies to.
func (r redditReads) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	t, err := r.thread(ctx, postID, cursor)
	if err == nil {
		err = t.add(ctx, postID, t.Comments)
	}
	return t.page(), err
}

// replies returns the replies to a comment from the thread of its post. Each token for more comments there makes a page
// of its own, whose comments are all below it.
func (r redditReads) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (page providers.Page[schema.Comment], err error) {
	if q.PostID == "" {
		err = providers.Invalid("post_id is required: ScrapeCreators only finds comments by their post")
		return page, err
	}
	t, err := r.thread(ctx, q.PostID, cursor)
	switch {
	case err != nil:
	case cursor != "":
		err = t.add(ctx, q.PostID, t.Comments)
	default:
		var below redditReplies
		if below, err = t.find(ctx, q.CommentID); err == nil {
			t.Open = nil
			t.later(below.More.V)
			err = t.add(ctx, q.PostID, below.Items)
		}
	}
	return t.page(), err
}

// redditThread is a part of a thread, and the tokens for the parts that the vendor has left out.
type redditThread struct {
	Comments wire.Rows[redditComment] `json:"comments"`
	More     wire.Object[redditMore]  `json:"more"`

	Open []string         `json:"-"`
	List []schema.Comment `json:"-"`
}

type redditMore struct {
	Has    wire.Bool  `json:"has_more"`
	Cursor wire.Token `json:"cursor"`
}

type redditComment struct {
	ID      string        `json:"id"`
	Replies redditAnswers `json:"replies"`
}

// redditAnswers holds the replies to a comment: an object, or "" for none.
type redditAnswers struct {
	wire.Object[redditReplies]
	none bool
}

// UnmarshalJSON never fails.
func (a *redditAnswers) UnmarshalJSON(b []byte) error {
	*a = redditAnswers{none: string(b) == `""`}
	if a.none {
		return nil
	}
	return a.Object.UnmarshalJSON(b)
}

// readable reports whether the replies are known.
func (a redditAnswers) readable() bool { return a.none || a.V.Items.Here() }

type redditReplies struct {
	Items wire.Rows[redditComment] `json:"items"`
	More  wire.Object[redditMore]  `json:"more"`
}

// thread reads the page of a thread at cursor, which lists the remaining tokens. With a cursor the read is a POST,
// since tokens become too long for a URL.
func (r redditReads) thread(ctx context.Context, postID, cursor string) (t redditThread, err error) {
	ask := upstream.Get("v1/reddit/post/comments").Says("url", redditURL(ctx, postID))
	var open []string
	if cursor != "" {
		if json.Unmarshal([]byte(cursor), &open) != nil || len(open) == 0 {
			return t, providers.ErrCursor
		}
		ask = upstream.Request{
			Method: "POST", Retry: true, Path: ask.Path, JSON: map[string]string{"url": redditURL(ctx, postID), "cursor": open[0]},
		}
		open = open[1:]
	}
	if _, err = r.http.Read(ctx, ask, &t); err == nil {
		err = t.Comments.Check(ctx, "comments")
	}
	if err == nil {
		err = t.More.Optional(ctx, "more")
	}
	if err == nil {
		_, err = t.More.V.Cursor.Next(ctx, "more.cursor")
	}
	t.Open = open
	t.later(t.More.V)
	return t, err
}

// later records what the vendor has left out.
func (t *redditThread) later(m redditMore) {
	token, err := m.Cursor.Next(context.Background(), "")
	if err == nil && token != "" && (m.Has.V == nil || *m.Has.V) {
		t.Open = append(t.Open, token)
	}
}

// add appends comments and their replies.
func (t *redditThread) add(ctx context.Context, postID string, rows wire.Rows[redditComment]) error {
	for _, row := range rows.All() {
		c, err := reddit.ParseComment(ctx, postID, row.Raw)
		switch {
		case row.V.ID == "": // the zero comment, which the engine leaves out and counts
			t.List = append(t.List, schema.Comment{})
		case errors.Is(err, providers.ErrNotFound): // deleted, only its position remains
		case err != nil:
			return err
		default:
			t.List = append(t.List, c)
		}
		t.later(row.V.Replies.V.More.V)
		if err := t.add(ctx, postID, row.V.Replies.V.Items); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// find returns the replies to a comment, which may be on any level. If a comment cannot be read, it may be the searched
// one.
func (t *redditThread) find(ctx context.Context, id string) (below redditReplies, err error) {
	lost := 0
	var look func(rows wire.Rows[redditComment]) bool
	look = func(rows wire.Rows[redditComment]) bool {
		lost += rows.Lost()
		for _, row := range rows.All() {
			if row.V.ID == id {
				below, err = row.V.Replies.V, wire.Need(ctx, "replies", row.V.Replies.readable())
				return true
			}
			if row.V.ID == "" || !row.V.Replies.readable() {
				lost++
			}
			if look(row.V.Replies.V.Items) {
				return true
			}
		}
		return false
	}
	switch {
	case look(t.Comments):
		return below, err
	case lost > 0:
		return below, wire.Need(ctx, "comments[].id", false)
	}
	return below, providers.NotHere("the comment is not among the first that ScrapeCreators shows of this post")
}

func (t *redditThread) page() providers.Page[schema.Comment] {
	page := providers.Page[schema.Comment]{Items: t.List}
	if b, err := json.Marshal(t.Open); err == nil && len(t.Open) > 0 {
		page.Next = string(b)
	}
	return page
}

func (r redditReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	var a wire.Object[struct {
		PostID string       `json:"post_id"`
		URL    string       `json:"url"`
		Lang   string       `json:"language"`
		VTT    sole[string] `json:"raw_vtt"` // null when there is none
		Absent wire.Bool    `json:"transcriptNotAvailable"`
	}]
	ask := upstream.Get("v1/reddit/post/transcript").Says("url", redditURL(ctx, q.PostID)).With("language", q.Lang)
	if _, err = r.http.Read(ctx, ask, &a); err == nil {
		err = wire.Same(ctx, "post", q.PostID, a.V.PostID)
	}
	if err == nil && !a.V.Absent.Is() {
		err = a.V.VTT.given(ctx, "raw_vtt")
	}
	if err == nil && (a.V.Absent.Is() || strings.TrimSpace(a.V.VTT.V) == "") {
		err = providers.NotFound("the post has no transcript")
	}
	if err == nil {
		t = schema.Transcript{
			Common: schema.Common{ID: a.V.PostID, URL: text.URLOr(a.V.URL, redditURL(ctx, q.PostID)), Raw: a.Raw},
			PostID: a.V.PostID, Lang: text.NonEmpty(a.V.Lang),
		}
		t.Segments, err = vtt.Segments(ctx, []byte(a.V.VTT.V))
		t.Text = vtt.Text(t.Segments)
	}
	return t, err
}
