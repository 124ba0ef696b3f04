package cli

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
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

// Config is the configuration of a program.
type Config struct {
	// Providers returns the upstreams, those of one platform in the order in which they are tried. The names that it
	// looks up become settings of the program, like the flags: it must look up all of them, and work when none is set.
	Providers func(Environment) ([]providers.Chain, error)
	// Platforms are the program's own, in addition to those of the specification; see [socialdata.WithPlatform].
	Platforms []platform.Info
	// Now is the clock; nil means time.Now. A PostgreSQL database uses its own clock, which all servers share.
	Now func() time.Time
	// Enricher returns the model behind enrich=arabic. It is called for the first text. Nil disables enrichment.
	Enricher func() enrich.Enricher
}

// Environment is what Providers needs.
type Environment struct {
	Lookup func(name string) (value string, ok bool) // like [os.LookupEnv]
	HTTP   *http.Client                              // makes the requests to upstreams, with tracing and replay
}

// Main runs the command that the program was called with, and exits with its status. The first SIGINT or SIGTERM ends
// the command, a second one the process.
func Main(cfg Config) {
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-asked
		// Before the shutdown begins, so that a second signal need not wait for calls in progress.
		signal.Stop(asked)
		cancel()
	}()
	warn(cfg, os.Stderr, os.Environ())
	os.Exit(Run(ctx, cfg, os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr}, os.Getenv))
}

// warn prints a warning for each environment variable that looks like a setting but is not.
func warn(cfg Config, log io.Writer, environ []string) {
	parser, err := kong.New(&commandLine{})
	if err != nil {
		return // Run reports the error
	}
	for _, warning := range cfg.unknownVariables(parser, environ) {
		_, _ = fmt.Fprintln(log, "socialdata: warning:", warning)
	}
}

