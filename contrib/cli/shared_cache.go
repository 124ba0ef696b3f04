package cli

import (
	"context"
	"log/slog"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/valkey"
)

// sharedFlags select what replicas share besides the database.
type sharedFlags struct {
	Valkey      string `help:"A server of Valkey or Redis 7 that replicas share for cache and rate limits: host:port or valkey://user:password@host:port/db." env:"SOCIALDATA_VALKEY" group:"replicas" placeholder:"ADDR"`
	LimiterFail string `help:"What happens to rate limits while that server is lost: open (each replica counts for itself) or closed (calls are answered 503)." enum:"open,closed" default:"open" env:"SOCIALDATA_LIMITER_FAIL" group:"replicas"`
}

// open returns the options of a client whose cache and limiter replicas share, none without a server, and the function
// that closes the connection.
func (f sharedFlags) open(ctx context.Context, log *slog.Logger) (opts []socialdata.Option, closed func(), err error) {
	if f.Valkey == "" {
		return nil, func() {}, nil
	}
	shared, err := valkey.Open(ctx, valkey.Config{Address: f.Valkey, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	cache := shared.Cache(valkey.CacheConfig{})
	limiter, err := shared.Limiter(valkey.LimiterConfig{Fail: valkey.Fail(f.LimiterFail)})
	if err != nil {
		shared.Close()
		return nil, nil, err
	}
	return []socialdata.Option{
		socialdata.WithCache(cache), socialdata.WithDependency("cache", cache.State),
		socialdata.WithLimiter(limiter), socialdata.WithDependency("limiter", limiter.State),
	}, shared.Close, nil
}
