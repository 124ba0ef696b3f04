package read

import (
	"slices"
	"strings"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// Query is a read that has been checked and priced. It is made by a plan and read only from then on.
type Query struct {
	Row      *Row
	Platform platform.ID
	In       operation.Args
	Bound    string // what its cursors are bound to
	Raw      bool   // each object's raw is asked for
	Fresh    bool   // the cache is not
	Enrich   bool
	Typed    bool // the answer is for a caller in this process, who wants a Go value where that can be had
	Quote    credits.Quote

	pasted providers.Pasted    // how the caller named things, where that is not canonical
	from   []*upstreams.Source // who may serve it, first choice first
	at     cursor.Cursor       // where the walk stands; zero for the first page
	key    string              // of the cache
	room   [6]string           // where the values of In stand when they are few

	// Blank is where the answer of the one call that q was planned for is put together: one piece of memory with q.
	Blank operation.Answer
}

// Probed returns the platforms that the parameter platforms names beside the call's own, each once, in order. An unknown
// one is an invalid_request problem.
func (r *Reader) Probed(q *Query) ([]platform.ID, error) {
	var out []platform.ID
	list := q.In.Get("platforms")
	if list == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		id := platform.ID(strings.TrimSpace(word))
		if !r.platforms.Has(id) {
			return nil, r.NoPlatform(problem.InvalidRequest, `parameter "platforms": `, word)
		}
		if id != q.Platform && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// ContinueAt makes q the page that a cursor points to.
func (q *Query) ContinueAt(at *cursor.Cursor) error {
	q.at = *at
	q.key += "|" + at.Text()
	return q.stick()
}

// stick leaves only the provider that issued the cursor, if there is one: page two never switches upstream.
func (q *Query) stick() error {
	if q.at.Provider == "" || q.from == nil {
		return nil
	}
	if q.from = q.issuers(&q.at); q.from != nil {
		return nil
	}
	return problem.New(problem.InvalidRequest,
		"parameter \"cursor\": who issued it is not configured any more; start again without it")
}

// issuers returns who may read the page at a place: all who serve the operation, or who issued the cursor.
func (q *Query) issuers(at *cursor.Cursor) []*upstreams.Source {
	if at.Provider == "" {
		return q.from
	}
	for i, s := range q.from {
		if s.Provider.Name == at.Provider {
			return q.from[i : i+1 : i+1]
		}
	}
	return nil
}
