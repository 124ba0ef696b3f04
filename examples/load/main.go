// Command load compares the shipped server with a bare net/http handler, and with nginx, which return the same bytes:
// all on loopback, in one run, by turns. It prints requests per second, latencies, and the ratios.
//
//	go run ./examples/load                                     # a short one
//	go run ./examples/load --for 5s --rounds 7 --nginx /usr/sbin/nginx
//	go run ./examples/load --handmade FILE                   # and with a service that is written by hand
//	go run ./examples/load --without-log                    # what the request log costs
//	go run ./examples/load --requests 1000000 --wide 1024   # how much memory the server uses
//	go run ./examples/load --overload                       # twice the calls that it can answer
//	go run ./examples/load --starts 11                      # how long the program takes to start, and its idle memory
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type cli struct {
	Program     string        `help:"The program to measure; built from ./examples/standalone without it." placeholder:"FILE"`
	Nginx       string        `help:"The nginx to compare with, as Debian packages it; left out without it." placeholder:"FILE"`
	Handmade    string        `help:"The service that a good programmer writes by hand, to compare with: ../shared/tools/handmade, built; left out without it." placeholder:"FILE"`
	Handle      string        `help:"The sandbox profile that is read." default:"ann"`
	Connections []int         `help:"How many connections at a time." default:"64,256"`
	For         time.Duration `help:"How long a round of each server lasts." default:"1s"`
	Rounds      int           `help:"Rounds of each; the figures are medians." default:"3"`
	Requests    int           `help:"Instead: make so many requests and say what the server's memory is after a hundredth of them and after all." placeholder:"N"`
	Wide        int           `help:"Connections for --requests and --overload." default:"1024"`
	Overload    bool          `help:"Instead: find the best rate of the server, with its limits, and offer twice as many calls."`
	Starts      int           `help:"Instead: start the program so often and say how long it takes to its first /health." placeholder:"N"`
	WithoutLog  bool          `help:"Also measure the server without its request log, and print the share that it reaches with it."`
	LogLevel    string        `help:"The log level of the server; its lines go nowhere." default:"info"`
	DebugAddr   string        `help:"Where the server serves profiles meanwhile." placeholder:"ADDR"`
	Bare        bool          `hidden:"" help:"Be a bare handler, of the answer on standard input."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	kong.Parse(&c, kong.Name("load"), kong.Description("Compare the server with a bare handler and with nginx on loopback."))
	do := c.run
	if c.Bare {
		do = func(ctx context.Context) error { return bare(ctx, os.Stdin, os.Stdout, os.Stderr) }
	}
	if err := do(ctx); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// target is a server under load.
type target struct {
	name    string
	addr    string
	request []byte // as sent
	pid     int
}

func (c *cli) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var running children
	defer running.stop()
	if c.Program == "" {
		if c.Program, err = build(ctx, dir); err != nil {
			return err
		}
	}
	if c.Starts > 0 {
		return c.starts(ctx, dir)
	}
	var flags []string
	if c.Overload { // a sixteenth of the calls at work may be those of a sandbox, and this is one
		flags = []string{"--in-flight", strconv.Itoa(overloadInFlight)}
	}
	ours, err := c.ours(ctx, dir, "socialdata", &running, flags...)
	if err != nil {
		return err
	}
	if c.Overload {
		return c.overload(ctx, ours)
	}
	if c.Requests > 0 {
		return c.memory(ctx, ours)
	}
	answer, err := once(ctx, ours)
	if err != nil {
		return err
	}
	plain, err := startBare(ctx, answer, false, &running)
	if err != nil {
		return err
	}
	full, err := startBare(ctx, answer, true, &running)
	if err != nil {
		return err
	}
	targets := []target{plain, ours, full}
	if c.WithoutLog {
		unlogged, err := c.ours(ctx, dir, "without a log", &running, "--log-calls", "0")
		if err != nil {
			return err
		}
		targets = append(targets, unlogged)
	}
	if c.Handmade != "" {
		peer, err := startHandmade(ctx, c.Handmade, dir, answer, &running)
		if err != nil {
			return err
		}
		targets = append(targets, peer)
	}
	if c.Nginx != "" {
		front, err := startNginx(ctx, c.Nginx, dir, plain.addr, &running)
		if err != nil {
			return err
		}
		targets = append(targets, front)
	}
	say("a cached profile of %d bytes; medians of %d rounds of %s\n", len(answer.body), c.Rounds, c.For)
	for _, n := range c.Connections {
		if err := c.compare(ctx, n, targets); err != nil {
			return err
		}
	}
	return nil
}

// compare puts every target under load by turns and prints the results.
func (c *cli) compare(ctx context.Context, connections int, targets []target) error {
	results := make([][]result, len(targets))
	for _, t := range targets { // warm up
		if _, err := load(ctx, t, connections, c.For/4, 0); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for range c.Rounds {
		for i, t := range targets {
			r, err := load(ctx, t, connections, c.For, 0)
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			results[i] = append(results[i], r)
		}
	}
	say("\n%3d connections    requests/s   p50        p99        CPU each   of bare   p99 ÷ bare's\n", connections)
	reference := medians(results[0])
	for i, t := range targets {
		m := medians(results[i])
		say("%-18s %10.0f   %-10s %-10s %-10s %-9.2f %.1f\n", t.name, m.rate, round(m.p50), round(m.p99),
			m.cpu.Round(100*time.Nanosecond), m.rate/reference.rate, float64(m.p99)/float64(reference.p99))
	}
	for i := 2; i < len(targets); i++ {
		say("of %s: %.3f\n", targets[i].name, medians(results[1]).rate/medians(results[i]).rate)
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// medians returns the median of each figure.
func medians(rs []result) result {
	mid := func(of func(result) float64) float64 {
		var s []float64
		for _, r := range rs {
			s = append(s, of(r))
		}
		slices.Sort(s)
		return s[len(s)/2]
	}
	return result{
		rate: mid(func(r result) float64 { return r.rate }),
		p50:  time.Duration(mid(func(r result) float64 { return float64(r.p50) })),
		p99:  time.Duration(mid(func(r result) float64 { return float64(r.p99) })),
		cpu:  time.Duration(mid(func(r result) float64 { return float64(r.cpu) })),
	}
}

// memory prints the server's memory after many requests, and after few.
func (c *cli) memory(ctx context.Context, t target) error {
	var after [2]int
	for i, n := range []int{c.Requests / 100, c.Requests - c.Requests/100} {
		if _, err := load(ctx, t, c.Wide, 0, n); err != nil {
			return err
		}
		var err error
		if after[i], err = resident(t.pid); err != nil {
			return err
		}
	}
	say("resident memory after %d requests from %d connections: %d kB; after %d: %d kB, %.2f times\n",
		c.Requests/100, c.Wide, after[0], c.Requests, after[1], float64(after[1])/float64(after[0]))
	return nil
}

func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }

// starts measures how long the program takes until it answers /health for the first time, on an existing file, and its
// idle memory then.
func (c *cli) starts(ctx context.Context, dir string) error {
	var took, idle []int
	for range c.Starts + 1 { // the first one creates the file
		var running children
		began := time.Now()
		t, err := c.serve(ctx, dir, &running)
		if err == nil {
			_, err = ask(ctx, target{t.name, t.addr, request("/health", t.addr), t.pid})
		}
		if err != nil {
			running.stop()
			return err
		}
		took = append(took, int(time.Since(began).Microseconds()))
		time.Sleep(time.Second)
		kB, err := resident(t.pid)
		running.stop()
		if err != nil {
			return err
		}
		idle = append(idle, kB)
	}
	info, err := os.Stat(c.Program)
	if err != nil {
		return err
	}
	took, idle = took[1:], idle[1:]
	slices.Sort(took)
	slices.Sort(idle)
	say("start to the first /health: %.1f ms at best, %.1f ms median of %d\nidle: %.1f MB resident\nprogram: %.1f MB\n",
		float64(took[0])/1000, float64(took[len(took)/2])/1000, len(took), float64(idle[len(idle)/2])/1000, float64(info.Size())/1e6)
	return nil
}

// build builds the measured program.
func build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "socialdata")
	out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "github.com/socialdata/socialdata/examples/standalone").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

// resident returns the resident memory of a process, in kB.
func resident(pid int) (int, error) {
	status, err := os.Open("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	defer func() { _ = status.Close() }()
	return field(status, "VmRSS:")
}

// spentBy returns the CPU time of a process, in the system and outside of it; 0 if it is not known.
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func spentBy(pid int) time.Duration {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, stat, _ = bytes.Cut(stat, []byte(") ")) // the name of the program may have spaces
	fields := bytes.Fields(stat)
	if len(fields) < 13 {
		return 0
	}
	const tick = 10 * time.Millisecond // of every architecture that Go knows
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * tick
}

// field returns the number after a name, in text with lines such as VmRSS: 1024 kB.
func field(r io.Reader, name string) (int, error) {
	for {
		var word string
		if _, err := fmt.Fscan(r, &word); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if word == name {
			n := 0
			_, err := fmt.Fscan(r, &n)
			return n, err
		}
	}
}
