package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
)

type completionCmd struct {
	Shell string `arg:"" optional:"" help:"bash, zsh or fish; by default the shell in SHELL." enum:",bash,zsh,fish" default:""`
}

// scripts enable completion. The first argument is the program's name as a shell function, the second the name with
// which it was called, the third its path.
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

// Run prints only the script, for the name with which the program was called.
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
	_, err = fmt.Fprintf(e.out, script, word, quoted(name), quoted(path))
	return err
}

// quoted returns s quoted as one word for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

const predictPatience = 2 * time.Second

// typed is a line while it is being typed.
type typed struct {
	line string
	done []string // the complete words after the program's name
	last string   // the word being typed, "" after a space
}

// typedSoFar returns the line that a shell passes in the variables of bash, which the scripts for other shells set as
// well.
// https://www.gnu.org/software/bash/manual/html_node/Bash-Variables.html#index-COMP_005fLINE
func typedSoFar() (t typed, asked bool) {
	t.line = os.Getenv("COMP_LINE")
	if t.line == "" {
		return t, false
	}
	line := t.line
	if point, err := strconv.Atoi(os.Getenv("COMP_POINT")); err == nil && point >= 0 && point < len(line) {
		line = line[:point]
	}
	words := strings.Fields(line)
	if len(words) == 0 || strings.TrimRightFunc(line, unicode.IsSpace) != line {
		words = append(words, "")
	}
	// What follows the last = is a word of its own, as in bash.
	words = append(words[:len(words)-1], strings.Split(words[len(words)-1], "=")...)
	if len(words) > 1 {
		t.done, t.last = words[1:len(words)-1], words[len(words)-1]
	}
	return t, true
}

// before returns the last complete word, or "".
func (t typed) before() string {
	if len(t.done) == 0 {
		return ""
	}
	return t.done[len(t.done)-1]
}

// predictor returns the possible next words.
type predictor func(typed) []string

// predict answers a shell's request for completions. It reports whether there was one.
func predict(ctx context.Context, cfg Config, parser *kong.Kong) (asked bool, err error) {
	t, asked := typedSoFar()
	if !asked {
		return false, nil
	}
	names := cfg.platforms().Names()
	found := next(parser.Model.Node, t, map[string]predictor{
		"platform":  func(typed) []string { return names },
		"operation": func(typed) []string { return operationNames() },
		"param":     func(t typed) []string { return predictParams(t, names) },
		"account":   predictStored(ctx, accountNames),
		"key":       predictStored(ctx, keyIDs),
	})
	for _, word := range found {
		if strings.HasPrefix(word, t.last) {
			if _, err := fmt.Fprintln(parser.Stdout, word); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

// next returns the possible next words of a line: the values of the previous flag, or flags after a hyphen, or else the
// commands below the named one, or the values of its next argument.
func next(at *kong.Node, t typed, predictors map[string]predictor) []string {
	arguments := 0
	var waiting *kong.Flag // the flag that still needs a value
	all := t.done
	for i, word := range all {
		switch child := childOf(at, word); {
		case waiting != nil:
			waiting = nil
		case strings.HasPrefix(word, "-"):
			if flag := flagOf(at, word); flag != nil && !flag.IsBool() {
				waiting = flag
			}
		case child != nil:
			at, arguments, t.done = child, 0, all[i+1:] // operations may have the names of commands
		default:
			arguments++
		}
	}
	if waiting != nil {
		return valuesOf(waiting.Value, t, predictors)
	}
	var found []string
	if strings.HasPrefix(t.last, "-") {
		for _, flags := range at.AllFlags(true) {
			for _, flag := range flags {
				found = append(found, "--"+flag.Name)
			}
		}
		return found
	}
	for _, child := range at.Children {
		if !child.Hidden {
			found = append(found, child.Name)
		}
	}
	if n := len(at.Positional); n > 0 && arguments >= n && at.Positional[n-1].IsCumulative() {
		arguments = n - 1
	}
	if arguments < len(at.Positional) {
		found = append(found, valuesOf(at.Positional[arguments], t, predictors)...)
	}
	return found
}

// childOf returns the subcommand with a name; nil when there is none.
func childOf(at *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(at.Children, func(child *kong.Node) bool { return child.Name == name })
	if i < 0 {
		return nil
	}
	return at.Children[i]
}

// flagOf returns the flag in a word without a value; nil when there is none, or it has its value.
func flagOf(at *kong.Node, word string) *kong.Flag {
	for _, flags := range at.AllFlags(false) {
		for _, flag := range flags {
			if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
				return flag
			}
		}
	}
	return nil
}

// valuesOf returns the possible values of a flag or an argument.
func valuesOf(v *kong.Value, t typed, predictors map[string]predictor) []string {
	if p := predictors[v.Tag.Get("predictor")]; p != nil {
		return p(t)
	}
	return slices.DeleteFunc(v.EnumSlice(), func(word string) bool { return word == "" })
}

// predictParams returns the parameters of the named operation, each with =, or the possible values of the last one.
func predictParams(t typed, platforms []string) []string {
	o := socialdata.Operation("search_across")
	for _, word := range t.done {
		if named := socialdata.Operation(word); named != nil && !named.Service {
			o = named
		}
	}
	if i := slices.IndexFunc(o.Params, func(p operation.Param) bool { return p.Name == t.before() }); i >= 0 {
		if o.Params[i].Name == "platforms" {
			return platforms
		}
		return o.Params[i].Enum
	}
	var names []string
	for _, name := range paramNames(o) {
		given := slices.ContainsFunc(t.done, func(word string) bool { return strings.HasPrefix(word, name+"=") })
		if !given && (o.Name != "search_across" || name != "query") {
			names = append(names, name+"=")
		}
	}
	return names
}

// predictStored returns a predictor for what list finds in the database that the line names; it returns nothing if
// there is no database.
func predictStored(ctx context.Context, list func(e *env, db *store) ([]string, error)) predictor {
	return func(t typed) (names []string) {
		ctx, cancel := context.WithTimeout(ctx, predictPatience)
		defer cancel()
		e := &env{ctx: ctx, cli: &commandLine{}}
		parser, err := kong.New(e.cli, kong.Writers(io.Discard, io.Discard))
		if err != nil {
			return nil
		}
		if _, err := parse(parser, append(wherePart(t.line), "version")); err != nil {
			return nil
		}
		_ = e.with(func(db *store) (err error) {
			names, err = list(e, db)
			return err
		})
		return names
	}
}

// wherePart returns the flags of a line that select the database.
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
