// Command standalone is socialdata as a server of its own: the API on one address, everything in one SQLite file or in
// PostgreSQL, and the commands to run it by.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// cli is the command line. Every flag has an environment variable.
type cli struct {
	DB        string   `help:"The database file." default:"./socialdata.db" env:"SOCIALDATA_DB" type:"path" name:"db"`
	Postgres  []string `help:"Keep everything in this PostgreSQL database instead, which any number of servers share; several, in an order that never changes, share the accounts among them." env:"SOCIALDATA_POSTGRES" sep:";" placeholder:"DSN"`
	ReplayURL string   `help:"Send every upstream request for https://HOST/PATH to this address as /HOST/PATH." env:"SOCIALDATA_REPLAY_URL" placeholder:"URL"`

	Serve     serveCmd     `cmd:"" default:"withargs" help:"Serve the API (also what runs without a command)."`
	MCP       mcpCmd       `cmd:"" name:"mcp" help:"Serve the tools of the Model Context Protocol over standard input and output."`
	Account   accountCmd   `cmd:"" help:"Create accounts and give them credits."`
	Key       keyCmd       `cmd:"" help:"Create and revoke API keys."`
	Platforms platformsCmd `cmd:"" help:"List what can be read from each platform, and the setting that is missing where one is."`
	Get       getCmd       `cmd:"" help:"Make one read through the engine, free of charge, and print the answer."`
	Export    exportCmd    `cmd:"" help:"Walk all pages of a list into JSON Lines, free of charge; without arguments the same as books export."`
	Search    searchCmd    `cmd:"" help:"Search many platforms at once, free of charge."`
	Doctor    doctorCmd    `cmd:"" help:"Check the settings, the database, the clock and the way to the upstreams, and say what to do."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
	Admin     adminCmd     `cmd:"" help:"Let whoever has lost the dashboard's secret in again."`
	Usage     usageCmd     `cmd:"" help:"List an account's entries, newest first."`
	Audit     auditCmd     `cmd:"" help:"Prove that every balance is the sum of its entries and that no entry was touched."`
	Books     booksCmd     `cmd:"" help:"Move accounts, keys and entries to another database."`
	Import    importCmd    `cmd:"" hidden:"" help:"Read what books export wrote from standard input into a new file."`

	Completion kongcompletion.Completion `cmd:"" help:"Print what switches on completion in your shell."`
}

// env is what a command works with.
type env struct {
	ctx    context.Context
	cli    *cli
	out    io.Writer // what a program may read
	log    io.Writer // what a person reads
	in     io.Reader
	getenv func(string) string

	transport func(http.RoundTripper) http.RoundTripper // goes around requests to upstreams; nil for nothing
}

func (e *env) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(e.out, format, args...)
	return err
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-asked
		// Before anything is said of the end: whoever asks a second time does not want to wait for the calls under way.
		signal.Stop(asked)
		cancel()
	}()
	warn(os.Stderr, os.Environ())
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// warn names the variables of the environment that look like settings and are none.
func warn(log io.Writer, environ []string) {
	parser, err := kong.New(&cli{})
	if err != nil {
		return // run says so
	}
	for _, warning := range unknownVariables(parser, environ) {
		_, _ = fmt.Fprintln(log, "socialdata: warning:", warning)
	}
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
	kongcompletion.Register(parser, kongcompletion.WithPredictor("platform", complete.PredictSet(platform.Names()...)),
		kongcompletion.WithPredictor("operation", complete.PredictSet(operationNames()...)))
	command, err := parser.Parse(args)
	if exited {
		return status
	}
	if err != nil {
		_, _ = fmt.Fprintln(log, "socialdata: "+misread(parser, err))
		_, _ = fmt.Fprintln(log, help(err))
		return 2
	}
	err = command.Run(&env{ctx: ctx, cli: c, out: out, log: log, in: in, getenv: getenv})
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSilent):
		return 1
	}
	_, _ = fmt.Fprintln(log, "socialdata:", inWords(err))
	return 1
}

// help says where the arguments that were misread are explained.
func help(err error) string {
	misread, ok := errors.AsType[*kong.ParseError](err)
	if !ok || misread.Context.Selected() == nil {
		return "Run socialdata --help to see the commands."
	}
	return "Run socialdata " + misread.Context.Selected().Path() + " --help to see what it takes."
}

// misread says what is wrong with the arguments, with the command that comes nearest to one that does not exist.
func misread(parser *kong.Kong, err error) string {
	text := strings.Replace(err.Error(), `"",`, "", 1) // the choice of none
	if n, ok := strings.CutPrefix(text, "unknown flag -"); ok && n != "" && unicode.IsDigit(rune(n[0])) {
		number, _, _ := strings.Cut(n, ",")
		return fmt.Sprintf("-%s is no number that can be given here", number)
	}
	if arg, ok := strings.CutPrefix(text, "unexpected argument "); ok && !strings.Contains(arg, "did you mean") {
		if strings.Contains(arg, "=") {
			return fmt.Sprintf("%q must stand before the flags, with the other parameters", arg)
		}
		return fmt.Sprintf("there is no command %q%s", arg, problem.DidYouMean(arg, commandNames(parser)))
	}
	return text
}
