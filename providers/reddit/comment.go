package reddit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/text"
	"github.com/socialdata/socialdata/providers/internal/upstream"
	"github.com/socialdata/socialdata/schema"
)

// comments reads a post's comments of every level, each answer behind what it answers.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	page, err := c.thread(ctx, providers.RepliesQuery{PostID: postID}, cursor)
	if err != nil {
		return providers.Page[schema.Comment]{}, fmt.Errorf("reddit: comments of %q: %w", postID, err)
	}
	return page, nil
}

// replies reads what answers one comment, at every level.
func (c *client) replies(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	page, err := c.thread(ctx, q, cursor)
	if err != nil {
		return providers.Page[schema.Comment]{}, fmt.Errorf("reddit: replies to %q: %w", q.CommentID, err)
	}
	return page, nil
}

const (
	threadSize = "100" // comments of a thread's first page
	batch      = 100   // ids that Reddit opens at once
	queue      = 200   // ids of a thread that a cursor takes along
	queueMost  = 500   // ids that a cursor holds at all, which keeps it under 5 kB
)

// place is where a thread goes on. A large thread comes with stubs in place of most of its comments: the ids behind
// them. A cursor takes some along; the rest is found by reading the thread again.
type place struct {
	Post    string `json:"p"`
	Comment string `json:"c,omitempty"` // whose replies are read; "" for the whole thread
	Open    string `json:"o,omitempty"` // ids to be opened, with commas; one behind a _ is a comment whose replies are
	Last    string `json:"l,omitempty"` // the last of the thread's ids that was taken along; "" when all were
}

func (p place) String() string {
	if p.Open == "" && p.Last == "" {
		return ""
	}
	b, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	return string(b)
}

// take returns p with the next of the thread's ids taken along.
func (p place) take(ids []string) place {
	p.Last = ""
	if len(ids) > queue {
		ids = ids[:queue]
		p.Last = ids[queue-1]
	}
	p.Open = strings.Join(ids, ",")
	return p
}

func (c *client) thread(ctx context.Context, q providers.RepliesQuery, cursor string) (providers.Page[schema.Comment], error) {
	if cursor != "" {
		var p place
		if json.Unmarshal([]byte(cursor), &p) != nil || !base36.MatchString(p.Post) || p.String() == "" {
			return providers.Page[schema.Comment]{}, providers.ErrCursor
		}
		return c.further(ctx, p)
	}
	p, err := c.begin(ctx, q)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	f, err := c.read(ctx, p.Post, p.Comment)
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	return f.page(p.take(f.ids)), nil
}

// begin finds the ids of the post and the comment.
func (c *client) begin(ctx context.Context, q providers.RepliesQuery) (p place, err error) {
	if p.Comment, err = c.web.resolve(ctx, providers.CommentID, q.CommentID); err != nil {
		return place{}, err
	}
	if p.Post, err = c.web.resolve(ctx, providers.PostID, q.PostID); err != nil || p.Post != "" {
		return p, err
	}
	p.Post, err = c.postOf(ctx, p.Comment)
	return p, err
}

// postOf names the post that a comment belongs to.
func (c *client) postOf(ctx context.Context, id string) (string, error) {
	var l listing[comment]
	if _, err := c.api.JSON(ctx, get("api/info").With("id", "t1_"+id), &l); err != nil {
		return "", err
	}
	if l.Data == nil {
		return "", providers.Unreadable(nil)
	}
	for _, t := range l.Data.Children {
		if post := strings.TrimPrefix(t.Data.V.LinkID, "t3_"); t.Kind == "t1" && post != "" {
			return post, nil
		}
	}
	return "", providers.NotFound("no such comment")
}

// further reads the page at p.
func (c *client) further(ctx context.Context, p place) (providers.Page[schema.Comment], error) {
	if p.Open == "" {
		f, err := c.read(ctx, p.Post, p.Comment)
		if err != nil {
			return providers.Page[schema.Comment]{}, err
		}
		at := slices.Index(f.ids, p.Last)
		if at < 0 { // the thread has changed too much
			return providers.Page[schema.Comment]{}, providers.ErrCursor
		}
		p = p.take(f.ids[at+1:])
	}
	now, later := next(strings.Split(p.Open, ","))
	var f *flat
	var err error
	if root, ok := strings.CutPrefix(now[0], "_"); ok {
		f, err = c.read(ctx, p.Post, root)
	} else {
		f, err = c.more(ctx, p.Post, now)
	}
	if err != nil {
		return providers.Page[schema.Comment]{}, err
	}
	open := slices.Concat(f.ids, later) // what was inside comes first, so that the list stays short
	p.Open = strings.Join(open[:min(len(open), queueMost)], ",")
	return f.page(p), nil
}

// next parts ids into those to open now, as many as Reddit opens at once, and the rest. A comment whose replies are
// still to be read takes a request of its own, and waits until no other id is left.
func next(ids []string) (now, later []string) {
	for _, id := range ids {
		if len(now) < batch && !strings.HasPrefix(id, "_") {
			now = append(now, id)
		} else {
			later = append(later, id)
		}
	}
	if len(now) == 0 {
		return ids[:1], ids[1:]
	}
	return now, later
}

