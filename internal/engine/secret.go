package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/socialdata/socialdata/store/records"
)

const (
	cursorRecord = "cursor-key"
	cursorSecret = 32                        // bytes
	cursorTTL    = 10 * 365 * 24 * time.Hour // of the record
)

// cursorSecrets returns the secrets of cursors, of which the first signs: those that were set, and the one that the store
// of records keeps, which all replicas share and which outlives a restart.
func cursorSecrets(store records.Store, set [][]byte) ([][]byte, error) {
	secret := make([]byte, cursorSecret)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	kept, added, err := store.Add(context.Background(), records.Record{Key: cursorRecord, Value: secret}, cursorTTL)
	switch {
	case err != nil && len(set) > 0:
		return set, nil // which sign; what the store's would open is lost until the next start
	case err != nil:
		return nil, fmt.Errorf("socialdata: the secret of cursors: %w", err)
	case !added:
		secret = kept.Value
	}
	return append(slices.Clip(set), secret), nil
}
