package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/providers/replay"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/server/dashboard"
)

const (
	firstCredits = 10_000
	patience     = 30 * time.Second // for background work to end when the server has stopped
)

type serveCmd struct {
	Addresses       addressFlags  `embed:""`
	Sandbox         bool          `help:"Serve only the sandbox and store nothing. The key is always the same, and the magic words that hang or panic work." env:"SOCIALDATA_SANDBOX"`
	Environment     string        `help:"The name of this deployment, shown by /health." default:"development" env:"SOCIALDATA_ENVIRONMENT"`
	RateCapacity    int64         `help:"Calls that a key may make at once." default:"60" env:"SOCIALDATA_RATE_CAPACITY" group:"limits"`
	RateRefill      float64       `help:"Calls that a key regains each second." default:"10" env:"SOCIALDATA_RATE_REFILL" group:"limits"`
	Timeout         time.Duration `help:"The longest time that one call may spend on upstreams." default:"15s" env:"SOCIALDATA_TIMEOUT" group:"limits"`
	InFlight        int64         `help:"Calls in progress at a time; further ones wait for 100 ms and are then answered 503." default:"512" env:"SOCIALDATA_IN_FLIGHT" group:"limits"`
	Connections     int           `help:"Connections at a time; a further one replaces the one that has been idle the longest." default:"1024" env:"SOCIALDATA_CONNECTIONS" group:"limits"`
	AnswerMemory    int64         `help:"Memory for all answers that are being read from upstreams, in MiB; a call that finds none waits, and is then answered 503." default:"512" env:"SOCIALDATA_ANSWER_MEMORY" group:"limits"`
	DrainNotice     time.Duration `help:"How long /readyz reports draining before the server stops listening." default:"0s" env:"SOCIALDATA_DRAIN_NOTICE" group:"replicas"`
	CursorKey       string        `help:"Secret that signs cursors, for replicas to share; by default it is in the database." env:"SOCIALDATA_CURSOR_KEY" group:"replicas" placeholder:"SECRET"`
	WebhooksPrivate bool          `help:"Allow webhooks to http:// URLs and to loopback and private addresses; link-local ones are still refused." env:"SOCIALDATA_WEBHOOKS_PRIVATE" group:"where"`
	DebugAddr       string        `help:"Serve profiles (net/http/pprof) on this loopback address, such as 127.0.0.1:6060; off by default." env:"SOCIALDATA_DEBUG_ADDR" group:"watching" placeholder:"ADDR"`
	LogLevel        slog.Level    `help:"What is logged: debug, info, warn or error." default:"info" env:"SOCIALDATA_LOG_LEVEL" group:"watching"`
	PrintKey        bool          `help:"Create and print a key and the admin secret on the first start. With --print-key=false, use key create and admin reset." default:"true" env:"SOCIALDATA_PRINT_KEY"`
	Record          string        `help:"Write every exchange with an upstream to this folder, without credentials and as --redact says, for --replay." env:"SOCIALDATA_RECORD" placeholder:"DIR" group:"where" type:"path"`
	Replay          string        `help:"Answer every upstream request from this folder of --record instead of sending it." env:"SOCIALDATA_REPLAY" placeholder:"DIR" group:"where" type:"path"`
	AcceptLoss      bool          `help:"Serve a database file that has lost entries; every later audit reports the loss."`

	CallRecords callRecordFlags `embed:""`
	Shared      sharedFlags     `embed:""`
	Telemetry   telemetryFlags  `embed:""`
}

// webhooks returns the option of where webhooks may be sent.
func (c *serveCmd) webhooks() []socialdata.Option {
	if c.WebhooksPrivate {
		return []socialdata.Option{socialdata.WithPrivateWebhooks()}
	}
	return nil
}

