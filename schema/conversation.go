package schema

import "github.com/socialdata/socialdata/problem"

// ConversationItem is a row of a conversation: a comment, or the problem that has ended the list of the replies to one.
type ConversationItem struct {
	Depth    int64          `json:"depth" min:"0"` // 0 for a comment on the post, 1 for a reply to one, and so on
	ParentID *string        `json:"parent_id"`     // the id of the comment of an earlier row that it replies to; null at depth 0
	Data     *Comment       `json:"data"`          // the comment; null if there is a problem
	Problem  *problem.Error `json:"problem"`       // why the other replies to the parent are missing; null if there is a comment
}
