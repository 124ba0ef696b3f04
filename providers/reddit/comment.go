package reddit

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// comments reads a post's comments at every level, each reply after its comment.
func (c *client) comments(ctx context.Context, postID, cursor string) (providers.Page[schema.Comment], error) {
	return c.replies(ctx, providers.RepliesQuery{PostID: postID}, cursor)
}

const (
	threadSize = "100" // comments on a thread's first page
	batch      = 100   // ids in one request to Reddit
	queue      = 200   // ids of a thread that are stored in a cursor at a time
	queueMost  = 500   // the maximum number of ids in a cursor, which keeps it under 5 kB
)

// place is a position in a thread. A large thread has stubs in place of most of its comments, with the ids of those. A
// cursor contains some of the ids; the others are found by reading the thread again.
type place struct {
	Post    string `json:"p"`
	Comment string `json:"c,omitempty"` // the comment whose replies are read; "" for the whole thread
	Open    string `json:"o,omitempty"` // ids to request, with commas; _ marks a comment whose replies are requested
	Last    string `json:"l,omitempty"` // the last of the thread's ids that was stored; "" if all were
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

// take returns p with the next ids of the thread.
func (p place) take(ids []string) place {
	p.Last = ""
	if len(ids) > queue {
		ids = ids[:queue]
		p.Last = ids[queue-1]
	}
	p.Open = strings.Join(ids, ",")
	return p
}

// replies reads the replies to one comment, at every level; without a comment, all replies to the post.
func (c *client) replies(
	ctx context.Context, q providers.RepliesQuery, cursor string,
) (providers.Page[schema.Comment], error) {
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
	return f.page(p.take(f.ids))
}

// begin returns a place with the ids of the post and the comment.
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

// postOf returns the post that a comment belongs to.
func (c *client) postOf(ctx context.Context, id string) (string, error) {
	found, err := single(ctx, c, "t1", "comment", id, func(e entity) wire.ID { return e.ID })
	if err != nil {
		return "", err
	}
	post := strings.TrimPrefix(found.V.LinkID, "t3_")
	return post, wire.Need(ctx, "data.link_id", post != "")
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
	if err := wire.Need(ctx, "children", now[0] != unreadable); err != nil {
		return providers.Page[schema.Comment]{}, err
	}
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
	open := slices.Concat(f.ids, later) // nested ids come first, so that the list stays short
	p.Open = strings.Join(open[:min(len(open), queueMost)], ",")
	return f.page(p)
}

// unreadable is put into a list of ids in place of ids that are missing from a stub. It keeps a walk from ending as if
// there were no more.
const unreadable = "?"

// next splits ids into those to request now, up to Reddit's maximum, and the rest. A comment whose replies are to be
// read needs a request of its own, and comes after all other ids; unreadable comes last.
func next(ids []string) (now, later []string) {
	var roots, odd []string
	for _, id := range ids {
		switch {
		case id == unreadable:
			odd = []string{id}
		case strings.HasPrefix(id, "_"):
			roots = append(roots, id)
		case len(now) < batch:
			now = append(now, id)
		default:
			later = append(later, id)
		}
	}
	later = slices.Concat(later, roots, odd)
	if len(now) == 0 {
		return later[:1], later[1:]
	}
	return now, later
}

// read reads a thread, or the replies to the comment root in it.
// https://www.reddit.com/dev/api#GET_comments_{article}
func (c *client) read(ctx context.Context, postID, root string) (*flat, error) {
	r := get("comments", postID)
	if root != "" {
		r = get("comments", postID, "_", root).With("context", "0")
	}
	var answer wire.Rows[branch] // the post and its comments
	if _, err := c.api.Read(ctx, r.With("sort", "new").With("limit", threadSize), &answer); err != nil {
		return nil, err
	}
	if err := wire.Need(ctx, "post and comments", answer.Len() == 2 && answer.Lost() == 0); err != nil {
		return nil, err
	}
	var both []branch
	for _, b := range answer.All() {
		both = append(both, b.V)
	}
	for _, t := range both[0].Data.Children.All() {
		if err := wire.Same(ctx, "post", postID, string(t.V.Data.V.ID)); err != nil {
			return nil, err
		}
	}
	comments := both[1]
	if root != "" {
		top, err := comments.only(ctx, root)
		if err != nil {
			return nil, err
		}
		comments = top.Replies.V
		if !top.Replies.readable() {
			return nil, wire.Need(ctx, "data.replies", false)
		}
		if top.Replies.none {
			return newFlat(postID, true), nil
		}
	}
	f := newFlat(postID, true)
	return f, f.list(ctx, "data.children", comments.Data.Children)
}

// only returns the first comment of a listing, which must be the requested one.
func (b branch) only(ctx context.Context, id string) (entity, error) {
	if err := b.Data.Children.Check(ctx, "data.children"); err != nil {
		return entity{}, err
	}
	for _, t := range b.Data.Children.All() {
		return t.V.Data.V, wire.Same(ctx, "comment", id, string(t.V.Data.V.ID))
	}
	return entity{}, providers.NotFound("no such comment")
}

// more requests the comments of stubs. It is a POST because a GET with a hundred ids is refused as too long.
// https://www.reddit.com/dev/api#GET_api_morechildren
func (c *client) more(ctx context.Context, postID string, ids []string) (*flat, error) {
	var answer struct {
		JSON struct {
			Data struct {
				Things wire.Rows[thing[entity]] `json:"things"` // not nested
			} `json:"data"`
		} `json:"json"`
	}
	_, err := c.api.Read(ctx, upstream.Request{
		Method: "POST", Retry: true, Path: []string{"api/morechildren"},
		Form: map[string][]string{
			"api_type": {"json"}, "link_id": {"t3_" + postID}, "children": {strings.Join(ids, ",")}, "sort": {"new"}, "raw_json": {"1"},
		},
	}, &answer)
	if err != nil {
		return nil, err
	}
	f := newFlat(postID, false)
	return f, f.list(ctx, "json.data.things", answer.JSON.Data.Things)
}

// flat is a tree of comments as a list: each comment before its replies.
type flat struct {
	post     string
	tree     bool // replies are nested in their comments
	comments []wire.Object[entity]
	ids      []string        // from the stubs, in order
	answered map[string]bool // fullnames of comments with replies
	lost     int             // number of unreadable things
}

func newFlat(post string, tree bool) *flat {
	return &flat{post: post, tree: tree, answered: map[string]bool{}}
}

// list adds the rows of the list with that name, which is required.
func (f *flat) list(ctx context.Context, name string, rows wire.Rows[thing[entity]]) error {
	if err := rows.Check(ctx, name); err != nil {
		return err
	}
	f.add(rows)
	return nil
}

func (f *flat) add(rows wire.Rows[thing[entity]]) {
	f.lost += rows.Lost()
	for _, t := range rows.All() {
		f.addThing(t.V)
	}
}

func (f *flat) addThing(t thing[entity]) {
	switch e := t.Data; {
	case e.Raw == nil && t.Kind == "more":
		f.ids = append(f.ids, unreadable)
	case e.Raw == nil:
		f.lost++
	case t.Kind == "t1", t.Kind == "" && !e.V.Children.Here():
		f.addComment(e)
	case t.Kind == "more", t.Kind == "":
		f.addStub(e.V)
	case !kinds[t.Kind]:
		f.lost++
	}
}

// addComment adds a comment and its replies. If the replies cannot be read, they are requested later, as those of deep
// comments are.
func (f *flat) addComment(e wire.Object[entity]) {
	f.answered[e.V.ParentID] = true
	f.comments = append(f.comments, e)
	switch r := e.V.Replies; {
	case !f.tree || r.none:
	case r.readable():
		f.add(r.V.Data.Children)
	case base36.MatchString(string(e.V.ID)):
		f.ids = append(f.ids, "_"+string(e.V.ID))
	default:
		f.ids = append(f.ids, unreadable)
	}
}

func (f *flat) addStub(s entity) {
	f.answered[s.ParentID] = true
	rest := s.Children.Lost() > 0 || !s.Children.Here()
	for _, id := range s.Children.All() {
		if base36.MatchString(string(id.V)) {
			f.ids = append(f.ids, string(id.V))
		} else {
			rest = true
		}
	}
	parent, ok := strings.CutPrefix(s.ParentID, "t1_")
	switch empty := s.Children.Len() == 0 && !rest; {
	case empty && ok && base36.MatchString(parent):
		f.ids = append(f.ids, "_"+parent)
	case rest, empty && s.ID == "_":
		f.ids = append(f.ids, unreadable)
	}
}

// page returns what has been read, with a cursor for next.
func (f *flat) page(next place) (page providers.Page[schema.Comment], err error) {
	page.Next = next.String()
	for _, o := range f.comments {
		if c := o.V; c.gone() && !f.answered["t1_"+string(c.ID)] {
			continue
		}
		page.Items = append(page.Items, o.V.comment(f.post, o.Raw))
	}
	return page, wire.Understood("data.children", len(page.Items), f.lost)
}

// branch is a listing of the replies to a post or comment.
type branch struct {
	Data struct {
		Children wire.Rows[thing[entity]] `json:"children"`
	} `json:"data"`
}

// replies is a branch, or an empty string if there are no replies.
type replies struct {
	wire.Object[branch]
	none bool
}

// UnmarshalJSON never fails.
func (r *replies) UnmarshalJSON(b []byte) error {
	*r = replies{none: string(b) == `""`}
	if r.none {
		return nil
	}
	return r.Object.UnmarshalJSON(b)
}

func (r *replies) readable() bool { return r.none || r.V.Data.Children.Here() }

// entity is a t1 in any listing, or a stub. A stub replaces omitted comments; without children it is the "continue this
// thread" link of its parent.
// https://github.com/reddit-archive/reddit/wiki/JSON#comment-implements-votable--created
type entity struct {
	ID             wire.ID    `json:"id"`
	LinkID         string     `json:"link_id"`
	ParentID       string     `json:"parent_id"` // the fullname of a comment or of the post
	Permalink      string     `json:"permalink"` // absent in old answers
	Author         string     `json:"author"`
	AuthorFullname string     `json:"author_fullname"`
	Body           string     `json:"body"` // Markdown
	CreatedUTC     wire.Time  `json:"created_utc"`
	Score          wire.Score `json:"score"`
	ScoreHidden    wire.Bool  `json:"score_hidden"`
	Replies        replies    `json:"replies"`

	Children wire.Rows[wire.ID] `json:"children"` // only in a stub
}

// gone reports whether a comment is only a placeholder.
func (e entity) gone() bool {
	return (e.Body == deleted || e.Body == removed || e.Body == "") && (e.Author == deleted || e.Author == "")
}

func (e entity) comment(postID string, raw json.RawMessage) schema.Comment {
	postID = cmp.Or(strings.TrimPrefix(e.LinkID, "t3_"), postID)
	page := permalink(e.Permalink, "/comments/"+postID+"/_/"+string(e.ID)+"/")
	out := schema.Comment{
		Common:    schema.Common{ID: string(e.ID), URL: page, Raw: raw},
		PostID:    postID,
		Author:    author(e.Author, e.AuthorFullname),
		Text:      e.Body,
		CreatedAt: e.CreatedUTC.V,
		Likes:     shown(e.Score, e.ScoreHidden),
	}
	if parent, ok := strings.CutPrefix(e.ParentID, "t1_"); ok {
		out.ReplyToID = text.NonEmpty(parent)
	}
	return out
}

// ParseComment converts a t1, without its envelope and its replies, in the thread of a post. The error wraps
// [providers.ErrUnavailable], or [providers.ErrNotFound] if the comment is only a placeholder.
// https://github.com/reddit-archive/reddit/wiki/JSON#comment-implements-votable--created
func ParseComment(ctx context.Context, postID string, raw json.RawMessage) (schema.Comment, error) {
	var e struct {
		entity
		Replies json.RawMessage `json:"replies"`
	}
	if err := wire.Decode(ctx, raw, &e); err != nil {
		return schema.Comment{}, err
	}
	if e.gone() {
		return schema.Comment{}, providers.NotFound("this comment was deleted")
	}
	return e.comment(postID, raw), nil
}