// commandLine is the commands and flags. Every flag has an environment variable.
type commandLine struct {
	DB        string `help:"The database file." default:"./socialdata.db" env:"SOCIALDATA_DB" type:"path" name:"db" group:"where"`
	Postgres  string `help:"Keep everything in this PostgreSQL database instead, which any number of servers can share." env:"SOCIALDATA_POSTGRES" placeholder:"DSN" group:"where"`
	Server    string `help:"Call the server at this address, such as https://data.example.com, instead of reading here: get, search, export, conversation, sql, watch, changes, monitors, bulk, history, endpoints, platforms, usage, logs, account and key." env:"SOCIALDATA_SERVER" placeholder:"URL" group:"where"`
	APIKey    string `name:"key" help:"The API key whose account pays for calls of --server and of mcp; better set as an environment variable, because others can see arguments." env:"SOCIALDATA_KEY" placeholder:"KEY" group:"where"`
	ReplayURL string `help:"Send every upstream request for https://HOST/PATH to this address as /HOST/PATH." env:"SOCIALDATA_REPLAY_URL" placeholder:"URL" group:"where"`

	Retention retentionFlags `embed:""`
	BulkStore bulkFlags      `embed:""`

	Serve     serveCmd     `cmd:"" help:"Serve the API, the documentation and the dashboard."`
	MCP       mcpCmd       `cmd:"" name:"mcp" help:"Serve the tools of the Model Context Protocol over standard input and output."`
	Account   accountCmd   `cmd:"" help:"Create accounts and give them credits."`
	Key       keyCmd       `cmd:"" help:"Create and revoke API keys."`
	Platforms platformsCmd `cmd:"" help:"List what can be read from each platform, and which settings are missing."`
	Open      openCmd      `cmd:"" help:"Read what a web address names and print it; free without --server."`
	Resolve   resolveCmd   `cmd:"" help:"List the reads that a web address leads to, without making them."`
	Get       getCmd       `cmd:"" help:"Make one read and print the answer; free without --server."`
	Batch     batchCmd     `cmd:"" help:"Read many keys, given one on each line, and write a line for each."`
	Export    exportCmd    `cmd:"" help:"Write all pages of a list as JSON Lines; free without --server. Without arguments, the same as books export."`

	Conversation conversationCmd `cmd:"" help:"Write the comments on a post and all replies to them, in thread order; free without --server."`

	Compare   compareCmd   `cmd:"" help:"Compare accounts by the numbers of their newest posts."`
	SQL       sqlCmd       `cmd:"" name:"sql" help:"Answer a query in SQL, with a table for each read; free without --server."`
	Search    searchCmd    `cmd:"" help:"Search many platforms at once; free without --server."`
	Watch     watchCmd     `cmd:"" help:"Repeat a read and print what changes; free without --server."`
	Changes   changesCmd   `cmd:"" help:"List what the monitors of an account have found, oldest first."`
	Endpoints endpointsCmd `cmd:"" help:"Manage webhooks: the endpoints of an account and the deliveries to them."`
	Monitors  monitorsCmd  `cmd:"" help:"List, pause, resume and remove the monitors of an account."`
	Bulk      bulkCmd      `cmd:"" help:"Hand over files of many reads, which a server works in the background, and write their results."`
	History   historyCmd   `cmd:"" help:"Print what a monitor has read of a number, oldest first."`
	Doctor    doctorCmd    `cmd:"" help:"Check the settings, the database, the clock and the connection to the upstreams, and say how to fix what is wrong."`
	Quotas    quotasCmd    `cmd:"" help:"List the limits of the upstreams, what is left of each, and when it is reset."`
	Version   versionCmd   `cmd:"" help:"Print the version, like --version."`
	Licenses  licensesCmd  `cmd:"" help:"Print the licences of the software that the program contains."`
	Admin     adminCmd     `cmd:"" help:"Reset the dashboard's admin secret."`
	Erase     eraseCmd     `cmd:"" help:"Erase an account or an object from all stores and from the memory of every server."`
	Erasures  erasuresCmd  `cmd:"" help:"List and verify the receipts of erasures, and unblock what was blocked."`
	Usage     usageCmd     `cmd:"" help:"List an account's entries, newest first, or the sums of its calls."`
	Logs      logsCmd      `cmd:"" help:"List the latest calls, newest first, without their parameters."`
	Audit     auditCmd     `cmd:"" help:"Prove that every balance is the sum of its entries and that no entry was changed."`
	Backup    backupCmd    `cmd:"" help:"Copy the database file into a new file, even while a server uses it."`
	Books     booksCmd     `cmd:"" help:"Move accounts, keys and entries to another database."`
	Import    importCmd    `cmd:"" hidden:"" help:"Read what books export wrote from standard input into a new file."`

	Completion completionCmd `cmd:"" help:"Print the script that completes commands in your shell: source <(socialdata completion bash)."`
}

// env is the environment of a command.
type env struct {
	ctx    context.Context
	cfg    Config
	cli    *commandLine
	out    io.Writer // output for programs
	log    io.Writer // output for people
	in     io.Reader
	getenv func(string) string

	transport func(http.RoundTripper) http.RoundTripper          // wraps the transport of requests to upstreams; nil wraps nothing
	record    func(http.RoundTripper) (http.RoundTripper, error) // records requests to upstreams; nil records nothing
	sandboxed bool                                               // whether client has found the sandbox among the providers
	warned    bool                                               // whether server has warned
}

// now returns the time by the program's clock.
func (e *env) now() time.Time {
	if e.cfg.Now == nil {
		return time.Now()
	}
	return e.cfg.Now()
}

func (e *env) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(escaping{e.out}, format, args...)
	return err
}

// flagGroups are the groups of flags that help shows after a command's own.
func flagGroups() []kong.Group {
	return []kong.Group{
		{Key: "addresses", Title: "Addresses and what they serve:"},
		{Key: "limits", Title: "Limits:"},
		{Key: "replicas", Title: "With other replicas:"},
		{Key: "watching", Title: "Logs and metrics:"},
		{Key: "output", Title: "Output:"},
		{Key: "where", Title: everyCommand},
	}
}

// printHelp is kong's help with the general flags after those of the command itself.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	out := ctx.Stdout
	defer func() { ctx.Stdout = out }()
	var b strings.Builder
	ctx.Stdout = &b
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	var first, last []string
	for part := range strings.SplitSeq(strings.TrimRight(b.String(), "\n"), "\n\n") {
		if strings.HasPrefix(part, everyCommand) {
			last = append(last, part)
		} else {
			first = append(first, part)
		}
	}
	_, err := fmt.Fprintln(out, strings.Join(append(first, last...), "\n\n"))
	return err
}

