// Package conversation reads the comments on a post and all replies to them, in thread order.
package conversation

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/typed"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Most bounds a run of [Of].
type Most struct {
	// Rows is the most comments and replies that are yielded; 0 is no limit.
	Rows int
	// Credits is the most that the run costs; 0 is no limit. It ends with [ErrMostCredits] where the next page may cost
	// more than what is left.
	Credits int64
	// Progress is updated before each item is yielded. A run with the progress of an earlier one begins behind the last
	// item of that, and reads nothing again that was charged. The zero Progress, and nil, are the beginning.
	Progress *Progress
}

// ErrMostCredits is wrapped by the error of a conversation that has reached [Most].Credits.
var ErrMostCredits = errors.New("conversation: it has reached its highest price")

// Progress is how far a conversation has been read, by all runs together. It can be stored as JSON, which
// holds the comments that were read and not yielded yet.
type Progress struct {
	Rows    int64 `json:"rows"`    // comments and replies that were yielded
	Credits int64 `json:"credits"` // that were charged
	Done    bool  `json:"done"`    // all of it was yielded

	state
}

// state is the place in a conversation.
type state struct {
	Platform platform.ID            `json:"platform"`
	PostID   string                 `json:"post_id"`
	Lists    []*commentList         `json:"lists,omitempty"`    // that are being read, the deepest last
	Depths   map[string]int64       `json:"depths,omitempty"`   // of the comments that were read, by id; pending until they are yielded
	Ahead    map[string]commentPage `json:"ahead,omitempty"`    // first pages of replies, by the id of their comment
	Unserved bool                   `json:"unserved,omitempty"` // the platform lists no replies
}

// pending is the depth of a comment that is not yielded yet.
const pending = -1

// commentList is a list of comments that is being read.
type commentList struct {
	Of    string           `json:"of"`             // the id of the comment whose replies they are; "" for the comments on the post
	Rows  []schema.Comment `json:"rows,omitempty"` // that were read and are not yielded yet, in thread order
	Next  string           `json:"next,omitempty"` // the cursor of the next page
	Begun bool             `json:"begun,omitempty"`
	Idle  int              `json:"idle,omitempty"` // pages in a row without a new comment
}

func (l *commentList) ended() bool { return l.Begun && l.Next == "" }

// commentPage is a page of a list, or why it cannot be read.
type commentPage struct {
	Comments []schema.Comment `json:"comments"`
	Next     string           `json:"next,omitempty"`

	credits int64
	err     error
}

// repliesAtOnce is how many lists of replies of one conversation are read concurrently.
const repliesAtOnce = 8

// Of yields the comments on a post and the replies to them, each once and before its replies. Where a platform
// lists all depths together, the list is read to its end, or to Most.Rows, before its first comment is yielded. A reply
// that is on a later page than the next comment of its parent's list comes behind that, with its own parent and depth.
//
// Each page of a list is a call with its own price, to which the options of req apply. The lists of replies to up to 8
// comments are read at a time: a caller who breaks pays for those too, and Most.Progress keeps what they return.
//
// Replies that cannot be read are named by an item with a problem, and the conversation goes on behind them; if the
// platform lists no replies at all, there is one such item. A conversation ends with an error, which is then the last
// pair, when the comments on the post cannot be read, when the account's credits or rate limit are used up, and at
// Most.Credits. Most.Progress goes on there; without it, what was read by then is yielded before the error.
//
//	req := socialdata.PostRequest{Platform: platform.HackerNews, ID: "8863"}
//	for item, err := range conversation.Of(ctx, client, req, conversation.Most{Credits: 100}) {
//		…
//	}
func Of(
	ctx context.Context, r socialdata.Reader, req socialdata.PostRequest, most Most,
) iter.Seq2[schema.ConversationItem, error] {
	return func(yield func(schema.ConversationItem, error) bool) {
		c := &run{ctx: ctx, reader: r, req: req, most: most, p: most.Progress, inFlight: map[string]chan commentPage{}}
		if err := c.begin(); err != nil {
			yield(schema.ConversationItem{}, err)
			return
		}
		defer c.land()
		for !c.p.Done && (most.Rows == 0 || c.rows < most.Rows) {
			item, err := c.step()
			if err != nil {
				yield(schema.ConversationItem{}, err)
				return
			}
			if item != nil && !yield(*item, nil) {
				return
			}
		}
	}
}

// run is a run of [Of].
type run struct {
	ctx      context.Context //nolint:containedctx // of the iterator
	reader   socialdata.Reader
	req      socialdata.PostRequest
	most     Most
	p        *Progress
	inFlight map[string]chan commentPage // pages that are being read, by the id of the list's comment
	price    int64                       // the highest of a page; 0 without a limit
	spent    int64                       // credits, by this run
	rows     int                         // yielded by this run
	served   bool                        // the platform lists replies
	failed   error                       // why no more is read
}

