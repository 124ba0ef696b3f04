package dashboard

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/server/bearer"
)

// perReader limits how often one address may try a wrong secret in [Dashboard.Admits].
var perReader = keys.Rate{Capacity: 60, Refill: 1}

// Admits returns nil when a request has the admin secret as its bearer token. It protects what is for the operator but
// is not a page, such as metrics. Without the secret it returns an unauthorized problem, and after too many wrong
// secrets a rate_limited one.
func (d *Dashboard) Admits(r *http.Request) error {
	secret := bearer.Token(r)
	if secret == "" {
		return errNoSecret
	}
	kept, err := d.cfg.Records.Get(r.Context(), secretKey)
	if err != nil && !errors.Is(err, records.ErrAbsent) {
		return err
	}
	if subtle.ConstantTimeCompare(hash(secret), kept.Value) == 1 {
		return nil
	}
	got, err := d.tries.Take(r.Context(), "reader "+address(r), perReader, 1)
	if err != nil {
		return err
	}
	if !got.OK {
		return problem.New(problem.RateLimited, "too many wrong admin secrets").After(max(got.RetryAfter, time.Second))
	}
	d.log.WarnContext(r.Context(), "dashboard: wrong admin secret", "from", address(r), "request_id",
		callctx.Of(r.Context()).ID)
	return errNoSecret
}

var errNoSecret = problem.New(problem.Unauthorized,
	`the admin secret of the dashboard is required; send it in the header "Authorization: Bearer ADMIN_SECRET"`)
