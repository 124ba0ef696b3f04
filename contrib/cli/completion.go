package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
)

type completionCmd struct {
	Shell string `arg:"" optional:"" help:"bash, zsh or fish; that of SHELL without it." enum:",bash,zsh,fish" default:""`
}

// scripts switch completion on. The first argument is the program's name as a shell writes functions, the second the name
// as it was called, the third its path.
var scripts = map[string]string{
	"bash": `_complete_%[1]s() {
    local IFS=$'\n'
    COMPREPLY=($(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" %[3]s))
    if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _complete_%[1]s %[2]s
`,
	"zsh": `autoload -U +X bashcompinit && bashcompinit
complete -o default -C %[3]s %[2]s
`,
	"fish": `function __complete_%[1]s
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    %[3]s
end
complete -f -c %[2]s -a "(__complete_%[1]s)"
`,
}

// Run prints the script, and nothing else, for the name by which the program was called.
func (c *completionCmd) Run(e *env) error {
	shell := cmp.Or(c.Shell, filepath.Base(e.getenv("SHELL")))
	script, ok := scripts[shell]
	if !ok {
		return fmt.Errorf("there is no completion for the shell %q; name bash, zsh or fish", shell)
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	name := filepath.Base(os.Args[0])
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	return e.printf(script, word, quoted(name), quoted(path))
}

// quoted returns s as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

const (
	predictPatience = 2 * time.Second
	mostParams      = 32 // of one call
)

// predict answers a shell that asks, by the variable COMP_LINE, how a line may go on. It reports whether it was asked.
func predict(ctx context.Context, cfg Config, parser *kong.Kong) (asked bool, err error) {
	names := cfg.platforms().Names()
	param := complete.PredictFunc(func(a complete.Args) []string { return predictParams(a, names) })
	command, err := kongcompletion.Command(parser, kongcompletion.WithPredictors(map[string]complete.Predictor{
		"platform":  complete.PredictSet(names...),
		"operation": complete.PredictSet(operationNames()...),
		"param":     param,
		"account":   predictStored(ctx, accountNames),
		"key":       predictStored(ctx, keyIDs),
	}))
	if err != nil {
		return false, err
	}
	for _, name := range []string{"get", "export", "search"} { // whose last argument may be given many times
		args, ok := command.Sub[name].Args.(*kongcompletion.PositionalPredictor)
		if ok {
			args.Predictors = append(args.Predictors, slices.Repeat([]complete.Predictor{param}, mostParams)...)
		}
	}
	shell := complete.New(parser.Model.Name, command)
	shell.Out = parser.Stdout
	return shell.Complete(), nil
}

// predictParams returns the parameters of the operation that was named, each with =, or the words that the last may have.
func predictParams(a complete.Args, platforms []string) []string {
	o := socialdata.Operation("search_across")
	for _, word := range a.Completed {
		if named := socialdata.Operation(word); named != nil && !named.Service {
			o = named
		}
	}
	if i := slices.IndexFunc(o.Params, func(p operation.Param) bool { return p.Name == a.LastCompleted }); i >= 0 {
		if o.Params[i].Name == "platforms" {
			return platforms
		}
		return o.Params[i].Enum
	}
	var names []string
	for _, name := range paramNames(o) {
		given := slices.ContainsFunc(a.Completed, func(word string) bool { return strings.HasPrefix(word, name+"=") })
		if !given && (o.Name != "search_across" || name != "query") {
			names = append(names, name+"=")
		}
	}
	return names
}

// predictStored returns what list finds in the database that the line names; nothing where there is none.
func predictStored(ctx context.Context, list func(e *env, db *store) ([]string, error)) complete.Predictor {
	return complete.PredictFunc(func(complete.Args) (names []string) {
		ctx, cancel := context.WithTimeout(ctx, predictPatience)
		defer cancel()
		e := &env{ctx: ctx, cli: &commandLine{}}
		parser, err := kong.New(e.cli, kong.Exit(func(int) {}))
		if err != nil {
			return nil
		}
		if _, err := parser.Parse(append(wherePart(os.Getenv("COMP_LINE")), "version")); err != nil {
			return nil
		}
		_ = e.with(func(db *store) (err error) {
			names, err = list(e, db)
			return err
		})
		return names
	})
}

// wherePart returns the flags of a line that say which database is meant.
func wherePart(line string) []string {
	var flags []string
	words := strings.Fields(line)
	for i, word := range words {
		name, _, whole := strings.Cut(word, "=")
		switch {
		case name != "--db" && name != "--postgres":
		case whole:
			flags = append(flags, word)
		case i+1 < len(words):
			flags = append(flags, word, words[i+1])
		}
	}
	return flags
}

func accountNames(e *env, db *store) ([]string, error) {
	accounts, err := db.Keys().Accounts(e.ctx)
	var names []string
	for _, a := range accounts {
		names = append(names, a.Name)
	}
	return names, err
}

func keyIDs(e *env, db *store) ([]string, error) {
	list, err := db.Keys().Keys(e.ctx, "")
	var ids []string
	for _, k := range list {
		ids = append(ids, k.ID)
	}
	return ids, err
}