// begin checks the request, and prices a page if there is a limit.
func (c *run) begin() error {
	if c.p == nil {
		c.p = &Progress{}
	}
	switch {
	case c.req.Region != "":
		return problem.New(problem.InvalidRequest, "Region cannot be set: comments do not take it")
	case c.p.PostID == "":
		c.p.Platform, c.p.PostID, c.p.Lists = c.req.Platform, c.req.ID, []*commentList{{}}
	case c.p.Platform != c.req.Platform || c.p.PostID != c.req.ID:
		return problem.New(problem.InvalidRequest, "the progress is that of %s on %s", c.p.PostID, c.p.Platform)
	}
	if c.p.Depths == nil {
		c.p.Depths = map[string]int64{}
	}
	if c.p.Ahead == nil {
		c.p.Ahead = map[string]commentPage{}
	}
	if c.most.Credits == 0 || c.p.Done {
		return nil
	}
	options := c.req.ReadOptions
	options.MaxCredits = 0
	req := socialdata.CommentsRequest{Platform: c.req.Platform, PostID: c.req.ID, ReadOptions: options}
	price, err := estimate(c, "comments", &req)
	c.price = price
	return err
}

// estimate returns the highest price of a call of an operation.
func estimate[Req any](c *run, name string, req *Req) (int64, error) {
	o := socialdata.Operation(name)
	got, err := c.reader.Estimate(c.ctx, socialdata.EstimateRequest{Of: o.Target(operation.CallOf(o, req))})
	if err != nil {
		return 0, err
	}
	return got.Data.Credits.Most, nil
}

// step yields the next comment, or reads a page, whose item is that of a failure, or nil.
func (c *run) step() (*schema.ConversationItem, error) {
	if len(c.p.Lists) == 0 {
		c.p.Done = c.failed == nil
		return nil, c.failed
	}
	list := c.p.Lists[len(c.p.Lists)-1]
	switch {
	case c.readsOn(list):
		return c.read(list), nil
	case len(list.Rows) > 0:
		c.readAhead()
		return c.take(list), nil
	case c.failed != nil && c.most.Progress != nil:
		return nil, c.failed
	}
	c.p.Lists = c.p.Lists[:len(c.p.Lists)-1]
	return nil, nil
}

// readsOn reports whether a page of the list is read before its next row is yielded.
func (c *run) readsOn(list *commentList) bool {
	if list.ended() || c.failed != nil && !c.knows(list.Of) {
		return false
	}
	return len(list.Rows) == 0 || list.Of == "" && c.replies() == platform.RepliesInComments &&
		(c.most.Rows == 0 || len(list.Rows) < c.most.Rows-c.rows)
}

// knows reports whether the first page of a list is read, or being read.
func (c *run) knows(of string) bool {
	_, read := c.p.Ahead[of]
	return read || c.inFlight[of] != nil
}

// take returns the item of the next row of a list, and opens the list of the replies to it.
func (c *run) take(list *commentList) *schema.ConversationItem {
	comment := list.Rows[0]
	list.Rows = list.Rows[1:]
	item := &schema.ConversationItem{Data: &comment}
	parent := list.Of
	if above := comment.ReplyToID; above != nil {
		if depth, read := c.p.Depths[*above]; read && depth != pending {
			parent = *above
		}
	}
	if parent != "" {
		item.ParentID, item.Depth = &parent, c.p.Depths[parent]+1
	}
	c.p.Depths[comment.ID] = item.Depth
	if c.asks(list, &comment) {
		c.p.Lists = append(c.p.Lists, &commentList{Of: comment.ID})
	}
	c.p.Rows++
	c.rows++
	return item
}

// asks reports whether the replies to a row of a list have a list of their own.
func (c *run) asks(list *commentList, row *schema.Comment) bool {
	switch on := c.replies(); {
	case c.p.Unserved:
		return false
	case on == platform.RepliesFlat:
		return list.Of == "" && row.ReplyToID == nil
	case c.req.Platform == platform.X: // X lists only the direct replies to a post that is a reply itself, to another post
		return !strings.Contains(c.req.ID, row.PostID)
	default:
		return on == platform.RepliesOfEach
	}
}

// replies says which lists have the replies. That of a platform that is not built in is not known here.
func (c *run) replies() platform.Replies {
	info, _ := platform.Lookup(c.req.Platform)
	return info.Replies
}

// readAhead begins to read the replies to the rows that come next.
func (c *run) readAhead() {
	if !c.served || c.failed != nil {
		return
	}
	next := 0
	for _, list := range slices.Backward(c.p.Lists) {
		for i := range list.Rows {
			next++
			if next > repliesAtOnce || len(c.inFlight) == repliesAtOnce || c.most.Rows > 0 && next >= c.most.Rows-c.rows {
				return
			}
			if id := list.Rows[i].ID; !c.knows(id) && c.asks(list, &list.Rows[i]) && !c.start(id, "") {
				return
			}
		}
	}
}

// start begins to read a page, unless it may cost too much.
func (c *run) start(of, at string) bool {
	if c.most.Credits > 0 && c.spent+int64(len(c.inFlight)+1)*c.price > c.most.Credits {
		return false
	}
	landed := make(chan commentPage, 1)
	c.inFlight[of] = landed
	go func() { landed <- c.page(of, at) }()
	return true
}

