package read

import (
	"context"
	"errors"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/internal/erasure"
	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// withheld is the text of the problem for an account or object that the operator has blocked.
const withheld = "withheld at the request of its owner"

// withheldError means that the requested object is withheld.
type withheldError struct{ names []privacy.Name } // those that are blocked

// Error implements error.
func (*withheldError) Error() string { return withheld }

// errWithheld returns the error of an object that is withheld: callers get not_found.
func errWithheld(names []privacy.Name) error {
	return &providers.Error{
		Kind: providers.ErrNotFound, Detail: withheld, Blame: providers.BlameNone, Err: &withheldError{names},
	}
}

// withheldFor returns the blocked names for which an object was withheld; nil when err has another reason.
func withheldFor(err error) []privacy.Name {
	if e, ok := errors.AsType[*withheldError](err); ok {
		return e.names
	}
	return nil
}

// permit refuses a read whose parameters name a blocked account or object.
func (p *Planner) permit(q *Query) error {
	h := p.cfg.Erased.Hasher()
	if h == nil || !p.cfg.Erased.Blocking() {
		return nil
	}
	var marks privacy.Marks
	for i := range q.In.Params {
		marks += privacy.MarksOf(named(h, q, i))
		if q.In.Params[i].Subject == providers.Handle {
			marks += h.Called(q.Platform, q.In.Values[i]) // some platforms take the id of an account as well
		}
	}
	if q.Row.Unsigned() {
		for _, address := range q.pasted {
			marks += p.addressed(h, address)
		}
	}
	if p.cfg.Erased.Blocked(marks) {
		return problem.New(problem.NotFound, withheld)
	}
	return nil
}

// named returns the name of the account or of the object that a parameter of q names; 0 for none.
func named(h *privacy.Hasher, q *Query, param int) privacy.Name {
	switch v := q.In.Values[param]; q.In.Params[param].Subject {
	case "":
		return 0
	case providers.Handle:
		return h.HandleName(q.Platform, v)
	default:
		return h.ObjectName(q.Platform, v)
	}
}

// permitRaw refuses a raw read whose path or query names a blocked account or object, in any form that the platform
// takes.
func (p *Planner) permitRaw(q *Query, route providers.Route) error {
	h := p.cfg.Erased.Hasher()
	if h == nil || !p.cfg.Erased.Blocking() {
		return nil
	}
	var values []string
	pattern := strings.Split(route.Pattern, "/")
	for i, segment := range strings.Split(q.In.Get("path"), "/") {
		if strings.HasPrefix(pattern[i], "{") {
			values = append(values, segment, strings.TrimSuffix(segment, path.Ext(segment)))
		}
	}
	if forwarded, err := url.ParseQuery(q.In.Get("query")); err == nil {
		for _, list := range forwarded {
			for _, v := range list {
				values = append(append(append(values, v), strings.Split(v, ",")...), words(v)...)
			}
		}
	}
	var marks privacy.Marks
	for _, v := range values {
		marks += p.called(h, q.Platform, v)
	}
	if p.cfg.Erased.Blocked(marks) {
		return problem.New(problem.NotFound, withheld)
	}
	return nil
}

// words returns the parts of text that may be a name.
func words(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_.-", c)
	})
}

// namedBy returns the marks of the accounts and objects that the parameters of q name.
func namedBy(erased *erasure.Keeper, q *Query) privacy.Marks {
	h := erased.Hasher()
	if h == nil {
		return privacy.MarksOf(privacy.Anything)
	}
	var names []privacy.Name
	for i := range q.In.Params {
		names = append(names, named(h, q, i)) // MarksOf leaves out 0
	}
	return privacy.MarksOf(names...)
}

// subjects returns the marks of everyone whom an answer to q concerns: in its data, in the parameters of q, and in what
// was left out.
func subjects(erased *erasure.Keeper, q *Query, got *Fetched) privacy.Marks {
	marks := got.marks
	if marks == "" {
		marks = erased.Marks(got.Data)
	}
	marks += namedBy(erased, q)
	switch h := erased.Hasher(); {
	case h == nil:
	case q.Row.Unsigned(), !q.Row.Upstream(): // it may be about anyone, as may the enrichment of a text
		marks += privacy.MarksOf(privacy.Anything)
	}
	for _, name := range got.Withheld {
		marks += privacy.MarksOf(name.Withheld())
	}
	return marks
}

// withhold removes the objects of blocked accounts from what was read. If that is a single object or a raw answer, it
// returns the error of an absence. If objects of a page are removed, so is the raw of the page.
func (r *Reader) withhold(ctx context.Context, q *Query, got *Fetched) error {
	if !r.cfg.Erased.Blocking() || len(got.Data) == 0 {
		return nil
	}
	marks := r.cfg.Erased.Marks(got.Data)
	if q.Row.Unsigned() {
		owner, err := r.owner(ctx, q, got.Data)
		if err != nil {
			return err
		}
		marks += owner
	}
	if !r.cfg.Erased.Blocked(marks) {
		got.marks = marks // so that they are computed once
		return nil
	}
	if got.Data[0] != '[' || q.Row.Unsigned() {
		got.giveUp()
		return errWithheld(r.cfg.Erased.BlockedAmong(marks))
	}
	objects := jsontext.Elements(got.Data)
	if objects == nil {
		return nil // not an array in our own encoding
	}
	data, raw, ids := []byte("["), got.Raw[:0:0], got.IDs[:0:0]
	for i, o := range objects {
		if names := r.cfg.Erased.BlockedAmong(r.cfg.Erased.Marks(o)); names != nil {
			got.Withheld = append(got.Withheld, names...)
			got.LeftOut++
			r.cfg.Observer.Drift(observe.Drift{Platform: q.Platform, Operation: q.Row.Name, Field: "withheld", LeftOut: true})
			continue
		}
		if len(data) > 1 {
			data = append(data, ',')
		}
		data = append(data, o...)
		if i < len(got.Raw) {
			raw = append(raw, got.Raw[i])
		}
		if i < len(got.IDs) {
			ids = append(ids, got.IDs[i])
		}
	}
	if len(got.Withheld) > 0 {
		got.Data, got.Raw, got.IDs, got.Page = append(data, ']'), raw, ids, nil
		got.giveUp()
	}
	return nil
}

// giveUp drops the upstream's answer, which contains what is withheld, if it is stored.
func (f *Fetched) giveUp() {
	if f.forget != nil {
		f.forget()
	}
}
