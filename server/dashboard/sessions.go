package dashboard

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
)

// sessions stores the sessions of viewers, and finds the viewer of one.
type sessions struct {
	client  *socialdata.Client
	keys    keys.Admin
	records records.Store
	now     func() time.Time
}

// session is what the store keeps for a session's cookie.
type session struct {
	Secret []byte    `json:"secret"`        // the hash of the admin secret with which it began
	Key    string    `json:"key,omitempty"` // the id of the account's key that it is of; "" for the admin secret
	Until  time.Time `json:"until"`
	Opens  []byte    `json:"opens,omitempty"` // the encryption key of the API key in the cookie
}

// sealing returns the cipher of an API key. The cookie of a session carries the API key, encrypted, and the store what
// decrypts it: neither has the API key by itself.
func sealing(opens []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(opens)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sessionKey returns the key of a session's record. It is a hash, so that a cookie cannot be made from what is in the
// store. A cookie is random, and behind a dot there may be an encrypted API key.
func sessionKey(cookie string) string {
	id, _, _ := strings.Cut(cookie, ".")
	return records.Key("admin-session", base64.RawURLEncoding.EncodeToString(hash(id)))
}

// begin stores a session and returns the value of its cookie. secret is the API key of an account, which its pages need
// again; "" for the operator.
func (s *sessions) begin(ctx context.Context, begun session, secret string) (cookie string, err error) {
	cookie = rand.Text() + rand.Text()
	if secret != "" {
		begun.Opens = make([]byte, 32)
		_, _ = rand.Read(begun.Opens) // never fails
		c, err := sealing(begun.Opens)
		if err != nil {
			return "", err
		}
		encrypted := c.Seal(nil, nil, []byte(secret), nil) //nolint:gosec // the cipher makes a nonce by itself
		cookie += "." + base64.RawURLEncoding.EncodeToString(encrypted)
	}
	b, err := json.Marshal(begun)
	if err == nil {
		_, err = s.records.Put(ctx, records.Record{Key: sessionKey(cookie), Value: b}, idle)
	}
	return cookie, err
}

// end removes the session of a cookie, if there is one.
func (s *sessions) end(ctx context.Context, cookie string) error {
	return s.records.Delete(ctx, sessionKey(cookie), 0)
}

// known returns the viewer that sent r, nil without a session, and extends the session.
func (s *sessions) known(r *http.Request) (*viewer, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // no cookie is no session
	}
	kept, err := s.records.Get(r.Context(), sessionKey(cookie.Value))
	if errors.Is(err, records.ErrAbsent) {
		return nil, nil //nolint:nilnil // it is not one
	}
	if err != nil {
		return nil, err
	}
	var begun session
	if err := json.Unmarshal(kept.Value, &begun); err != nil {
		return nil, err
	}
	left := begun.Until.Sub(s.now())
	v, err := s.stillMay(r.Context(), begun)
	if err != nil || v == nil || left <= 0 {
		return nil, err
	}
	v.opens, v.cookie = begun.Opens, cookie.Value
	// Put replaces the version that was read: a session that was ended meanwhile stays ended.
	_, err = s.records.Put(r.Context(), records.Record{Key: kept.Key, Value: kept.Value, Version: kept.Version},
		min(idle, left))
	if errors.Is(err, records.ErrConflict) {
		err = nil // another request has extended the session, or has ended it
	}
	return v, err
}

// stillMay returns the viewer of a session, nil when the secret or the key with which it was begun is no longer valid.
func (s *sessions) stillMay(ctx context.Context, begun session) (*viewer, error) {
	if begun.Key == "" {
		secret, err := s.records.Get(ctx, secretKey)
		if err != nil && !errors.Is(err, records.ErrAbsent) {
			return nil, err
		}
		if subtle.ConstantTimeCompare(begun.Secret, secret.Value) != 1 {
			return nil, nil //nolint:nilnil // it is another one's
		}
		return &viewer{}, nil
	}
	k, err := s.keys.Key(ctx, begun.Key)
	if errors.Is(err, keys.ErrAbsent) {
		return nil, nil //nolint:nilnil // it is gone
	}
	if err != nil {
		return nil, err
	}
	if len(begun.Secret) != len(keys.Hash{}) || !opens(&k) || !k.Accepts(keys.Hash(begun.Secret), s.now()) {
		return nil, nil //nolint:nilnil // it may no longer
	}
	return &viewer{key: &k}, nil
}

// opens reports whether an account can sign in with a key.
func opens(k *keys.Key) bool {
	return k.RevokedAt == nil && k.Environment == keys.Live && k.Manage
}

// keyOf returns the key whose secret is given, if an account can sign in with it, else nil.
func (s *sessions) keyOf(ctx context.Context, secret string) (*keys.Key, error) {
	if !strings.HasPrefix(secret, "sk_") {
		return nil, nil //nolint:nilnil // it is not one
	}
	client, err := s.client.Authenticate(ctx, secret)
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
