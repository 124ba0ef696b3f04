package engine

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/socialdata/socialdata/records"
)

const (
	cursorRecord = "cursor-key"
	ledgerRecord = "ledger-key"
	secretLen    = 32                        // bytes
	secretTTL    = 10 * 365 * 24 * time.Hour // of the record
)

// storedSecret returns the secret that is stored under a key in the records, which all replicas share and which survives
// a restart. It makes one if there is none.
func storedSecret(ctx context.Context, store records.Store, key string) ([]byte, error) {
	secret := make([]byte, secretLen)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	kept, added, err := store.Add(ctx, records.Record{Key: key, Value: secret}, secretTTL)
	if err != nil || added {
		return secret, err
	}
	return kept.Value, nil
}

// cursorSecrets returns the secrets of cursors, the first of which seals: the configured ones, and the one in the store
// of records.
func cursorSecrets(store records.Store, set [][]byte) ([][]byte, error) {
	secret, err := storedSecret(context.Background(), store, cursorRecord)
	switch {
	case err != nil && len(set) > 0:
		return set, nil // they seal; cursors of the stored secret cannot be opened until the next start
	case err != nil:
		return nil, fmt.Errorf("socialdata: the secret of cursors: %w", err)
	}
	return append(slices.Clip(set), secret), nil
}

// concealer hashes an idempotency key with its request for the ledger, where the hash stays permanently and must not
// reveal the request. It uses a secret of the deployment, without which requests could be guessed and compared.
type concealer struct {
	store records.Store

	mu     sync.Mutex
	secret []byte
}

// load reads the secret, unless it is loaded. The store may have been unavailable when the engine was made.
func (c *concealer) load(ctx context.Context) (secret []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.secret == nil {
		if secret, err = storedSecret(ctx, c.store, ledgerRecord); err != nil {
			return nil, err
		}
		c.secret = secret
	}
	return c.secret, nil
}

// conceal returns the HMAC-SHA-256 of text in hex. It fails when the secret cannot be read.
func (c *concealer) conceal(ctx context.Context, text string) (string, error) {
	secret, err := c.load(ctx)
	if err != nil {
		return "", fmt.Errorf("socialdata: the secret of the books: %w", err)
	}
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil)), nil
}
