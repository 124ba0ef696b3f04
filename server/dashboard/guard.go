package dashboard

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server/bearer"
	"github.com/socialdata/socialdata/store/records"
)

// perReader bounds how often one address may show a wrong secret to [Dashboard.Admits].
var perReader = keys.Rate{Capacity: 60, Refill: 1}

// Admits returns nil when a request shows the admin secret as a bearer token, for what belongs to the operator of a
// service and is no page, such as its metrics. Else it returns an unauthorized problem, and a rate_limited one after too
// many wrong secrets.
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
	d.log.WarnContext(r.Context(), "dashboard: wrong admin secret", "from", address(r), "request_id", operation.RequestID(r.Context()))
	return errNoSecret
}

var errNoSecret = problem.New(problem.Unauthorized,
	`the admin secret of the dashboard is required; send it in the header "Authorization: Bearer ADMIN_SECRET"`)
