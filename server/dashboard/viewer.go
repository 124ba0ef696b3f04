package dashboard

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/store/records"
)

// viewer is who has signed in: the operator, or an account with one of its keys.
type viewer struct {
	key *keys.Key // nil for the operator
}

func (v *viewer) operator() bool { return v != nil && v.key == nil }

// sees reports whether what belongs to an account may be shown and changed.
func (v *viewer) sees(account string) bool {
	return v.operator() || v != nil && v.key.Account == account
}

type viewerKey struct{}

// viewerOf returns who has signed in, nil for a request outside a session.
func viewerOf(r *http.Request) *viewer {
	v, _ := r.Context().Value(viewerKey{}).(*viewer)
	return v
}

// signedIn calls h for requests with a session, and redirects all others to the login.
func (d *Dashboard) signedIn(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := d.known(r)
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

// forOperator lets h answer the operator alone.
func (d *Dashboard) forOperator(h http.HandlerFunc) http.Handler {
	return d.signedIn(func(w http.ResponseWriter, r *http.Request) {
		if !viewerOf(r).operator() {
			d.refuse(w, r, http.StatusForbidden, "Only the operator of this service can do this.")
			return
		}
		h(w, r)
	})
}

// forOwner lets h answer who may see the account, or the key, that the path names. Another account's is as absent as
// one that there is not.
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

// known returns who r comes from, nil without a session, and keeps the session alive.
func (d *Dashboard) known(r *http.Request) (*viewer, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // no cookie is no session
	}
	kept, err := d.cfg.Records.Get(r.Context(), sessionKey(cookie.Value))
	if errors.Is(err, records.ErrAbsent) {
		return nil, nil //nolint:nilnil // it is none
	}
	if err != nil {
		return nil, err
	}
	var s session
	if err := json.Unmarshal(kept.Value, &s); err != nil {
		return nil, err
	}
	left := s.Until.Sub(d.now())
	v, err := d.stillMay(r.Context(), s)
	if err != nil || v == nil || left <= 0 {
		return nil, err
	}
	// Put replaces the version that was read: a session that was ended meanwhile stays ended.
	_, err = d.cfg.Records.Put(r.Context(), records.Record{Key: kept.Key, Value: kept.Value, Version: kept.Version},
		min(idle, left))
	if errors.Is(err, records.ErrConflict) {
		err = nil // another request has extended the session, or has ended it
	}
	return v, err
}

// stillMay returns who has begun a session, nil when what it was begun with opens nothing any longer.
func (d *Dashboard) stillMay(ctx context.Context, s session) (*viewer, error) {
	if s.Key == "" {
		secret, err := d.cfg.Records.Get(ctx, secretKey)
		if err != nil && !errors.Is(err, records.ErrAbsent) {
			return nil, err
		}
		if subtle.ConstantTimeCompare(s.Secret, secret.Value) != 1 {
			return nil, nil //nolint:nilnil // it is another one's
		}
		return &viewer{}, nil
	}
	k, err := d.cfg.Keys.Key(ctx, s.Key)
	if errors.Is(err, keys.ErrAbsent) {
		return nil, nil //nolint:nilnil // it is gone
	}
	if err != nil {
		return nil, err
	}
	if len(s.Secret) != len(keys.Hash{}) || !opens(&k) || !k.Accepts(keys.Hash(s.Secret), d.now()) {
		return nil, nil //nolint:nilnil // it may no longer
	}
	return &viewer{&k}, nil
}

// opens reports whether an account can sign in with a key.
func opens(k *keys.Key) bool {
	return k.RevokedAt == nil && k.Environment == keys.Live && k.Manage
}

// keyOf returns the key whose secret is given, if an account can sign in with it, else nil.
func (d *Dashboard) keyOf(ctx context.Context, secret string) (*keys.Key, error) {
	if !strings.HasPrefix(secret, "sk_") {
		return nil, nil //nolint:nilnil // it is none
	}
	client, err := d.cfg.Client.Authenticate(ctx, secret)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.Unauthorized {
		return nil, nil //nolint:nilnil // there is no such key
	}
	if err != nil {
		return nil, err
	}
	if k := client.Key(); opens(k) {
		return k, nil
	}
	return nil, nil //nolint:nilnil // it is for calls alone
}

// acting returns what manages the keys of an account on behalf of the viewer, false for the operator.
func (d *Dashboard) acting(r *http.Request) (socialdata.Keys, bool) {
	v := viewerOf(r)
	if v == nil || v.key == nil {
		return socialdata.Keys{}, false
	}
	return d.cfg.Client.As(*v.key).Keys(), true
}
