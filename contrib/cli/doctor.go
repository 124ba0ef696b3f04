package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/socialdata/socialdata/contrib/valkey"
	"github.com/socialdata/socialdata/providers/replay"
	"github.com/socialdata/socialdata/schema"
)

type versionCmd struct {
	outputFlags `embed:""`
}

// Run prints the version of the module, the commit and the compiler.
func (c *versionCmd) Run(e *env) error {
	v := versionShape{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Version = cmp.Or(info.Main.Version, v.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	return c.show(e, v, func() error {
		words := slices.DeleteFunc([]string{"socialdata", v.Version, v.Commit, v.Go, v.OS + "/" + v.Arch},
			func(s string) bool { return s == "" })
		return e.printf("%s\n", strings.Join(words, " "))
	})
}

type doctorCmd struct {
	Offline bool `help:"Ask no upstream."`

	outputFlags `embed:""`
}

// places are public addresses of upstreams, to check whether they can be reached.
var places = []struct{ name, url string }{
	{"bluesky", "https://public.api.bsky.app/"},
	{"github", "https://api.github.com/"},
	{"hackernews", "https://hacker-news.firebaseio.com/v0/maxitem.json"},
	{"youtube", "https://www.youtube.com/"},
}

const (
	placePatience = 5 * time.Second
	mostSkew      = 2 * time.Minute // above which some upstreams refuse signed requests
)

// Run prints a line for each check; the exit status is 1 when one fails.
func (c *doctorCmd) Run(e *env) error {
	checks := []checkShape{}
	note := func(mark string, check checkShape) error {
		checks = append(checks, check)
		if c.Output != "" && c.Output != "table" {
			return nil // prints everything at the end
		}
		return e.printf("%s  %-10s  %s\n", mark, check.Check, check.Says)
	}
	say := func(ok bool, what, words string) error {
		mark := "ok  "
		if !ok {
			mark = "FAIL"
		}
		return note(mark, checkShape{OK: ok, Check: what, Says: words})
	}
	warn := func(what, words string) error {
		return note("warn", checkShape{OK: true, Warning: true, Check: what, Says: words})
	}
	err := c.checks(e, say, warn)
	if err == nil {
		err = c.quotas(e, note, warn)
	}
	if err == nil {
		err = c.show(e, checks, func() error { return nil })
	}
	if err == nil && slices.ContainsFunc(checks, func(s checkShape) bool { return !s.OK }) {
		err = errSilent
	}
	return err
}

// checks makes every check and reports the result, and warns of what works but may be unintended.
func (c *doctorCmd) checks(
	e *env, say func(ok bool, what, words string) error, warn func(what, words string) error,
) error {
	served := &commandLine{}
	parser, err := kong.New(served)
	if err != nil {
		return err
	}
	for _, warning := range e.cfg.unknownVariables(parser, os.Environ()) {
		if err := say(false, "settings", warning); err != nil {
			return err
		}
	}
	if _, err = parse(parser, []string{"serve"}); err == nil { // it has settings of its own
		err = errors.Join(served.Serve.Addresses.check(), served.Serve.CallRecords.check())
	}
	if err == nil {
		_, err = e.client()
	}
	if err := say(err == nil, "settings",
		advice(err, "all settings are valid", "change the setting and run doctor again")); err != nil {
		return err
	}
	if err := c.addresses(e, &served.Serve, say, warn); err != nil {
		return err
	}
	if err := c.shared(e, served.Serve.Shared, say); err != nil {
		return err
	}
	if err := c.store(e, say, warn); err != nil {
		return err
	}
	if err := c.retention(e, say, warn); err != nil {
		return err
	}
	if err := c.disk(e, served.Serve.CallRecords, say); err != nil {
		return err
	}
	if !c.Offline {
		if err := c.upstreams(e, say); err != nil {
			return err
		}
	}
	return nil
}

// addresses checks who can reach the server, and who could read its traffic.
func (c *doctorCmd) addresses(
	e *env, s *serveCmd, say func(ok bool, what, words string) error, warn func(what, words string) error,
) error {
	if s.Addresses.TLSCert != "" && s.Addresses.TLSKey != "" {
		soon, err := checkCertificate(s.Addresses.TLSCert, s.Addresses.TLSKey, e.now())
		if err == nil && soon != "" {
			err = warn("tls", soon)
		} else {
			err = say(err == nil, "tls", advice(err, "certificate and key match", "check --tls-cert and --tls-key"))
		}
		if err != nil {
			return err
		}
	}
	found := s.exposures(os.Geteuid())
	if text := e.clearText(); text != "" {
		found = append(found, "server: "+text)
	}
	for _, text := range found {
		what, words, _ := strings.Cut(text, ": ")
		if err := warn(what, words); err != nil {
			return err
		}
	}
	return nil
}

// shared checks the server that replicas share, if there is one.
func (c *doctorCmd) shared(e *env, f sharedFlags, say func(ok bool, what, words string) error) error {
	if f.Valkey == "" {
		return nil
	}
	server, err := valkey.Open(e.ctx, valkey.Config{Address: f.Valkey})
	if err == nil {
		defer server.Close()
		if server.Cache(valkey.CacheConfig{}).State() != schema.Healthy {
			err = errors.New(f.Valkey + " does not answer")
		}
	}
	return say(err == nil, "valkey", advice(err, "it answers", "check that it runs and that --valkey is its address"))
}

func (c *doctorCmd) store(
	e *env, say func(ok bool, what, words string) error, warn func(what, words string) error,
) error {
	if e.cli.Postgres == "" {
		if _, err := os.Stat(e.cli.DB); os.IsNotExist(err) {
			return say(true, "database", "there is no file "+e.cli.DB+" yet; serve creates it")
		}
	}
	accounts := 0
	var warnings []string
	err := e.with(func(db *store) (err error) {
		if err := db.Ping(e.ctx); err != nil {
			return err
		}
		if db.warnings != nil {
			if warnings, err = db.warnings(e.ctx); err != nil {
				return err
			}
		}
		list, err := db.Keys().Accounts(e.ctx)
		accounts = len(list)
		return err
	})
	if err := say(err == nil, "database",
		advice(err, fmt.Sprintf("it answers; accounts: %d; socialdata audit verifies its books", accounts),
			"check that --db or --postgres names it and that you may write to it")); err != nil {
		return err
	}
	for _, w := range warnings {
		if err := warn("database", w); err != nil {
			return err
		}
	}
	return nil
}

// quotas prints how much is left of the known limits of the upstreams, and warns when it is little.
func (c *doctorCmd) quotas(
	e *env, note func(mark string, check checkShape) error, warn func(what, words string) error,
) error {
	quotas, err := e.quotas()
	if err != nil {
		return nil // earlier checks have reported the reason
	}
	known := 0
	for _, q := range quotas {
		if q.Limit == 0 {
			continue
		}
		if known++; q.Left*10 >= q.Limit {
			continue
		}
		words := fmt.Sprintf("%s %s: %d of %d left", q.Provider, q.Name, q.Left, q.Limit)
		if !q.Resets.IsZero() {
			words += ", reset at " + q.Resets.UTC().Format(time.RFC3339)
		}
		if err := warn("quota", words); err != nil {
			return err
		}
	}
	says := fmt.Sprintf("known limits of upstreams: %d; socialdata quotas lists them", known)
	return note("note", checkShape{OK: true, Check: "quotas", Says: says})
}

// advice returns well, or the error and what to do about it.
func advice(err error, well, todo string) string {
	if err == nil {
		return well
	}
	return inWords(err) + "; " + todo
}

// upstreams checks all places concurrently.
func (c *doctorCmd) upstreams(e *env, say func(ok bool, what, words string) error) error {
	web := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if e.cli.ReplayURL != "" {
		transport, err := replay.New(e.cli.ReplayURL, nil)
		if err != nil {
			return say(false, "replay", advice(err, "", "set --replay-url to an http address"))
		}
		web.Transport = transport
	}
	type reached struct {
		err  error
		took time.Duration
		skew time.Duration
		date bool
	}
	got := make([]reached, len(places))
	var wg sync.WaitGroup
	for i, boundAddress := range places {
		wg.Go(func() {
			began := time.Now()
			date, err := dateAt(e.ctx, web, boundAddress.url)
			took := time.Since(began)
			got[i] = reached{err, took, time.Until(date) + took/2, err == nil && !date.IsZero()}
		})
	}
	wg.Wait()
	clock, right := "not checked, because no upstream answered with a time; check that NTP is running", false
	for _, g := range got {
		if g.date {
			right = g.skew.Abs() < mostSkew
			clock = "it is correct to within " + max(time.Second, g.skew.Abs().Round(time.Second)).String()
			if !right {
				clock = fmt.Sprintf("it is wrong by %v; correct it, or signed requests fail", g.skew.Abs().Round(time.Second))
			}
			break
		}
	}
	if err := say(right, "clock", clock); err != nil {
		return err
	}
	for i, boundAddress := range places {
		words := fmt.Sprintf("reached in %v", got[i].took.Round(time.Millisecond))
		if got[i].err != nil {
			words = "not reached: " + inWords(got[i].err) + "; check the network, the proxy (HTTPS_PROXY) and the firewall"
		}
		if err := say(got[i].err == nil, boundAddress.name, words); err != nil {
			return err
		}
	}
	return nil
}

// dateAt returns the time in a place's answer; zero when it has none.
func dateAt(ctx context.Context, web *http.Client, url string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, placePatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return time.Time{}, err
	}
	resp, err := web.Do(req)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // it answered, which is enough
	}
	return date, nil
}