// landed waits for a page that is being read.
func (c *run) landed(of string) commentPage {
	page := <-c.inFlight[of]
	delete(c.inFlight, of)
	c.spent += page.credits
	c.p.Credits += page.credits
	return page
}

// land waits for all pages that are being read, and keeps those that were charged.
func (c *run) land() {
	for of := range maps.Clone(c.inFlight) {
		if page := c.landed(of); page.err == nil {
			c.p.Ahead[of] = page
		}
	}
}

// page reads a page of the comments on the post, or of the replies to one.
func (c *run) page(of, at string) commentPage {
	options := c.req.ReadOptions
	options.IdempotencyKey = typed.PageKey(options.IdempotencyKey, of+"|"+at)
	if c.price > 0 && (options.MaxCredits == 0 || options.MaxCredits > c.price) {
		options.MaxCredits = c.price
	}
	var got *schema.Envelope[[]schema.Comment]
	var err error
	if of == "" {
		got, err = c.reader.Comments(c.ctx, socialdata.CommentsRequest{
			Platform: c.req.Platform, PostID: c.req.ID, Page: socialdata.Page{Cursor: at}, ReadOptions: options,
		})
	} else {
		got, err = c.reader.Replies(c.ctx, socialdata.RepliesRequest{
			Platform: c.req.Platform, CommentID: of, PostID: c.req.ID, Page: socialdata.Page{Cursor: at}, ReadOptions: options,
		})
	}
	if err != nil {
		return commentPage{err: err}
	}
	return commentPage{Comments: got.Data, Next: got.Meta.NextCursor, credits: got.Meta.CreditsUsed}
}

// read reads the next page of a list. It returns an item if that has failed and the conversation goes on.
func (c *run) read(list *commentList) *schema.ConversationItem {
	if list.Of != "" && !c.served {
		if err := c.serves(list.Of); err != nil {
			c.p.Unserved = errors.Is(err, problem.PlatformUnavailable)
			return c.give(list, err)
		}
	}
	page, known := c.p.Ahead[list.Of]
	if !known {
		if !c.knows(list.Of) && !c.start(list.Of, list.Next) {
			if len(c.inFlight) > 0 { // what they do not cost may be enough
				c.land()
				return nil
			}
			c.failed = problem.Wrap(ErrMostCredits, problem.InsufficientCredits,
				"the next page may cost %d credits, and %d of %d are spent", c.price, c.spent, c.most.Credits)
			return nil
		}
		c.readAhead()
		page = c.landed(list.Of)
	}
	delete(c.p.Ahead, list.Of)
	if page.err != nil {
		return c.give(list, page.err)
	}
	list.Begun, list.Next = true, page.Next
	list.Idle++
	for _, comment := range page.Comments {
		if _, read := c.p.Depths[comment.ID]; !read {
			c.p.Depths[comment.ID] = pending
			list.Rows, list.Idle = append(list.Rows, comment), 0
		}
	}
	if list.Rows = threaded(list.Rows); list.Idle > typed.MostIdle {
		list.Next = ""
	}
	return nil
}

// serves returns an error if a call for the replies to a comment would fail whatever the platform answers.
func (c *run) serves(id string) error {
	req := socialdata.RepliesRequest{Platform: c.req.Platform, CommentID: id, PostID: c.req.ID}
	_, err := estimate(c, "replies", &req)
	c.served = err == nil
	return err
}

// give gives a list of replies up and returns the item that names it, or ends the run if no other call would succeed.
func (c *run) give(list *commentList, err error) *schema.ConversationItem {
	p, isProblem := errors.AsType[*problem.Error](err)
	if list.Of == "" || c.ctx.Err() != nil || !isProblem ||
		slices.Contains([]problem.Code{problem.InsufficientCredits, problem.Unauthorized, problem.RateLimited}, p.Code) {
		c.failed = err
		return nil
	}
	list.Begun, list.Next = true, ""
	return &schema.ConversationItem{Depth: c.p.Depths[list.Of] + 1, ParentID: &list.Of, Problem: p}
}

// threaded returns comments with each before the replies to it, otherwise in their order.
func threaded(comments []schema.Comment) []schema.Comment {
	at, replies := map[string]bool{}, map[string][]int{}
	for i := range comments {
		at[comments[i].ID] = true
	}
	var first []int
	for i := range comments {
		if to := comments[i].ReplyToID; to != nil && at[*to] {
			replies[*to] = append(replies[*to], i)
		} else {
			first = append(first, i)
		}
	}
	out, done := make([]schema.Comment, 0, len(comments)), make([]bool, len(comments))
	var add func(rows []int)
	add = func(rows []int) {
		for _, i := range rows {
			if !done[i] {
				done[i] = true
				out = append(out, comments[i])
				add(replies[comments[i].ID])
			}
		}
	}
	add(first)
	for i := range comments { // replies in a circle
		add([]int{i})
	}
	return out
}