// Run serves until the context ends, then waits for calls in progress and closes the store.
func (c *serveCmd) Run(e *env) (err error) {
	if c.RateCapacity < 1 || c.RateRefill <= 0 {
		return errors.New("--rate-capacity must be at least 1 and --rate-refill more than 0")
	}
	if c.InFlight < 1 || c.Connections < 1 || c.AnswerMemory < 1 || c.DrainNotice < 0 {
		return errors.New("--in-flight, --connections and --answer-memory must be at least 1 and --drain-notice not be " +
			"negative")
	}
	if err := c.CallRecords.check(); err != nil {
		return err
	}
	if err := c.Addresses.check(); err != nil {
		return err
	}
	handler, flush := newLogHandler(e.log, logOptions(c.LogLevel))
	defer flush()
	log := slog.New(handler)
	if err := c.warnOfExposures(e); err != nil {
		return err
	}
	if c.Sandbox {
		return c.serveSandbox(e, log)
	}
	db, err := e.openServing(log, c.AcceptLoss)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	told, err := c.Telemetry.start(e, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.stop()) }()
	if e.transport, err = c.cassette(e, told.Transport); err != nil {
		return err
	}
	shared, letGo, err := c.Shared.open(e.ctx, log)
	if err != nil {
		return err
	}
	defer letGo()
	activity := &dashboard.Activity{}
	client, err := e.client(slices.Concat(shared, cursorKeys(c.CursorKey), c.webhooks(), []socialdata.Option{
		socialdata.WithObserver(observe.Join(told.Observer(), activity.Observer())),
		socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()), socialdata.WithRecords(db.Records()),
		socialdata.WithErasures(db.Blocklist()), socialdata.WithWatches(db.Watches()), // erasures erase from these too
		socialdata.WithBulk(db.bulk), socialdata.WithRequests(db.Requests(), c.CallRecords.bounds()),
		socialdata.WithAnswerLife(c.CallRecords.KeepAnswers, c.CallRecords.KeepJobs),
		socialdata.WithLogger(log), socialdata.WithEnvironment(c.Environment), socialdata.WithTimeout(c.Timeout),
		socialdata.WithAnswerMemory(c.AnswerMemory << 20),
		socialdata.WithRate(keys.Rate{Capacity: c.RateCapacity, Refill: c.RateRefill}),
	})...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed(e.ctx, client)) }()
	if err := errors.Join(told.Health(client.Health), told.Quotas(client.Operator().Quotas)); err != nil {
		return err
	}
	pages, err := dashboard.New(dashboard.Config{
		Client: client, Keys: db.Keys(), Ledger: db.Ledger(), Records: db.Records(), Activity: activity, Audit: db.audited,
		// Finding the settings makes every provider once more: only for the first page that shows them.
		Settings: sync.OnceValue(func() []dashboard.Setting { return e.providerSettings(socialdata.FrontEnd(client).PlatformTable()) }),
		Logger:   log, Now: e.cfg.Now,
	})
	if err != nil {
		return err
	}
	own := slices.Concat(told.Server(), c.Addresses.managing(), c.Addresses.status(),
		[]server.Option{server.WithReady(db.Ping), server.WithSections(append(e.sandbox(), e.cfg.settings()...)...)})
	if c.Addresses.MCP == "on" {
		own = append(own, server.WithMount(mcpPath,
			mcp.New(client, mcp.Config{Records: db.Records(), Logger: log, Now: e.cfg.Now}).Handler()))
	}
	if c.Addresses.Dashboard == "on" {
		own = append(own, server.WithMetrics(told.page, pages.Admits))
		if c.Addresses.Manage == "on" {
			own = append(own, server.WithOperator(pages.Admits))
		}
	}
	// It listens before it makes the key, which is printed only once: the address may be in use.
	at, err := c.Addresses.open(e.ctx, log)
	if err != nil {
		return err
	}
	defer at.close() //nolint:errcheck // the servers have closed it, unless an error is returned already
	fronts, err := c.fronts(client, at, pages, log, own)
	if err != nil {
		return err
	}
	if c.DebugAddr != "" {
		stop, err := serveDebug(e.ctx, c.DebugAddr)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := c.welcome(e, db, at); err != nil {
		return err
	}
	go debug.FreeOSMemory() // what only the start needed
	relaxCollector()
	return serve(e.ctx, fronts...)
}

