// Command standalone is socialdata as a server of its own: the API on one address, everything in one SQLite file, and
// the commands to run it by.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/store/sqlite"
)

// cli is the command line. Every flag has an environment variable.
type cli struct {
	DB        string `help:"The database file." default:"./socialdata.db" env:"SOCIALDATA_DB" type:"path" name:"db"`
	ReplayURL string `help:"Send every upstream request for https://HOST/PATH to this address as /HOST/PATH." env:"SOCIALDATA_REPLAY_URL" placeholder:"URL"`

	Serve     serveCmd     `cmd:"" default:"withargs" help:"Serve the API (also what runs without a command)."`
	MCP       mcpCmd       `cmd:"" name:"mcp" help:"Serve the tools of the Model Context Protocol over standard input and output."`
	Account   accountCmd   `cmd:"" help:"Create accounts and give them credits."`
	Key       keyCmd       `cmd:"" help:"Create and revoke API keys."`
	Platforms platformsCmd `cmd:"" help:"List what can be read from each platform, and the setting that is missing where one is."`
	Get       getCmd       `cmd:"" help:"Make one read through the engine, free of charge, and print its envelope."`
	Usage     usageCmd     `cmd:"" help:"List an account's entries, newest first."`
	Audit     auditCmd     `cmd:"" help:"Prove that every balance is the sum of its entries and that no entry was touched."`
	Export    exportCmd    `cmd:"" help:"Write accounts, keys (hashes) and entries as JSON Lines to standard output."`
	Import    importCmd    `cmd:"" help:"Read what export wrote from standard input into a new file."`
}

// env is what a command works with.
type env struct {
	ctx    context.Context
	cli    *cli
	out    io.Writer // what a program may read
	log    io.Writer // what a person reads
	in     io.Reader
	getenv func(string) string
}

// open opens the database beside a server that may be using it.
func (e *env) open() (*sqlite.DB, error) {
	return sqlite.Open(e.ctx, sqlite.Config{Path: e.cli.DB, Admin: true})
}

// with opens a database that is there for do and closes it again.
func (e *env) with(do func(*sqlite.DB) error) error {
	if _, err := os.Stat(e.cli.DB); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no database %s; account create and serve make one", e.cli.DB)
	}
	return e.withNew(do)
}

// withNew is with for a database that may be made now.
func (e *env) withNew(do func(*sqlite.DB) error) error {
	db, err := e.open()
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

func (e *env) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(e.out, format, args...)
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// errSilent ends the program with status 1; all has been said.
var errSilent = errors.New("")

// run runs one command and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer, getenv func(string) string) int {
	for _, a := range args {
		if !utf8.ValidString(a) { // the parser would put other characters in its place
			_, _ = fmt.Fprintf(log, "socialdata: %q is no UTF-8\n", a)
			return 2
		}
	}
	c := &cli{}
	status, exited := 0, false
	parser, err := kong.New(c, kong.Name("socialdata"), kong.UsageOnError(), kong.Writers(out, log),
		kong.Description("Public social and commerce data from many platforms through one API."),
		kong.Exit(func(code int) { status, exited = code, true }))
	if err != nil {
		_, _ = fmt.Fprintln(log, "socialdata:", err)
		return 2
	}
	command, err := parser.Parse(args)
	if exited {
		return status
	}
	if err != nil {
		_, _ = fmt.Fprintln(log, "socialdata:", err)
		_, _ = fmt.Fprintln(log, "Run socialdata --help to see the commands.")
		return 2
	}
	err = command.Run(&env{ctx, c, out, log, in, getenv})
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSilent):
		return 1
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		err = p
	}
	_, _ = fmt.Fprintln(log, "socialdata:", inWords(err))
	return 1
}
