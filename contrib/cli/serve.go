package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/server/dashboard"
)

const (
	firstCredits = 10_000
	patience     = 30 * time.Second // with what goes on in the background when the server has stopped
)

type serveCmd struct {
	Addr         string        `help:"The address to listen on." default:"127.0.0.1:8080" env:"SOCIALDATA_ADDR"`
	Sandbox      bool          `help:"Serve the sandbox alone, with nothing kept: the key is always the same, and the words that hang or panic work." env:"SOCIALDATA_SANDBOX"`
	Environment  string        `help:"The name of this deployment, shown by /health." default:"development" env:"SOCIALDATA_ENVIRONMENT"`
	RateCapacity int64         `help:"Calls that a key may make at once." default:"60" env:"SOCIALDATA_RATE_CAPACITY" group:"limits"`
	RateRefill   float64       `help:"Calls that a key gets back each second." default:"10" env:"SOCIALDATA_RATE_REFILL" group:"limits"`
	Timeout      time.Duration `help:"Longest time for one call to the upstreams." default:"15s" env:"SOCIALDATA_TIMEOUT" group:"limits"`
	InFlight     int64         `help:"Calls that are at work at a time; one more is answered 503 at once." default:"512" env:"SOCIALDATA_IN_FLIGHT" group:"limits"`
	Connections  int           `help:"Connections at a time; one more takes the place of the one that idles longest." default:"1024" env:"SOCIALDATA_CONNECTIONS" group:"limits"`
	AnswerMemory int64         `help:"Memory for all answers of upstreams at work, in MiB; a call that finds none waits, and then is 503." default:"512" env:"SOCIALDATA_ANSWER_MEMORY" group:"limits"`
	DrainNotice  time.Duration `help:"How long /readyz says draining before the server stops to listen." default:"0s" env:"SOCIALDATA_DRAIN_NOTICE" group:"replicas"`
	CursorKey    string        `help:"Secret that signs cursors, for replicas to share; kept in the database without it." env:"SOCIALDATA_CURSOR_KEY" group:"replicas" placeholder:"SECRET"`
	DebugAddr    string        `help:"Serve profiles (net/http/pprof) on this address of the machine itself, such as 127.0.0.1:6060; off without it." env:"SOCIALDATA_DEBUG_ADDR" group:"watching" placeholder:"ADDR"`
	LogLevel     slog.Level    `help:"What is logged: debug, info, warn or error." default:"info" env:"SOCIALDATA_LOG_LEVEL" group:"watching"`
	AcceptLoss   bool          `help:"Serve a database file that has lost entries, which audits report from then on."`

	Shared    sharedFlags    `embed:""`
	Telemetry telemetryFlags `embed:""`
}

// Run serves until the context ends, then lets calls under way finish and closes the books.
func (c *serveCmd) Run(e *env) (err error) {
	if c.RateCapacity < 1 || c.RateRefill <= 0 {
		return errors.New("--rate-capacity must be at least 1 and --rate-refill more than 0")
	}
	if c.InFlight < 1 || c.Connections < 1 || c.AnswerMemory < 1 || c.DrainNotice < 0 {
		return errors.New("--in-flight, --connections and --answer-memory must be at least 1 and --drain-notice not be negative")
	}
	log := newLog(e.log, c.LogLevel)
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
	e.transport = told.Transport
	shared, letGo, err := c.Shared.open(e.ctx, log)
	if err != nil {
		return err
	}
	defer letGo()
	activity := &dashboard.Activity{}
	client, err := e.client(slices.Concat(shared, cursorKeys(c.CursorKey), []socialdata.Option{
		socialdata.WithObserver(observe.Join(told.Observer(), activity.Observer())),
		socialdata.WithLedger(db.Ledger()), socialdata.WithKeys(db.Keys()), socialdata.WithRecords(db.Records()),
		socialdata.WithLogger(log), socialdata.WithEnvironment(c.Environment), socialdata.WithTimeout(c.Timeout),
		socialdata.WithAnswerMemory(c.AnswerMemory << 20),
		socialdata.WithRate(keys.Rate{Capacity: c.RateCapacity, Refill: c.RateRefill}),
	})...)
	if err != nil {
		return err
	}
	if err := told.Health(client.Health); err != nil {
		return err
	}
	tools := mcp.New(client, mcp.Config{Records: db.Records(), Logger: log, Now: e.cfg.Now})
	pages, err := dashboard.New(dashboard.Config{
		Client: client, Keys: db.Keys(), Ledger: db.Ledger(), Records: db.Records(), Activity: activity, Logger: log, Now: e.cfg.Now,
	})
	if err != nil {
		return err
	}
	srv, err := server.New(client, append(told.Server(), server.WithReady(db.Ping),
		server.WithLogger(log), server.WithSections(e.sandbox()...), server.WithMount(mcpPath, tools.Handler()),
		server.WithMetrics(told.page, pages.Admits), server.WithMount(dashboard.Root, pages), server.WithMount(dashboard.Root+"/", pages),
		server.WithLimits(server.Limits{InFlight: c.InFlight, Connections: c.Connections, Notice: c.DrainNotice}))...)
	if err != nil {
		return err
	}
	// Listening comes before the key is made: a taken address must not cost the only sight of it.
	listener, err := listenOn(e.ctx, c.Addr)
	if err != nil {
		return err
	}
	if c.DebugAddr != "" {
		stop, err := serveDebug(e.ctx, c.DebugAddr)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		defer stop()
	}
	if err := c.welcome(e, db, reachable(listener.Addr())); err != nil {
		return errors.Join(err, listener.Close())
	}
	go debug.FreeOSMemory() // what only the start needed: some 5 MB of 40
	return serve(e.ctx, listener, srv, client)
}