// cassette returns the transport of requests to upstreams, made of the one that traced makes: it records or plays them if
// the flags say so.
func (c *serveCmd) cassette(
	e *env, traced func(http.RoundTripper) http.RoundTripper,
) (func(http.RoundTripper) http.RoundTripper, error) {
	switch {
	case c.Record != "" && c.Replay != "":
		return nil, errors.New("--record and --replay exclude each other: leave one out")
	case c.Replay != "" && e.cli.ReplayURL != "":
		return nil, errors.New("--replay and --replay-url exclude each other: leave one out")
	case c.Replay != "":
		player, err := replay.Play(c.Replay)
		if err != nil {
			return nil, fmt.Errorf("--replay: %w", err)
		}
		return func(http.RoundTripper) http.RoundTripper { return player }, nil
	case c.Record != "":
		e.record = func(next http.RoundTripper) (http.RoundTripper, error) {
			return replay.Record(c.Record, next, e.cli.Retention.redactions()...)
		}
	}
	return traced, nil
}

// front is a server and its listener.
type front struct {
	*server.Server
	at *boundAddress
}

// fronts returns the server of the API, with the options that only it has, and that of the dashboard if it has its own
// address.
func (c *serveCmd) fronts(
	client *socialdata.Client, at listening, pages *dashboard.Dashboard, log *slog.Logger, own []server.Option,
) ([]front, error) {
	both := append(c.Addresses.options(), server.WithLogger(log),
		server.WithLimits(server.Limits{InFlight: c.InFlight, Connections: c.Connections, DrainNotice: c.DrainNotice}))
	mounts := []server.Option{server.WithMount(dashboard.Root, pages), server.WithMount(dashboard.Root+"/", pages)}
	if at.dashboard == at.api {
		own = append(own, mounts...)
	}
	api, err := server.New(client, slices.Concat(both, at.api.options(), own)...)
	if err != nil || !at.apart() {
		return []front{{api, at.api}}, err
	}
	beside, err := server.New(client,
		slices.Concat(both, at.dashboard.options(), mounts, []server.Option{server.WithoutAPI()})...)
	return []front{{api, at.api}, {beside, at.dashboard}}, err
}

// serve serves until ctx ends or a front fails, and drains.
func serve(ctx context.Context, fronts ...front) error {
	all, failed := errgroup.WithContext(ctx)
	for _, f := range fronts {
		all.Go(func() error { return f.Serve(failed, f.at) })
	}
	return all.Wait()
}

// closed closes client and waits for its background work, even if ctx has ended.
func closed(ctx context.Context, client *socialdata.Client) error {
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return client.Close(detached)
}

// cursorKeys returns the option that signs cursors with a configured secret. Without one the engine stores a secret in
// the database.
func cursorKeys(set string) []socialdata.Option {
	if set == "" {
		return nil
	}
	return []socialdata.Option{socialdata.WithCursorKeys([]byte(set))}
}

// sandbox lists the magic words of the mock platform for the documentation page, if the program has it.
func (e *env) sandbox() []server.Section {
	if !e.sandboxed {
		return nil
	}
	s := server.Section{
		Title: "sandbox", Head: []string{"word", "where", "status", "what happens"},
		Intro: "The platform mock answers any ordinary handle or id with invented data. These words, as the handle, id or " +
			"query, produce the states that a client must handle.",
	}
	if e.cli.Serve.Sandbox {
		s.Intro += " To test retries on any route, send the header X-Sandbox: status=503; after=2s; times=3. This call of your " +
			"key and the next two of the same route fail with that status and Retry-After, and the call after them is served, " +
			"even if it has the header too. status is that of a problem; after and times can be left out."
	}
	for _, m := range mock.Magic() {
		s.Rows = append(s.Rows, []string{m.Word, m.Where, fmt.Sprint(m.Status), m.Does})
	}
	return []server.Section{s}
}