// read reads a thread, or what answers the comment root in it.
// https://www.reddit.com/dev/api#GET_comments_{article}
func (c *client) read(ctx context.Context, postID, root string) (*flat, error) {
	r := get("comments", postID)
	if root != "" {
		r = get("comments", postID, "_", root).With("context", "0")
	}
	var answer [2]struct { // the post, its comments
		Data *struct {
			Children []node `json:"children"`
		} `json:"data"`
	}
	if _, err := c.api.JSON(ctx, r.With("sort", "new").With("limit", threadSize), &answer); err != nil {
		return nil, err
	}
	if answer[1].Data == nil {
		return nil, providers.Unreadable(nil)
	}
	f, nodes := &flat{post: postID}, answer[1].Data.Children
	if root != "" {
		if len(nodes) == 0 || nodes[0].Kind != "t1" {
			return nil, providers.NotFound("no such comment")
		}
		var top upstream.Object[comment]
		if err := json.Unmarshal(nodes[0].Data, &top); err != nil {
			return nil, providers.Unreadable(err)
		}
		if top.V.ID != root {
			return nil, providers.NotFound("no such comment")
		}
		nodes = top.V.Replies
	}
	return f, f.add(nodes)
}

// more opens stubs. It is a POST for its length alone: a GET with a hundred ids is refused as too long.
// https://www.reddit.com/dev/api#GET_api_morechildren
func (c *client) more(ctx context.Context, postID string, ids []string) (*flat, error) {
	var answer struct {
		JSON struct {
			Data *struct {
				Things []node `json:"things"` // flat
			} `json:"data"`
		} `json:"json"`
	}
	_, err := c.api.JSON(ctx, upstream.Request{
		Method: "POST", Retry: true, Path: []string{"api/morechildren"},
		Form: map[string][]string{
			"api_type": {"json"}, "link_id": {"t3_" + postID}, "children": {strings.Join(ids, ",")}, "sort": {"new"}, "raw_json": {"1"},
		},
	}, &answer)
	if err != nil {
		return nil, err
	}
	if answer.JSON.Data == nil {
		return nil, providers.Unreadable(nil)
	}
	f := &flat{post: postID}
	return f, f.add(answer.JSON.Data.Things)
}

// flat is a tree of comments in the order of reading.
type flat struct {
	post     string
	comments []upstream.Object[comment]
	ids      []string        // behind the stubs, in order
	answered map[string]bool // fullnames of comments that something answers
}

func (f *flat) add(nodes []node) error {
	if f.answered == nil {
		f.answered = map[string]bool{}
	}
	for _, n := range nodes {
		var err error
		switch n.Kind {
		case "t1":
			err = f.addComment(n.Data)
		case "more":
			err = f.addStub(n.Data)
		}
		if err != nil {
			return providers.Unreadable(err)
		}
	}
	return nil
}

func (f *flat) addComment(b []byte) error {
	var o upstream.Object[comment]
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	f.answered[o.V.ParentID] = true
	f.comments = append(f.comments, o)
	return f.add(o.V.Replies)
}

func (f *flat) addStub(b []byte) error {
	var s stub
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	f.answered[s.ParentID] = true
	for _, id := range s.Children {
		if base36.MatchString(id) {
			f.ids = append(f.ids, id)
		}
	}
	if parent, ok := strings.CutPrefix(s.ParentID, "t1_"); ok && len(s.Children) == 0 && base36.MatchString(parent) {
		f.ids = append(f.ids, "_"+parent)
	}
	return nil
}

// stub stands for comments that were left out. Without children it says "continue this thread" at its parent.
// https://github.com/reddit-archive/reddit/wiki/JSON#more
type stub struct {
	ParentID string   `json:"parent_id"`
	Children []string `json:"children"`
}

func (f *flat) page(next place) providers.Page[schema.Comment] {
	page := providers.Page[schema.Comment]{Next: next.String()}
	for _, o := range f.comments {
		if c := o.V; c.gone() && !f.answered["t1_"+c.ID] {
			continue
		}
		page.Items = append(page.Items, o.V.comment(f.post, o.Raw))
	}
	return page
}

// comment is a t1 of any listing.
// https://github.com/reddit-archive/reddit/wiki/JSON#comment-implements-votable--created
type comment struct {
	ID             string       `json:"id"`
	LinkID         string       `json:"link_id"`
	ParentID       string       `json:"parent_id"` // a comment or the post
	Permalink      string       `json:"permalink"` // absent in old answers
	Author         string       `json:"author"`
	AuthorFullname string       `json:"author_fullname"`
	Body           string       `json:"body"` // Markdown
	CreatedUTC     *float64     `json:"created_utc"`
	Score          upstream.Int `json:"score"`
	ScoreHidden    bool         `json:"score_hidden"`
	Replies        children     `json:"replies"`
}

// gone tells whether nothing is left of c but its place.
func (c comment) gone() bool {
	return (c.Body == deleted || c.Body == removed) && (c.Author == deleted || c.Author == "")
}

func (c comment) comment(postID string, raw []byte) schema.Comment {
	postID = cmp.Or(strings.TrimPrefix(c.LinkID, "t3_"), postID)
	out := schema.Comment{
		Common:    schema.Common{ID: c.ID, URL: permalink(c.Permalink, "/comments/"+postID+"/_/"+c.ID+"/"), Raw: raw},
		PostID:    postID,
		Author:    author(c.Author, c.AuthorFullname),
		Text:      c.Body,
		CreatedAt: instant(c.CreatedUTC),
		Likes:     count(c.Score, c.ScoreHidden),
	}
	if parent, ok := strings.CutPrefix(c.ParentID, "t1_"); ok {
		out.ReplyToID = text.NonEmpty(parent)
	}
	return out
}
