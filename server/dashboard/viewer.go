package dashboard

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
)

// viewer is the operator, or an account that has signed in with one of its keys.
type viewer struct {
	key *keys.Key // nil for the operator

	opens  []byte // decrypts the API key in the cookie
	cookie string // of the session
}

// secret returns the API key with which the account has signed in; "" for the operator, and for a cookie that somebody
// has changed.
func (v *viewer) secret() string {
	_, encrypted, _ := strings.Cut(v.cookie, ".")
	c, err := sealing(v.opens)
	if err != nil { // the session is the operator's
		return ""
	}
	b, err := base64.RawURLEncoding.DecodeString(encrypted)
	if err == nil {
		b, err = c.Open(nil, nil, b, nil)
	}
	if err != nil {
		return ""
	}
	return string(b)
}

func (v *viewer) operator() bool { return v != nil && v.key == nil }

// sees reports whether what belongs to an account may be shown and changed.
func (v *viewer) sees(account string) bool {
	return v.operator() || v != nil && v.key.Account == account
}

type viewerKey struct{}

// viewerOf returns the viewer that sent r, nil outside a session.
func viewerOf(r *http.Request) *viewer {
	v, _ := r.Context().Value(viewerKey{}).(*viewer)
	return v
}

// signedIn calls h for requests with a session, and redirects all others to the login.
func (d *Dashboard) signedIn(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := d.sessions.known(r)
		switch {
		case err != nil:
			d.fail(w, r, err)
		case v == nil && r.Method == http.MethodGet:
			http.Redirect(w, r, Root+"/login", http.StatusSeeOther)
		case v == nil:
			d.refuse(w, r, http.StatusUnauthorized, "Your session has ended. Sign in again; nothing was changed.")
		default:
			h(w, r.WithContext(context.WithValue(r.Context(), viewerKey{}, v)))
		}
	})
}

// forOperator calls h for the operator only.
func (d *Dashboard) forOperator(h http.HandlerFunc) http.Handler {
	return d.signedIn(func(w http.ResponseWriter, r *http.Request) {
		if !viewerOf(r).operator() {
			d.refuse(w, r, http.StatusForbidden, "Only the operator of this service can do this.")
			return
		}
		h(w, r)
	})
}

// forOwner calls h for a viewer who may see the account, or the key, in the path. For any other viewer it is absent, as
// if it did not exist.
func (d *Dashboard) forOwner(h http.HandlerFunc) http.Handler {
	return d.signedIn(func(w http.ResponseWriter, r *http.Request) {
		account, err := r.PathValue("account"), error(nil)
		if id := r.PathValue("key"); id != "" {
			var k keys.Key
			k, err = d.cfg.Keys.Key(r.Context(), id)
			account = k.Account
		} else if !viewerOf(r).operator() {
			var a keys.Account
			a, err = d.cfg.Keys.Account(r.Context(), account)
			account = a.ID
		}
		if err == nil && !viewerOf(r).sees(account) {
			err = keys.ErrAbsent
		}
		if err != nil {
			d.answer(w, r, err)
			return
		}
		h(w, r)
	})
}

// ownKeys returns the Keys with which the viewer manages its account; false for the operator.
func (d *Dashboard) ownKeys(r *http.Request) (accounts.Keys, bool) {
	v := viewerOf(r)
	if v == nil || v.key == nil {
		return accounts.Keys{}, false
	}
	return d.cfg.Client.As(*v.key).Account().Keys(), true
}
