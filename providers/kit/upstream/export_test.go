package upstream

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/providers"
)

// Take takes a read of that cost from q, as a request does.
func Take(ctx context.Context, q *Quota, cost int64) error {
	_, err := q.take(time.Now(), true, asking{providers.CallerOf(ctx), providers.ClassOf(ctx), cost})
	return err
}
