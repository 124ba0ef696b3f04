package scrapecreators

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
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
		Post:           one(c, byPost("v1/reddit/post", redditPage), "", wire.Parsed(reddit.ParsePost), samePost),
		Comments:       r.comments,
		Replies:        r.replies,
		Search:         r.search,
		Community:      one(c, redditNamed, "", wire.As(redditCommunity.profile), sameAccount),
		CommunityPosts: list(c, redditPosts, upstream.List{Rows: "posts", Next: "after"}, parsed(reddit.ParsePost), nil),
		Transcript:     r.transcript,
		Filters: map[providers.Op]providers.Filters{
			providers.OpSearch:         {"kind": {"post"}, "sort": {"recent", "relevance", "top", "comments"}},
			providers.OpCommunityPosts: {"sort": {"recent", "hot", "top", "rising"}},
		},
	}
}

func redditPage(id string) string { return "https://www.reddit.com/comments/" + id + "/" }

// redditSorts maps our sort orders to the vendor's.
var redditSorts = map[string]string{
	"": "new", "recent": "new", "relevance": "relevance", "comments": "comment_count", "hot": "hot", "top": "top", "rising": "rising",
}

func redditURL(ctx context.Context, id string) string {
	return providers.AddressOf(ctx, providers.PostID, redditPage(id))
}

func (r redditReads) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (providers.Page[schema.SearchResult], error) {
	ask := upstream.Get("v1/reddit/search").Says("query", q.Query).With("sort", redditSorts[q.Sort]).With("after", cursor)
	at := upstream.List{Rows: "posts", Next: "after"}
	return upstream.Page(ctx, r.http, ask, at, hit(parsing(ctx, reddit.ParsePost)))
}

// redditNamed asks for a community, whose name is case-sensitive.
func redditNamed(ctx context.Context, name string) (upstream.Request, error) {
	return upstream.Get("v1/reddit/subreddit/details").Says("subreddit", providers.SpellingOf(ctx, providers.CommunityID, name)), nil
}

func redditPosts(ctx context.Context, q providers.CommunityPostsQuery) (upstream.Request, error) {
	ask := upstream.Get("v1/reddit/subreddit").Says("subreddit", providers.SpellingOf(ctx, providers.CommunityID, q.ID)).
		With("sort", redditSorts[q.Sort])
	if q.Sort == "top" {
		ask = ask.With("timeframe", "week")
	}
	return ask, nil
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
func (r redditReads) comments(ctx context.Context, postID, cursor string) (page providers.Page[schema.Comment], err error) {
	t, err := r.thread(ctx, postID, cursor)
	if err != nil {
		return page, err
	}
	if err := t.add(ctx, postID, t.Comments); err != nil {
		return page, err
	}
	return t.page(), nil
}

// replies returns the replies to a comment from the thread of its post. Each token for more comments there makes a page
// of its own, whose comments are all below it.
func (r redditReads) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (page providers.Page[schema.Comment], err error) {
	if q.PostID == "" {
		return page, providers.Invalid("post_id is required: ScrapeCreators only finds comments by their post")
	}
	t, err := r.thread(ctx, q.PostID, cursor)
	if err != nil {
		return page, err
	}
	found := t.Comments
	if cursor == "" {
		below, err := t.find(ctx, q.CommentID)
		if err != nil {
			return page, err
		}
		t.Open = nil
		t.later(below.More.V)
		found = below.Items
	}
	if err := t.add(ctx, q.PostID, found); err != nil {
		return page, err
	}
	return t.page(), nil
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
	if _, err := r.http.Read(ctx, ask, &t); err != nil {
		return t, err
	}
	if err := t.Comments.Check(ctx, "comments"); err != nil {
		return t, err
	}
	if err := t.More.Optional(ctx, "more"); err != nil {
		return t, err
	}
	if _, err := t.More.V.Cursor.Next(ctx, "more.cursor"); err != nil {
		return t, err
	}
	t.Open = open
	t.later(t.More.V)
	return t, nil
}

// later records what the vendor has left out.
func (t *redditThread) later(m redditMore) {
	token, err := m.Cursor.Next(context.Background(), "")
	if err != nil || token == "" || m.Has.V != nil && !*m.Has.V {
		return
	}
	t.Open = append(t.Open, token)
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
	if len(t.Open) > 0 {
		b, _ := json.Marshal(t.Open) // strings can always be encoded
		page.Next = string(b)
	}
	return page
}

func (r redditReads) transcript(ctx context.Context, q providers.TranscriptQuery) (t schema.Transcript, err error) {
	a, err := upstream.Object[struct {
		PostID string       `json:"post_id"`
		URL    string       `json:"url"`
		Lang   string       `json:"language"`
		VTT    sole[string] `json:"raw_vtt"` // null when there is none
		Absent wire.Bool    `json:"transcriptNotAvailable"`
	}](ctx, r.http, upstream.Get("v1/reddit/post/transcript").Says("url", redditURL(ctx, q.PostID)).With("language", q.Lang), "")
	if err != nil {
		return t, err
	}
	if err := wire.Same(ctx, "post", q.PostID, a.V.PostID); err != nil {
		return t, err
	}
	if !a.V.Absent.Is() {
		if err := a.V.VTT.given(ctx, "raw_vtt"); err != nil {
			return t, err
		}
	}
	if a.V.Absent.Is() || strings.TrimSpace(a.V.VTT.V) == "" {
		return t, providers.NotFound("the post has no transcript")
	}
	return subtitles(ctx, schema.Transcript{
		Common: schema.Common{ID: a.V.PostID, URL: text.URLOr(a.V.URL, redditURL(ctx, q.PostID)), Raw: a.Raw},
		PostID: a.V.PostID, Lang: text.NonEmpty(a.V.Lang),
	}, a.V.VTT.V)
}
