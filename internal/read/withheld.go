package read

import (
	"errors"
	"net/url"
	"strings"
	"unicode"

	"github.com/socialdata/socialdata/internal/erasure"
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
func permit(erased *erasure.Keeper, q *Query) error {
	h := erased.Hasher()
	if h == nil || !erased.Blocking() {
		return nil
	}
	for i := range q.In.Params {
		if name := named(h, q, i); name != 0 && erased.BlockedName(name) {
			return problem.New(problem.NotFound, withheld)
		}
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

// permitRaw refuses a raw read whose path or query names a blocked account or object: its answer cannot be filtered.
func permitRaw(erased *erasure.Keeper, q *Query) error {
	h := erased.Hasher()
	if h == nil || !erased.Blocking() {
		return nil
	}
	path, query := q.In.Get("path"), q.In.Get("query")
	values := strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
	values = append(values, words(path)...)
	if forwarded, err := url.ParseQuery(query); err == nil {
		for _, list := range forwarded {
			for _, v := range list {
				values = append(append(values, v), words(v)...)
			}
		}
	}
	if erased.Blocked(h.Called(q.Platform, values...)) {
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
	case q.Row.raw():
		marks += privacy.MarksOf(h.RawName(q.Platform))
	case !q.Row.Upstream(): // the enrichment of a text, which may be about anyone
		marks += privacy.MarksOf(privacy.Anything)
	}
	for _, name := range got.Withheld {
		marks += privacy.MarksOf(name.Withheld())
	}
	return marks
}

// withhold removes the objects of blocked accounts from what was read. If that is a single object, it returns the error
// of an absence. If objects of a page are removed, so is the raw of the page.
func (r *Reader) withhold(q *Query, got *Fetched) error {
	if !r.cfg.Erased.Blocking() || len(got.Data) == 0 {
		return nil
	}
	if marks := r.cfg.Erased.Marks(got.Data); !r.cfg.Erased.Blocked(marks) {
		got.marks = marks // so that they are computed once
		return nil
	}
	if got.Data[0] != '[' {
		if names := r.cfg.Erased.BlockedAmong(r.cfg.Erased.Marks(got.Data)); names != nil {
			got.giveUp()
			return errWithheld(names)
		}
		return nil
	}
	objects, ok := Elements(got.Data)
	if !ok {
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
		got.Data, got.Raw, got.IDs, got.Page, got.value = append(data, ']'), raw, ids, nil, nil
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
