package upstream

import (
	"context"
	"time"

	"github.com/socialdata/socialdata/callctx"
)

// Take takes a read of that cost from q, as a request does.
func Take(ctx context.Context, q *Quota, cost int64) error {
	_, err := q.take(time.Now(), true, asking{caller: callctx.Of(ctx).Caller, background: callctx.Of(ctx).Background, cost: cost})
	return err
}
