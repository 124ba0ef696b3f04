package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	settings "github.com/socialdata/socialdata/providers/env"
)

// messages are texts for people that replace those of errors. Details of the error follow them.
var messages = []struct {
	err  error
	text string
}{
	{keys.ErrAbsent, "there is no "},
	{keys.ErrTaken, "this name is taken: "},
	{keys.ErrInvalid, ""},
	{credits.ErrInvalid, ""},
}

// packages are the prefixes of errors with names of packages, which are of no use to people.
var packages = []string{
	"keys: ", "credits: ", "sqlite: ", "store: ", "postgres: ", "bookkeeping: ", "records: ", "watch: ", "socialdata: ", "json: ",
}

// toSet returns which variables to set for settings, each named as provider.setting.
func toSet(names []string) string { return "set " + strings.Join(namesOf(names), " and ") }

// namesOf returns the variables of settings, each named as provider.setting.
func namesOf(names []string) []string {
	variables := []string{}
	for _, name := range names {
		variables = append(variables, settings.Name("", name))
	}
	return variables
}

// newLog returns the log of a command. It adds the variables of settings that are missing.
func newLog(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, logOptions(level)))
}

func logOptions(level slog.Level) *slog.HandlerOptions {
	return &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if names, ok := a.Value.Any().([]string); ok && a.Key == "missing" {
			a.Value = slog.StringValue(toSet(names))
		}
		return a
	}}
}

// inWords returns err as text for people: in one line, without the names of packages.
func inWords(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if p, ok := errors.AsType[*problem.Error](err); ok {
		said := p.DetailIn(func(words problem.Phrase) string { return words.Command })
		if p.Why != "" {
			said += ": " + p.Why
		}
		if lacking, ok := errors.AsType[*providers.MissingError](p); ok {
			said += "; " + toSet(lacking.Qualified())
		}
		said += " (" + string(p.Code) + ")"
		if errors.Is(p, context.Canceled) {
			said = "interrupted"
		}
		text = strings.ReplaceAll(text, p.Error(), said)
	}
	for _, w := range messages {
		if errors.Is(err, w.err) {
			text = strings.ReplaceAll(text, w.err.Error()+": ", w.text)
		}
	}
	for _, p := range packages {
		text = strings.TrimPrefix(text, p)
		for _, before := range []string{": ", "; "} {
			text = strings.ReplaceAll(text, before+p, before)
		}
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		text = strings.Replace(text, file.Op+" "+file.Path+": "+file.Error(), file.Error(), 1) // it is in the text twice
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		text = strings.Replace(text, bad.Error(), "this is not JSON", 1)
	}
	if asked, ok := errors.AsType[*url.Error](err); ok {
		text = strings.Replace(text, asked.Error(), asked.Err.Error(), 1)
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		text = strings.Replace(text, "dial tcp: "+lookup.Error(), "the name "+lookup.Name+" is not known", 1)
	}
	if before, ends := strings.CutSuffix(text, io.EOF.Error()); ends {
		text = strings.TrimSuffix(before, "unexpected ") + "the input ends too early"
	}
	if errors.Is(err, context.Canceled) {
		text = strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
	}
	return text
}
