package salla

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// rest is the minimum time between two refreshes of a grant, whatever their results: a new token that is refused lacks
// a scope or a store, and another one would be refused too.
const rest = 10 * time.Minute

// grant is what a store gives to our app, as stored in a file.
type grant struct {
	AccessToken  string    `json:"access_token"`
	RefreshToken string    `json:"refresh_token"`
	Expires      time.Time `json:"expires"`
	From         string    `json:"from"` // fingerprint of the setting from which this was obtained
}

// keeper exchanges the refresh token of one grant. Its get is not called concurrently; upstream.Tokens ensures that.
type keeper struct {
	http *upstream.Client
	cfg  Config
	now  func() time.Time

	have    grant
	used    bool // the current access token has been handed out, so another call means that it was refused or has expired
	next    time.Time
	refused error // the error of the last refresh
}

// tokens returns the store's access token, and refreshes it if that is configured.
func tokens(cfg Config) *upstream.Tokens {
	k := newKeeper(cfg, time.Now)
	return upstream.NewTokens(k.get, time.Now)
}

func newKeeper(cfg Config, now func() time.Time) *keeper {
	address := cmp.Or(cfg.TokenURL, "https://accounts.salla.sa/oauth2/token")
	return &keeper{
		http: upstream.New(upstream.Config{HTTP: cfg.HTTP, Base: address}), cfg: cfg, now: now,
		have: grant{AccessToken: cfg.Token, RefreshToken: cfg.RefreshToken, From: fingerprint(cfg.RefreshToken)},
	}
}

func (k *keeper) refreshes() bool {
	return k.cfg.RefreshToken != "" && k.cfg.ClientID != "" && k.cfg.ClientSecret != "" && k.cfg.GrantFile != ""
}

func (k *keeper) get(ctx context.Context) (upstream.Token, error) {
	if !k.refreshes() {
		return upstream.Token{Value: k.cfg.Token}, nil
	}
	newer, err := k.load()
	switch {
	case err != nil:
		return upstream.Token{}, err
	case newer:
		k.used = false
	}
	ended := !k.have.Expires.IsZero() && !k.now().Add(2*time.Minute).Before(k.have.Expires)
	switch {
	case !k.used && !ended:
	case k.now().Before(k.next):
		if k.refused != nil {
			return upstream.Token{}, k.refused
		}
	default:
		k.next = k.now().Add(rest)
		if k.refused = k.refresh(ctx); k.refused != nil {
			return upstream.Token{}, k.refused
		}
	}
	k.used = true
	return upstream.Token{Value: k.have.AccessToken, Expires: k.have.Expires}, nil
}

// load takes the grant from the file if it was obtained from the same setting, and reports whether its token differs
// from ours.
func (k *keeper) load() (newer bool, err error) {
	b, err := os.ReadFile(k.cfg.GrantFile)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil { // continuing with the setting might use a refresh token twice
		return false, fmt.Errorf("the grant file cannot be read: %w", err)
	}
	var kept grant
	if err := json.Unmarshal(b, &kept); err != nil {
		return false, fmt.Errorf("the grant file cannot be read: %w", err)
	}
	if kept.From != k.have.From || kept.RefreshToken == "" || kept.AccessToken == "" {
		return false, nil
	}
	newer = kept.AccessToken != k.have.AccessToken
	k.have = kept
	return newer, nil
}

// refresh exchanges the refresh token. It opens the file first, so that a token is never obtained that cannot be
// stored. A failed exchange is not retried.
// https://docs.salla.dev
func (k *keeper) refresh(ctx context.Context) error {
	file, err := os.CreateTemp(filepath.Dir(k.cfg.GrantFile), ".salla-*")
	if err != nil {
		return fmt.Errorf("the grant file cannot be written: %w", err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // fails if it has been renamed already
	}()
	fresh, err := k.trade(ctx)
	if err != nil {
		return err
	}
	k.have = fresh // even if it cannot be stored: the old one no longer works
	return k.keep(file)
}

func (k *keeper) trade(ctx context.Context) (grant, error) {
	var answer struct {
		AccessToken  string     `json:"access_token"`
		RefreshToken string     `json:"refresh_token"`
		ExpiresIn    wire.Count `json:"expires_in"` // seconds
		Expires      wire.Time  `json:"expires"`    // the form in which the webhook sends it
	}
	_, err := k.http.JSON(ctx, upstream.Request{Method: http.MethodPost, Token: true, Form: url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {k.have.RefreshToken},
		"client_id": {k.cfg.ClientID}, "client_secret": {k.cfg.ClientSecret},
	}}, &answer)
	if err != nil {
		return grant{}, err
	}
	if answer.AccessToken == "" || answer.RefreshToken == "" {
		return grant{}, errors.New("the answer lacks a token")
	}
	fresh := grant{AccessToken: answer.AccessToken, RefreshToken: answer.RefreshToken, From: k.have.From}
	switch s := answer.ExpiresIn.V; {
	case s != nil && *s > 0:
		fresh.Expires = k.now().Add(time.Duration(*s) * time.Second)
	case answer.Expires.V != nil:
		fresh.Expires = *answer.Expires.V
	}
	return fresh, nil
}

func (k *keeper) keep(file *os.File) error {
	if err := json.NewEncoder(file).Encode(k.have); err != nil {
		return fmt.Errorf("the new grant cannot be stored: %w", err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("the new grant cannot be stored: %w", err)
	}
	if err := os.Rename(file.Name(), k.cfg.GrantFile); err != nil {
		return fmt.Errorf("the new grant cannot be stored: %w", err)
	}
	return nil
}

// fingerprint identifies a setting without revealing it. A new setting is a new grant, and the stored grant of another
// setting is not used.
func fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:8])
}