// listenOn listens on addr.
func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program; choose another address, such as 127.0.0.1:0 for any", addr)
	}
	return listener, err
}

// reachable returns the address to paste on this machine for one that is listened on: 0.0.0.0 and [::] are every address.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

// serve answers until ctx ends, drains, and waits for what goes on in the background.
func serve(ctx context.Context, listener net.Listener, srv *server.Server, client *socialdata.Client) error {
	err := srv.Serve(ctx, listener)
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(err, client.Close(detached))
}

// welcome says where the API is and, on the first start, makes the account and key to begin with.
func (c *serveCmd) welcome(e *env, db *store, addr string) error {
	if e.cli.ReplayURL != "" {
		if _, err := fmt.Fprintf(e.log, "\n*** REPLAY: every upstream request goes to %s; what is answered is not live. ***\n\n", e.cli.ReplayURL); err != nil {
			return err
		}
	}
	accounts, err := db.Keys().Accounts(e.ctx)
	if err != nil {
		return err
	}
	if len(accounts) == 0 {
		if err := c.firstKey(e, db, addr); err != nil && !errors.Is(err, keys.ErrTaken) { // by a server that starts as well
			return err
		}
	}
	secret, err := dashboard.Begin(e.ctx, db.Records())
	if err != nil {
		return err
	}
	if secret != "" {
		if err := e.printf("The dashboard at http://%s%s opens with this admin secret, which is shown this once:\n\n    %s\n\n",
			addr, dashboard.Root, secret); err != nil {
			return err
		}
	}
	return e.printf("socialdata serves on http://%s (documentation: http://%s/docs, dashboard: http://%s%s)\n", addr, addr, addr, dashboard.Root)
}

func (c *serveCmd) firstKey(e *env, db *store, addr string) error {
	account, err := db.Keys().OpenAccount(e.ctx, "default", firstCredits, "first start")
	if err != nil {
		return err
	}
	secret, _, err := db.Keys().CreateKey(e.ctx, keys.NewKey{Account: account.ID, Name: "first key", Environment: keys.Live})
	if err != nil {
		return err
	}
	path := "platforms"
	if e.sandboxed {
		path = "mock/profile?handle=ann"
	}
	return e.printf(`Created the account "default" with %d credits and one key. The key is shown this once:

    %s

Try it:

    curl -H "Authorization: Bearer %s" "http://%s/v1/%s"

`, firstCredits, secret, secret, addr, path)
}

// cursorKeys returns the option that signs cursors with a secret that was set. Without one the engine keeps a secret in
// the database.
func cursorKeys(set string) []socialdata.Option {
	if set == "" {
		return nil
	}
	return []socialdata.Option{socialdata.WithCursorKeys([]byte(set))}
}

// sandbox lists the magic words of the mock platform, if the program has it, for the documentation page.
func (e *env) sandbox() []server.Section {
	if !e.sandboxed {
		return nil
	}
	s := server.Section{
		Title: "sandbox", Head: []string{"word", "where", "status", "what happens"},
		Intro: "The platform mock answers any ordinary handle or id with invented data. These words, as the handle, id or query, show what else a client must cope with.",
	}
	for _, m := range mock.Magic() {
		s.Rows = append(s.Rows, []string{m.Word, m.Where, fmt.Sprint(m.Status), m.Does})
	}
	return []server.Section{s}
}
