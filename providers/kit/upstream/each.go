package upstream

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// eachAtOnce is how many calls [ForEach] makes concurrently.
const eachAtOnce = 8

// ForEach calls f with 0 to n-1, at most 8 at a time, and returns when all have ended. It stops calling f when ctx has
// ended. It is for optional requests that a batch makes for each of its objects.
func ForEach(ctx context.Context, n int, f func(i int)) {
	var g errgroup.Group
	g.SetLimit(eachAtOnce)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			f(i)
			return nil
		})
	}
	g.Wait() //nolint:errcheck // none of them fails
}
