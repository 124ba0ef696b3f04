package mock

import (
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// comments lists the top-level comments on a post.
func (s *sandbox) comments(postID string) (series[schema.Comment], error) {
	return series[schema.Comment]{n: length("comments", postID), at: func(i int) schema.Comment {
		return s.note(child(postID, "comment", i+1)).comment()
	}}, nil
}

func repliesKey(q providers.RepliesQuery) []string { return []string{q.CommentID, q.PostID} }

// replies lists the replies to one comment. A reply has none, so that a conversation ends.
func (s *sandbox) replies(q providers.RepliesQuery) (series[schema.Comment], error) {
	n := length("replies", q.CommentID)
	if _, isReply := answered(q.CommentID); isReply {
		n = 0
	}
	return series[schema.Comment]{n: n, at: func(i int) schema.Comment {
		n := s.note(child(q.CommentID, "reply", i+1))
		if q.PostID != "" && !strings.Contains(q.CommentID, "-comment-") { // the comment's id does not contain its post
			n.Under = q.PostID
		}
		return n.comment()
	}}, nil
}

// note is a comment in the format of the sandbox platform.
type note struct {
	NoteID   string   `json:"note_id"`
	Link     string   `json:"link"`
	Under    string   `json:"under"`   // the id of the post
	Answers  *string  `json:"answers"` // the id of the comment that this one replies to
	By       *account `json:"by"`      // null if the account has been deleted
	Words    string   `json:"words"`
	Language *string  `json:"language"`
	WroteAt  *int64   `json:"wrote_at"` // Unix seconds; null for old ones
	Hearts   *int64   `json:"hearts"`
}

func (g *generator) note(id string) note {
	d, by := roll("comment", id), person(roll("commenter", id).below(cast))
	lang := homeOf(by).lang
	n := note{
		NoteID:   id,
		Link:     g.page("comments", id),
		Under:    postOf(id),
		By:       hide(d, 5, g.account(by)),
		Words:    pick(d, remarks[lang]),
		Language: hide(d, 40, lang),
		WroteAt:  hide(d, 4, g.wroteAt(id)),
		Hearts:   hide(d, 15, int64(d.below(800))),
	}
	if above, ok := answered(id); ok {
		n.Answers = &above
	}
	if d.often(15) {
		n.Words += " @" + owner(n.Under)
	}
	return n
}

// answered returns the comment that the one with this id replies to, if any.
func answered(id string) (above string, ok bool) {
	i := strings.LastIndex(id, "-reply-")
	if i < 0 {
		return "", false
	}
	return id[:i], true
}

// postOf returns the post of a comment. An id that does not contain one selects one.
func postOf(id string) string {
	if post, _, ok := strings.Cut(id, "-comment-"); ok {
		return post
	}
	id, _, _ = strings.Cut(id, "-reply-")
	handle, n := origin(id)
	return child(handle, "post", n)
}

// wroteAt dates the comments of a post, newest first, within the nine hours after it, and each reply directly after its
// comment.
func (g *generator) wroteAt(id string) int64 {
	_, n := origin(id)
	if above, ok := answered(id); ok {
		return g.wroteAt(above) + int64(5*n)
	}
	after := 9 * time.Hour * time.Duration(max(1, 60-n)) / 60
	return g.postedAt(postOf(id)) + int64(after.Seconds())
}

func (n note) comment() schema.Comment {
	c := schema.Comment{
		Common:    common(n.NoteID, n.Link, n),
		PostID:    n.Under,
		Author:    schema.UnknownActor(),
		Text:      n.Words,
		Lang:      n.Language,
		CreatedAt: atOrNil(n.WroteAt),
		Likes:     n.Hearts,
		ReplyToID: n.Answers,
	}
	if n.By != nil {
		c.Author = n.By.actor()
	}
	return c
}
