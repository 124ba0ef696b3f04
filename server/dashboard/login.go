package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/records"
)

const (
	cookieName = "socialdata_admin"
	idle       = time.Hour      // a session ends after this long without a request
	longest    = 12 * time.Hour // a session lasts no longer than this
	secretLife = 10 * 365 * 24 * time.Hour
	prefix     = "admin_"
)

var (
	secretKey = records.Key("admin-secret")
	perCaller = keys.Rate{Capacity: 5, Refill: 1.0 / 30} // attempts with a wrong secret from one address
	everybody = keys.Rate{Capacity: 60, Refill: 1}       // and from all
)

// Reset makes a new admin secret and returns it: it is shown once, and only its hash is kept. The previous secret, and
// every session that was begun with it, become invalid.
func Reset(ctx context.Context, store records.Store) (secret string, err error) {
	secret = prefix + rand.Text()
	_, err = store.Put(ctx, records.Record{Key: secretKey, Value: hash(secret)}, secretLife)
	return secret, err
}

// Begin is [Reset] where there is no secret yet; else it returns "".
func Begin(ctx context.Context, store records.Store) (secret string, err error) {
	secret = prefix + rand.Text()
	_, added, err := store.Add(ctx, records.Record{Key: secretKey, Value: hash(secret)}, secretLife)
	if err != nil || !added {
		return "", err
	}
	return secret, nil
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// login begins a session. Attempts with a wrong secret are limited, for each address and in total. The right secret is
// always accepted: behind a proxy all callers may have one address, and the secret cannot be guessed at any rate.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	kept, err := d.cfg.Records.Get(r.Context(), secretKey)
	if err != nil && !errors.Is(err, records.ErrAbsent) {
		d.fail(w, r, err)
		return
	}
	secret := strings.TrimSpace(r.PostFormValue("secret"))
	begun, key := session{Secret: hash(secret), Until: d.now().Add(longest)}, ""
	if subtle.ConstantTimeCompare(begun.Secret, kept.Value) != 1 {
		k, err := d.sessions.keyOf(r.Context(), secret)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		if k == nil {
			if !d.mayTry(w, r) {
				return
			}
			d.log.WarnContext(r.Context(), "dashboard: wrong admin secret", "from", address(r), "request_id",
				callctx.Of(r.Context()).ID)
			d.showForm(w, http.StatusUnauthorized,
				"This is neither the admin secret nor a live key that manages its account. The secret was shown when the server "+
					"first started; "+
					"“socialdata admin reset” makes a new one, “socialdata key create --manage” a key.")
			return
		}
		begun.Key, key = k.ID, secret
	}
	value, err := d.sessions.begin(r.Context(), begun, key)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set by whether the browser speaks TLS
		Name: cookieName, Value: value, Path: Root, MaxAge: int(longest.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: secure(r),
	})
	http.Redirect(w, r, Root, http.StatusSeeOther)
}

// mayTry counts one attempt with a wrong secret, or answers when the next one is allowed.
func (d *Dashboard) mayTry(w http.ResponseWriter, r *http.Request) bool {
	for _, bound := range []struct {
		key  string
		rate keys.Rate
	}{
		{"address " + address(r), perCaller}, // first: an attempt that it refuses does not count for others
		{"all", everybody},
	} {
		got, err := d.tries.Take(r.Context(), bound.key, bound.rate, 1)
		if err != nil {
			d.fail(w, r, err)
			return false
		}
		if !got.OK {
			wait := int(math.Ceil(got.RetryAfter.Seconds()))
			w.Header().Set("Retry-After", strconv.Itoa(wait))
			d.showForm(w, http.StatusTooManyRequests, "Too many tries. Wait "+strconv.Itoa(wait)+" seconds.")
			return false
		}
	}
	return true
}

// address returns the address from which r comes, without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// secure reports whether the browser uses TLS, with us or with a proxy in front of us.
func secure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		if err := d.sessions.end(r.Context(), cookie.Value); err != nil {
			d.fail(w, r, err)
			return
		}
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // see login
		Name: cookieName, Path: Root, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure(r),
	})
	http.Redirect(w, r, Root+"/login", http.StatusSeeOther)
}

// ownKey answers the value of the key with which an account has signed in, for the calls that it tries on the pages of the
// documentation; no content without such a session. It is a POST from the pages of this server: it is never cached, and
// no other site can send it or read what it answers.
func (d *Dashboard) ownKey(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	v, err := d.sessions.known(r)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	secret := ""
	if v != nil {
		secret = v.secret()
	}
	if secret == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, secret)
}
