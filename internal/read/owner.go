package read

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"

	"github.com/socialdata/socialdata/internal/jsontext"
	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
)

// owner returns the marks of the accounts and objects to which an unsigned answer belongs: those that a raw answer
// names, and for a transcript those in its URL and the author of its post. The author is read if the answer's own
// URL leaves it open, so it is only called while someone is blocked.
func (r *Reader) owner(ctx context.Context, q *Query, data []byte) (privacy.Marks, error) {
	h := r.cfg.Erased.Hasher()
	if q.Row.raw() {
		return r.rawMarks(h, q, data), nil
	}
	var of struct {
		URL    string `json:"url"`
		PostID string `json:"post_id"`
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return "", err
	}
	marks := r.addressed(h, of.URL)
	if r.cfg.Erased.Blocked(marks) || r.cfg.Post == nil || !r.cfg.Upstreams.Serves(q.Platform, r.cfg.Post.Op) {
		return marks, nil
	}
	post, err := r.inner(ctx, r.cfg.Post, q.Platform, of.PostID, false, nil)
	switch {
	case errors.Is(err, providers.ErrNotFound) && upstreams.Detail(err, "") == withheld:
		return "", errWithheld(nil)
	case errors.Is(err, providers.ErrNotFound):
		return marks, nil // no one is known to have written it
	case err != nil:
		return "", err
	}
	return marks + post.Subjects, nil
}

// rawMarks returns the marks of the accounts and objects that a raw answer names: in the members that identify some,
// and in web addresses.
func (p *Planner) rawMarks(h *privacy.Hasher, q *Query, data []byte) privacy.Marks {
	var marks privacy.Marks
	for t := range jsontext.Walk(data) {
		switch names := q.from[0].Provider.NamesSubject(string(t.Name)); {
		case t.Kind == '0' && names:
			marks += h.Called(q.Platform, string(t.Value))
		case t.Kind == '"' && names:
			marks += p.called(h, q.Platform, jsontext.Text(t.Value))
		case t.Kind == '"':
			if v := jsontext.Text(t.Value); strings.Contains(v, "://") {
				marks += p.addressed(h, v)
			}
		}
	}
	return marks
}

// called returns the marks of those whom a value may name: as a handle or an id in any form that the platform takes, as
// the last part of a URN, as a part of the path of another URI, or as a web address.
func (p *Planner) called(h *privacy.Hasher, on platform.ID, value string) privacy.Marks {
	values := []string{value}
	for _, subject := range []providers.Subject{providers.Handle, providers.PostID} {
		if reduced, _, err := p.cfg.Upstreams.Normalize(on, subject, value); err == nil && reduced != value {
			values = append(values, reduced)
		}
	}
	if _, location, ok := strings.Cut(value, "://"); ok {
		values = append(values, strings.Split(location, "/")...)
	} else if i := strings.LastIndexByte(value, ':'); i >= 0 {
		values = append(values, value[i+1:])
	}
	return h.Called(on, values...) + p.addressed(h, value)
}

// addressed returns the marks of what a web address identifies, on any platform, and of the account below whose page it
// is. The address may lack its scheme.
func (p *Planner) addressed(h *privacy.Hasher, address string) privacy.Marks {
	if !strings.Contains(address, "/") {
		return ""
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	page := *weburl.Through(u)
	var marks privacy.Marks
	for below := false; ; below = true { // first the whole address, then the pages above it
		on, subject, id, ok := p.cfg.Upstreams.Names(&page)
		switch {
		case on == "":
			return marks
		case ok && subject == providers.Handle:
			marks += h.Called(on, id)
		case ok && !below:
			marks += privacy.MarksOf(h.ObjectName(on, id))
		}
		above := path.Dir(strings.TrimSuffix(page.Path, "/"))
		if above == "/" || above == "." {
			return marks
		}
		page = url.URL{Scheme: page.Scheme, Host: page.Host, Path: above}
	}
}
