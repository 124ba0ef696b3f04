// Package dashboard serves pages for the operator of a service: accounts and their credits, keys, what was read and
// what it cost, and the state of the upstreams.
//
// The pages are made on the server and work without a script. The admin secret ([Reset]) opens all pages. A live key
// with the mark Manage ([keys.Key]) opens only the pages of its own account. A session ends after an hour without a
// request, and after twelve in any case. Requests that change something must come from the pages themselves: the
// browser reports their origin, and sends the session's cookie to no other site.
//
// A [Dashboard] is an [http.Handler] for the path /dashboard and those below it: the server mounts it with
// server.WithMount("/dashboard", d) and server.WithMount("/dashboard/", d), and so does any other mux.
package dashboard

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// Ledger is a ledger in which an operator can grant credits.
type Ledger interface {
	credits.Ledger
	credits.Granter
}

// Config configures a [Dashboard]. All fields but the last four are required.
type Config struct {
	Client   *socialdata.Client
	Keys     keys.Admin
	Ledger   Ledger        // pays for the accounts of Keys
	Records  records.Store // has the hash of the admin secret, and the sessions
	Activity *Activity     // recent events; the client and the server must report to it

	// Audit audits the books. It fails when they cannot be read. Nil means that the store has no audit.
	Audit func(ctx context.Context) (Audited, error)

	// Settings returns the settings of the providers, for each page that shows them. Nil shows none.
	Settings func() []Setting

	Logger *slog.Logger     // nil disables logging
	Now    func() time.Time // the clock; nil means time.Now
}

// Dashboard serves the pages. It is safe for concurrent use.
type Dashboard struct {
	cfg   Config
	log   *slog.Logger
	now   func() time.Time
	pages http.Handler
	tries *keys.MemoryLimiter // of the admin secret

	sessions sessions
	audits   audits
}

// Root is the path below which the pages are.
const Root = "/dashboard"

//go:embed assets
var assets embed.FS

