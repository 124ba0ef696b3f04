package applemusic

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"time"

	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// life is how long our own tokens are valid; Apple accepts up to six months.
const life = 12 * time.Hour

var errKey = errors.New("applemusic: private_key is not the PEM text of an elliptic-curve P-256 key")

// tokens signs developer tokens.
// https://developer.apple.com/documentation/applemusicapi/generating-developer-tokens
func tokens(team, keyID, privateKey string) *upstream.Tokens {
	key, err := parseKey(privateKey)
	return upstream.NewTokens(func(context.Context) (upstream.Token, error) {
		if err != nil {
			return upstream.Token{}, err
		}
		now := time.Now()
		value, err := sign(key, keyID, team, now)
		return upstream.Token{Value: value, Expires: now.Add(life)}, err
	}, nil)
}

func parseKey(text string) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok || key.Curve != elliptic.P256() {
		return nil, errKey
	}
	return key, nil
}

// sign returns a JSON Web Token whose signature is r and s, 32 bytes each, concatenated.
// https://www.rfc-editor.org/rfc/rfc7518#section-3.4
func sign(key *ecdsa.PrivateKey, keyID, team string, now time.Time) (string, error) {
	head, err := json.Marshal(struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}{"ES256", keyID})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(struct {
		Issuer  string `json:"iss"`
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
	}{team, now.Unix(), now.Add(life).Unix()})
	if err != nil {
		return "", err
	}
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature[:]), nil
}
