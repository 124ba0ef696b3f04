package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/watch"
)

// field is a field of a form for a line of text, with what was typed, and what is wrong with it.
type field struct {
	Label, Name, Value string
	Wrong              string // shown beside it; "" for nothing
	Placeholder        string
	Pattern            string // a regular expression; "" for any text
	Max                int    // characters; 0 is no maximum
	Required           bool
	Numeric            bool // a number
	Wide               bool
	URL                bool // a web address
	Private            bool // the browser does not remember what was typed
}

// namePattern is the form of the names of monitors, endpoints and bulk jobs; see watch.CheckName.
const namePattern = `[a-z0-9][a-z0-9\-]*`

// askPage is the content of a page that asks before something is done.
type askPage struct {
	Question, Words string
	FormID          string  // "" for a form that does the same when it is sent again
	Fields          []field // none for a mere question
	Action, Button  string  // the address of the form, and the text of its button
	Safe            bool    // what is done can be undone
	Back, Keep      string  // the address that leads back, and the text of its link
}

// sentForm is a form that was not accepted, to be shown again with what was typed. The zero value is no form.
type sentForm struct {
	Name         string // which form of the page
	Values       url.Values
	Field, Words string // the field that is wrong, and what to do
}

// rejected returns the form that r has sent, with what is wrong with a field.
func rejected(r *http.Request, form, field, words string) sentForm {
	return sentForm{Name: form, Values: r.PostForm, Field: field, Words: words}
}

// is reports whether it is that form of the page.
func (s sentForm) is(form string) bool { return s.Name == form }

// value returns what was typed into a field, or value if the form was not sent.
func (s sentForm) value(form, field, value string) string {
	if s.is(form) {
		return s.Values.Get(field)
	}
	return value
}

// wrong returns what is wrong with a field; "" for nothing.
func (s sentForm) wrong(form, field string) string {
	if s.is(form) && s.Field == field {
		return s.Words
	}
	return ""
}

// in returns a field of a form with what was typed into it.
func (s sentForm) in(form string, one field) field {
	one.Value, one.Wrong = s.value(form, one.Name, one.Value), s.wrong(form, one.Name)
	return one
}

// checked reports whether a box is checked.
func (s sentForm) checked(form, box string, checked bool) bool {
	return s.value(form, box, map[bool]string{true: "on"}[checked]) != ""
}

// explained returns what is wrong with what was sent, in words, and the status of the answer; 0 for an error that is not
// the caller's.
func explained(err error) (status int, words string) {
	switch p, ok := errors.AsType[*problem.Error](err); {
	case errors.Is(err, keys.ErrTaken):
		return http.StatusConflict, "This name is taken. Choose another one."
	case errors.Is(err, keys.ErrInvalid), errors.Is(err, credits.ErrInvalid), errors.Is(err, credits.ErrAmount):
		_, words, _ := strings.Cut(err.Error(), ": ")
		return http.StatusBadRequest, "This cannot be used: " + words + "."
	case ok && p.HTTPStatus() < http.StatusInternalServerError:
		return p.HTTPStatus(), "This cannot be done: " + p.Detail + "."
	}
	return 0, ""
}

// wrongName returns why a name cannot be that of a monitor, an endpoint or a bulk job; "" if it can.
func wrongName(name string) string {
	err := watch.CheckName(name)
	if err == nil {
		return ""
	}
	_, words, _ := strings.Cut(err.Error(), ": ")
	return "This cannot be its name: " + words + "."
}

// fieldIn returns the field that words are about: the first of which the word beside it is among them, or otherwise.
func fieldIn(words, otherwise string, fields ...[2]string) string {
	for _, one := range fields {
		if strings.Contains(words, one[1]) {
			return one[0]
		}
	}
	return otherwise
}

// wantsAmount says what a field of credits accepts.
const wantsAmount = "This must be a whole number of credits, such as 10000."