// New returns the dashboard. It fails when something is missing from cfg.
func New(cfg Config) (*Dashboard, error) {
	if cfg.Client == nil || cfg.Keys == nil || cfg.Ledger == nil || cfg.Records == nil || cfg.Activity == nil {
		return nil, errors.New("dashboard: Client, Keys, Ledger, Records and Activity are needed")
	}
	cfg.Client = socialdata.From(cfg.Client, schema.FromDashboard)
	d := &Dashboard{cfg: cfg, log: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), now: cfg.Now}
	if d.now == nil {
		d.now = time.Now
	}
	d.tries = keys.NewMemoryLimiter(keys.MemoryLimiterConfig{Now: d.now})
	d.sessions = sessions{client: cfg.Client, keys: cfg.Keys, records: cfg.Records, now: d.now}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root+"/login", d.showLogin)
	mux.HandleFunc("POST "+Root+"/login", d.login)
	mux.HandleFunc("POST "+Root+"/logout", d.logout)
	mux.HandleFunc("POST "+Root+"/key", d.ownKey)
	for _, name := range []string{"style.css", "copy.js", "icon.svg"} {
		mux.HandleFunc("GET "+Root+"/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "public, max-age=300")
			http.ServeFileFS(w, r, assets, "assets/"+name)
		})
	}
	const account = Root + "/accounts/{account}"
	for pattern, h := range map[string]http.Handler{
		"GET " + Root:                                      d.signedIn(d.overview),
		"GET " + Root + "/{$}":                             d.signedIn(d.overview),
		"GET " + Root + "/calls":                           d.signedIn(d.calls),
		"GET " + Root + "/calls/{request}":                 d.signedIn(d.call),
		"GET " + Root + "/jobs":                            d.signedIn(d.jobs),
		"GET " + Root + "/platforms/{platform}":            d.forOperator(d.platform),
		"GET " + Root + "/erasures":                        d.forOperator(d.erasures),
		"POST " + Root + "/erasures":                       d.forOperator(d.erase),
		"GET " + Root + "/audit":                           d.forOperator(d.showAudit),
		"POST " + Root + "/audit":                          d.forOperator(d.audit),
		"POST " + Root + "/accounts":                       d.forOperator(d.createAccount),
		"GET " + account:                                   d.forOwner(d.account),
		"GET " + account + "/ledger":                       d.forOwner(d.ledger),
		"GET " + account + "/ledger.csv":                   d.forOwner(d.ledgerCSV),
		"POST " + account + "/give":                        d.forOperator(d.give),
		"POST " + account + "/refund":                      d.forOperator(d.refund),
		"POST " + account + "/reverse":                     d.forOperator(d.reverse),
		"POST " + account + "/keys":                        d.forOwner(d.createKey),
		"GET " + account + "/monitors":                     d.forOwner(d.monitors),
		"POST " + account + "/monitors":                    d.forOwner(d.makeMonitor),
		"POST " + account + "/monitors/find":               d.forOwner(d.findMonitors),
		"GET " + account + "/monitors/{monitor}":           d.forOwner(d.monitor),
		"POST " + account + "/monitors/{monitor}/pause":    d.forOwner(d.changeMonitor(pauseMonitor)),
		"POST " + account + "/monitors/{monitor}/resume":   d.forOwner(d.changeMonitor(resumeMonitor)),
		"POST " + account + "/monitors/{monitor}/feed":     d.forOwner(d.makeFeed),
		"POST " + account + "/monitors/{monitor}/feed/end": d.forOwner(d.changeMonitor(endFeed)),
		"GET " + account + "/monitors/{monitor}/remove":    d.forOwner(d.askRemoveMonitor),
		"POST " + account + "/monitors/{monitor}/remove":   d.forOwner(d.removeMonitor),
		"GET " + Root + "/bulk":                            d.forOperator(d.allBulk),
		"GET " + account + "/bulk":                         d.forOwner(d.bulk),
		"POST " + account + "/bulk":                        d.forOwner(d.startBulk),
		"GET " + account + "/bulk/{job}":                   d.forOwner(d.bulkJob),
		"GET " + account + "/bulk/{job}/results.ndjson":    d.forOwner(d.bulkResults),
		"GET " + account + "/bulk/{job}/stop":              d.forOwner(d.askStopBulk),
		"POST " + account + "/bulk/{job}/stop":             d.forOwner(d.stopBulk),
		"GET " + account + "/changes":                      d.forOwner(d.changes),
		"GET " + account + "/endpoints":                    d.forOwner(d.endpoints),
		"POST " + account + "/endpoints":                   d.forOwner(d.makeEndpoint),
		"GET " + account + "/endpoints/{endpoint}":         d.forOwner(d.endpoint),
		"POST " + account + "/endpoints/{endpoint}/test":   d.forOwner(d.testEndpoint),
		"POST " + account + "/endpoints/{endpoint}/secret": d.forOwner(d.rekeyEndpoint),
		"GET " + account + "/endpoints/{endpoint}/remove":  d.forOwner(d.askRemoveEndpoint),
		"POST " + account + "/endpoints/{endpoint}/remove": d.forOwner(d.removeEndpoint),
		"POST " + account + "/deliveries/{delivery}/again": d.forOwner(d.deliverAgain),
		"GET " + Root + "/keys/{key}/change":               d.forOwner(d.askChangeKey),
		"POST " + Root + "/keys/{key}/change":              d.forOwner(d.changeKey),
		"GET " + Root + "/keys/{key}/rotate":               d.forOwner(d.askRotateKey),
		"POST " + Root + "/keys/{key}/rotate":              d.forOwner(d.rotateKey),
		"GET " + Root + "/keys/{key}/revoke":               d.forOwner(d.askRevokeKey),
		"POST " + Root + "/keys/{key}/revoke":              d.forOwner(d.revoke),
	} {
		mux.Handle(pattern, h)
	}
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.refuse(w, r, http.StatusForbidden, "This form was sent from another site. Nothing was changed.")
	}))
	d.pages = protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.route(mux, w, r) }))
	return d, nil
}

const (
	policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'"
	formBytes = 16 << 10 // the largest form without a file
)

// ServeHTTP answers one request.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	limit := int64(formBytes)
	if strings.HasSuffix(r.URL.Path, "/bulk") {
		limit = bulkFormBytes
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	d.pages.ServeHTTP(w, r)
}

// route lets mux answer. Where mux has no page, it answers with a page that says so.
func (d *Dashboard) route(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	if h, pattern := mux.Handler(r); pattern == "" {
		refusal := &refusal{header: http.Header{}}
		h.ServeHTTP(refusal, r)
		words := "There is no such page."
		if allow := refusal.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			words = "This page does not accept this method."
		}
		d.refuse(w, r, cmp.Or(refusal.status, http.StatusNotFound), words)
		return
	}
	mux.ServeHTTP(w, r)
}

// refusal is what a mux answers where it has no page.
type refusal struct {
	header http.Header
	status int
}

func (r *refusal) Header() http.Header         { return r.header }
func (r *refusal) WriteHeader(status int)      { r.status = status }
func (r *refusal) Write(b []byte) (int, error) { return len(b), nil }