const everyCommand = "Of every command:"

// misuse is an error in the arguments of a command. It ends the program with status 2.
type misuse struct{ error }

// misusef formats a misuse.
func misusef(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// misused reports whether the arguments are invalid, by the command itself or by what it called.
func misused(err error) bool {
	_, ok := errors.AsType[misuse](err)
	return ok || errors.Is(err, problem.InvalidRequest)
}

// errSilent ends the program with status 1 without a message.
var errSilent = errors.New("")

// Streams are the input and the outputs of a command.
type Streams struct {
	In  io.Reader
	Out io.Writer // output for programs
	Log io.Writer // output for people
}

// Run runs one command and returns the exit status: 0, 1 when it failed, 2 when the arguments are invalid, 130 when ctx
// was cancelled before it was done. getenv returns the settings of providers and of the terminal; those of flags are read
// from the environment of the process.
func Run(ctx context.Context, cfg Config, args []string, streams Streams, getenv func(string) string) int {
	in, out, log := streams.In, streams.Out, streams.Log
	for _, a := range args {
		if !utf8.ValidString(a) { // the parser would replace the invalid bytes
			_, _ = fmt.Fprintf(log, "socialdata: %q is not UTF-8\n", a)
			return 2
		}
	}
	c := &commandLine{}
	parser, err := kong.New(c, kong.Name("socialdata"), kong.Writers(out, log),
		kong.Description("Public social and commerce data from many platforms through one API."),
		kong.ExplicitGroups(flagGroups()), kong.Help(printHelp))
	if err != nil {
		_, _ = fmt.Fprintln(log, "socialdata:", err)
		return 2
	}
	if asked, err := predict(ctx, cfg, parser); asked || err != nil {
		if err != nil {
			_, _ = fmt.Fprintln(log, "socialdata:", err)
			return 2
		}
		return 0
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(args[1:], "--help")
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	command, err := parse(parser, args)
	if errors.Is(err, errHelped) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintln(log, "socialdata: "+escaped(misread(parser, err)))
		_, _ = fmt.Fprintln(log, help(err))
		return 2
	}
	err = command.Run(&env{ctx: ctx, cfg: cfg, cli: c, out: out, log: log, in: in, getenv: getenv})
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSilent):
		return 1
	}
	_, _ = fmt.Fprintln(log, "socialdata:", escaped(inWords(err)))
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return interrupted
	case misused(err):
		return 2
	}
	return 1
}

// interrupted is the exit status of a command that SIGINT or SIGTERM ends before it is done, as in shells.
const interrupted = 130

// help returns where the invalid arguments are explained.
func help(err error) string {
	command := selected(err)
	if command == nil {
		return "Run socialdata --help to see the commands."
	}
	return "Run socialdata " + command.Path() + " --help to see what it takes."
}

// selected returns the command whose arguments are invalid, nil when there is none.
func selected(err error) *kong.Node {
	misread, ok := errors.AsType[parseError](err)
	if !ok {
		return nil
	}
	return misread.at
}

// misread returns what is wrong with the arguments, and the most similar command to one that does not exist.
func misread(parser *kong.Kong, err error) string {
	text := strings.Replace(err.Error(), `"",`, "", 1) // the choice of no command
	if n, ok := strings.CutPrefix(text, "unknown flag -"); ok && n != "" && unicode.IsDigit(rune(n[0])) {
		number, _, _ := strings.Cut(n, ",")
		return fmt.Sprintf("-%s must be a positive number", number)
	}
	if arg, ok := strings.CutPrefix(text, "unexpected argument "); ok {
		arg, _, _ = strings.Cut(arg, ", did you mean")
		if strings.Contains(arg, "=") {
			return fmt.Sprintf("%q is a parameter: write it before the flags", arg)
		}
		under := parser.Model.Node
		if command := selected(err); command != nil {
			under = command
		}
		if under.Leaf() {
			return fmt.Sprintf("%s does not take %q", under.Path(), arg)
		}
		return fmt.Sprintf("there is no command %q%s", arg, problem.DidYouMean(arg, commandNames(under)))
	}
	return text
}
