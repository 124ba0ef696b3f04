package cli

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// runner is a command.
type runner interface{ Run(e *env) error }

// parseError is an error in the arguments of a command.
type parseError struct {
	error
	at *kong.Node // the selected command; nil when there is none
}

// parse reads arguments into the command line of parser, and returns the selected command. It returns errHelped when
// help was asked for, which it has printed.
//
// It does what (*kong.Kong).Parse and (*kong.Context).Run do for a command line without hooks. Those two, and Validate,
// look methods up by a name that the linker does not know, so that it would have to keep every exported method of the
// program: the commands of Valkey that are never sent are most of 18 MB.
func parse(parser *kong.Kong, args []string) (runner, error) {
	ctx, err := kong.Trace(parser, args)
	if err == nil {
		err = ctx.Error
	}
	if err == nil && slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool {
		return p.Flag != nil && p.Flag == parser.Model.HelpFlag
	}) {
		return nil, errors.Join(errHelped, ctx.PrintUsage(false))
	}
	if err == nil {
		err = ctx.Reset()
	}
	if err == nil {
		_, err = ctx.Apply()
	}
	if err == nil {
		err = validate(ctx)
	}
	if err != nil {
		return nil, parseError{err, ctx.Selected()}
	}
	command, _ := runnerOf(ctx.Selected())
	return command, nil
}

// errHelped is returned instead of a command when help was asked for.
var errHelped = errors.New("help was printed")

// runnerOf returns the command of a node, which a group of commands is not.
func runnerOf(n *kong.Node) (runner, bool) {
	return reflect.TypeAssert[runner](n.Target.Addr())
}

// validate returns what is wrong with values that can be read, in the words of kong.
func validate(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		n := p.Node()
		if n == nil {
			continue
		}
		for _, v := range n.Values() {
			if err := checkEnum(v, v.Target); err != nil && (v.Set || !v.Required) {
				return err
			}
		}
	}
	for _, p := range ctx.Path {
		if err := checkFlags(p.Flags); err != nil {
			return err
		}
	}
	n := ctx.Selected()
	if n == nil {
		n = ctx.Model.Node
	}
	return checkComplete(n)
}

// checkEnum checks that a value, or each of a list, is one of those that its tag names.
func checkEnum(v *kong.Value, target reflect.Value) error {
	if v.Enum == "" {
		return nil
	}
	if target.Kind() == reflect.Slice {
		for i := range target.Len() {
			if err := checkEnum(v, target.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	got, words := fmt.Sprint(target), v.EnumSlice()
	if slices.Contains(words, got) {
		return nil
	}
	for i := range words {
		words[i] = strconv.Quote(words[i])
	}
	return fmt.Errorf("%s must be one of %s but got %q", v.ShortSummary(), strings.Join(words, ","), got)
}

// checkFlags checks that the required flags are given, and none with one that excludes it.
func checkFlags(flags []*kong.Flag) error {
	var missing []string
	given := map[string]*kong.Flag{} // by the group of which there can be one
	for _, f := range flags {
		switch {
		case f.Required && !f.Set:
			missing = append(missing, f.Summary())
		case f.Set:
			for _, group := range f.Xor {
				if other := given[group]; other != nil {
					return fmt.Errorf("--%s and --%s can't be used together", other.Name, f.Name)
				}
				given[group] = f
			}
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
}

// checkComplete checks that n has its arguments, and that it is a command.
func checkComplete(n *kong.Node) error {
	var missing, arguments []string
	for _, arg := range n.Positional {
		if arg.Required && !arg.Set {
			arguments = append(arguments, arg.Summary())
		}
	}
	if arguments != nil {
		missing = append(missing, strconv.Quote(strings.Join(arguments, " ")))
	}
	if _, ok := runnerOf(n); !ok {
		for _, name := range commandNames(n) {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if len(missing) > 5 {
		missing = append(missing[:5], "...")
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("expected %s", missing[0])
	}
	return fmt.Errorf("expected one of %s", strings.Join(missing, ", "))
}
