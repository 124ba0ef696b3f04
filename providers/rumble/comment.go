package rumble

import (
	"context"
	"strings"

	"golang.org/x/net/html"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/pages"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// pageSize is the number of comments on a page: Rumble returns all comments at once.
const pageSize = 50

func (s *site) comments(ctx context.Context, postID, cursor string) (out providers.Page[schema.Comment], err error) {
	t, err := s.thread(ctx, postID)
	if err != nil {
		return out, err
	}
	return t.page(ctx, t.List, "", cursor)
}

func (s *site) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (out providers.Page[schema.Comment], err error) {
	if q.PostID == "" {
		return out, providers.Invalid("post_id is required: Rumble only finds comments by their video")
	}
	t, err := s.thread(ctx, q.PostID)
	if err != nil {
		return out, err
	}
	parent := dom.First(t.List, isComment, dom.Is("data-comment-id", q.CommentID))
	if parent == nil {
		return out, errNoComment
	}
	return t.page(ctx, dom.First(parent, dom.Tag("ul"), partOf(parent)), q.CommentID, cursor)
}

// thread holds all comments on a video.
type thread struct {
	PostID   string
	URL      string
	Count    *int64     // of all comments, from the video's page; nil when it has none
	List     *html.Node // the top-level comments
	Pictures pictures
}

// commentList is the response of comment.list.
type commentList struct {
	HTML   string `json:"html"`
	Styles struct {
		Global string `json:"global"`
	} `json:"css_libs"`
}

// thread reads the comments of a video, which are requested by the id of its player without its v.
func (s *site) thread(ctx context.Context, postID string) (t thread, err error) {
	v, err := s.videoPage(ctx, postID)
	if err != nil {
		return t, err
	}
	if says(dom.First(v.doc, dom.Is("id", "video-comments")), switchedOff...) {
		return t, errCommentsOff
	}
	var answer commentList
	r := upstream.Get("service.php").With("name", "comment.list").With("video", strings.TrimPrefix(v.Embedded, "v"))
	if _, err := s.http.Read(ctx, r, &answer); err != nil {
		return t, behind(err)
	}
	if err := wire.Need(ctx, "html", answer.HTML != ""); err != nil {
		return t, err
	}
	doc, err := dom.Parse([]byte(answer.HTML))
	if err != nil {
		return t, err
	}
	t = thread{v.ID, v.address(), count(ctx, "video-comments-loading", v.marked().Comments), dom.First(doc, dom.Class("comments-1")), picturesIn(answer.Styles.Global)}
	switch {
	case t.List != nil:
		return t, nil
	case says(doc, switchedOff...):
		return t, errCommentsOff
	case says(doc, "log in to", "login to", "sign in to", "logged in to"):
		return t, errLogin
	}
	return t, wire.Need(ctx, "ul.comments-1", false)
}

// switchedOff are the texts that say that the owner has disabled comments. They are only searched where readers cannot
// write.
var switchedOff = []string{
	"comments are disabled", "comments are turned off", "comments are off", "comments are closed",
	"comments have been disabled", "comments have been turned off",
	"commenting is disabled", "commenting has been disabled", "comments disabled",
}

func isComment(n *html.Node) bool { return dom.Class("comment-item")(n) }

// partOf matches elements of a comment that are not part of one of its replies.
func partOf(comment *html.Node) dom.Match {
	return func(n *html.Node) bool {
		for e := range n.Ancestors() {
			if isComment(e) {
				return e == comment
			}
		}
		return false
	}
}

// page returns one page of the comments in a list, which is nil when the comment parent has no replies.
func (t thread) page(
	ctx context.Context, list *html.Node, parent, cursor string,
) (out providers.Page[schema.Comment], err error) {
	var all []schema.Comment
	lost := 0
	if list != nil {
		for n := range list.ChildNodes() {
			if n.Type != html.ElementNode || !isComment(n) {
				continue
			}
			c := t.comment(ctx, n, parent)
			if c.ID == "" {
				lost++
			}
			all = append(all, c)
		}
	}
	if err := wire.Understood("comment-item", len(all)-lost, lost); err != nil {
		return out, err
	}
	if parent == "" { // the comment that the replies belong to shows that the page was understood
		if err := (wire.Witness{Rows: len(all), Count: t.Count}).Check(ctx, "comment-item"); err != nil {
			return out, err
		}
	}
	out.Items, out.Next, err = pages.Cut(all, cursor, pageSize)
	return out, err
}

// remark is a comment in the page's own texts.
type remark struct {
	ID         string  `json:"id"`
	Author     account `json:"author"`
	AuthorName string  `json:"author_name"`
	Picture    string  `json:"picture"`
	Time       string  `json:"post_time"`
	Text       string  `json:"text"`
	Likes      string  `json:"rumbles_count"`
}

// comment reads one comment. It has no id if its own or its author's cannot be read.
func (t thread) comment(ctx context.Context, n *html.Node, parent string) schema.Comment {
	first := func(m ...dom.Match) *html.Node { return dom.First(n, append(m, partOf(n))...) }
	by := first(dom.Tag("a"), dom.Class("comments-meta-author"))
	r := remark{
		ID:         dom.Attr(n, "data-comment-id"),
		Author:     accountAt(dom.Attr(by, "href")),
		AuthorName: line(by),
		Picture:    t.Pictures.of(first(dom.Class("comments-meta"))),
		Time:       dom.Attr(first(dom.Class("comments-meta-post-time")), "title"),
		Likes:      line(first(dom.Class("rumbles-count"))),
	}
	var said []string
	for p := range dom.All(n, dom.Class("comment-text"), partOf(n)) {
		said = append(said, dom.Text(p))
	}
	r.Text = strings.TrimSpace(strings.Join(said, "\n"))
	if !links.Digits(r.ID) || r.Author.Slug == "" {
		return schema.Comment{}
	}
	c := schema.Comment{
		Common:    schema.Common{ID: r.ID, URL: t.URL + "#comment-" + r.ID, Raw: raw(r)},
		PostID:    t.PostID,
		Author:    r.Author.actor(r.AuthorName, r.Picture),
		Text:      r.Text,
		CreatedAt: dates.Parse(r.Time, "Monday, January 2, 2006 3:04 PM -07", "Monday, January 2, 2006 3:04 PM -0700"),
		Likes:     count(ctx, "rumbles-count", r.Likes),
	}
	if parent != "" {
		c.ReplyToID = &parent
	}
	return c
}
