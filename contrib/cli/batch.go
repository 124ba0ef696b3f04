package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

type batchCmd struct {
	Platform  string   `arg:"" optional:"" help:"The platform, such as github; without it, the keys are web addresses of any platforms." predictor:"platform"`
	Operation string   `arg:"" optional:"" help:"The operation that reads one key, such as profile." predictor:"operation"`
	Params    []string `arg:"" optional:"" help:"Further parameters as name=value, such as fresh=true."`
	From      string   `help:"Read the keys, one on each line, from this file; from standard input without it, and with -. Lines that begin with a number sign and a space are skipped." type:"path" placeholder:"FILE"`
	To        string   `name:"into" aliases:"to" help:"Write to this file. One that ends in .db is a database, whose rows are updated; with any other the same command continues where an earlier one ended, and .csv and .jsonl are formats." type:"path" placeholder:"FILE"`
	Output    string   `short:"o" help:"jsonl or csv." enum:"jsonl,csv" default:"jsonl" placeholder:"FORMAT" group:"output"`

	db string // the file of --into if it is a database; To is then empty
}

// totals count the results of the keys of a batch.
type totals struct {
	Found   int   `json:"found"`
	Missing int   `json:"missing"` // not found
	Failed  int   `json:"failed"`  // any other problem
	Credits int64 `json:"credits"`
}

// Run reads the keys and writes a line for each, in order.
func (c *batchCmd) Run(e *env) error {
	if c.Output = fileFormat(c.To, c.Output); filepath.Ext(c.To) == tableFile {
		c.db, c.To = c.To, ""
	}
	o, asked, err := c.call(e)
	if err != nil {
		return err
	}
	if asked.Params.Has(o.Key().Name) {
		return fmt.Errorf("%s is read from --from or standard input", o.Key().Name)
	}
	keys, err := linesOf(e, cmp.Or(c.From, "-"))
	if err != nil {
		return err
	}
	client, err := e.caller()
	if err != nil {
		return err
	}
	e.ctx = callctx.InBackground(e.ctx) // calls of clients have priority
	return c.walk(e, client, o, asked, keys)
}

// call returns the call that reads the keys, which are addresses if no platform is named.
func (c *batchCmd) call(e *env) (*operation.Operation, operation.Call, error) {
	if c.Platform == "" || strings.Contains(c.Platform, "=") { // options alone
		o := socialdata.Operation("reads")
		var given []string
		for _, word := range append([]string{c.Platform, c.Operation}, c.Params...) {
			if word != "" {
				given = append(given, word)
			}
		}
		params, err := parseParams(o, given)
		return o, operation.Call{Params: params}, err
	}
	named := call{Platform: c.Platform, Operation: c.Operation + "/batch", Params: c.Params}
	if c.Operation == "" {
		named.Operation = ""
	}
	if one := socialdata.Operation(strings.ToLower(c.Operation)); one != nil &&
		socialdata.Operation(one.Name+"/batch") == nil {
		return nil, operation.Call{}, misusef("%s has no batch, because it does not read one thing by a key", one.Name)
	}
	return named.parse(e.localPlatforms())
}

// linesOf returns the keys in a file, or with - in standard input, without empty lines and comments, which begin with
// "# ". A hashtag has no space.
func linesOf(e *env, file string) (keys []string, err error) {
	in := e.in
	if filepath.Base(file) != "-" { // a path flag makes - absolute
		f, openErr := os.Open(file)
		if openErr != nil {
			return nil, openErr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, operation.MaxKeyList)
	for lines.Scan() {
		if key := operation.Shown(lines.Text()); key != "" && key != "#" && !strings.HasPrefix(key, "# ") {
			keys = append(keys, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the keys: %w", err)
	}
	if keys == nil {
		return nil, errors.New("there are no keys: write one on each line")
	}
	return keys, nil
}

// firstOf returns the first of keys, as many as fit into one call, whose list has a maximum length.
func firstOf(keys []string) []string {
	const separator = len("%0A")
	length := 0
	for i, key := range keys {
		length += len(url.QueryEscape(key)) + separator
		if i == operation.MaxKeys || i > 0 && length > operation.MaxKeyList {
			return keys[:i]
		}
	}
	return keys
}

func (c *batchCmd) walk(
	e *env, client caller, o *operation.Operation, asked operation.Call, keys []string,
) (err error) {
	sum := sha256.Sum256([]byte(strings.Join(keys, "\n")))
	at := mark{
		Call: strings.Join([]string{
			asked.Platform, o.Name, asked.Params.Encode(), "-o", c.Output, hex.EncodeToString(sum[:8]),
		}, " "),
		Made: &totals{}, fresh: true,
	}
	out := e.out
	if c.To != "" {
		f, openErr := at.open(c.To)
		if openErr != nil {
			return openErr
		}
		defer func() { err = at.close(f, c.To, err) }()
		out = f
	}
	bar := newProgress(e.log, "keys", int64(len(keys)))
	defer bar.end()
	for at.Items < int64(len(keys)) {
		part := firstOf(keys[at.Items:])
		asked.Params.Set(o.Key().Name, o.Key().Join(part))
		items, used, err := c.ask(e, client, o, asked, part, at.Items > 0)
		if err == nil {
			err = c.add(e, &at, out, o, items, used)
		}
		if err != nil {
			bar.end()
			return c.interrupted(&at, err)
		}
		bar.show(at.Items)
		if c.To != "" {
			if err := at.save(c.To); err != nil {
				return err
			}
		}
	}
	bar.end()
	return c.done(e, &at)
}

// ask makes one call and returns its items and its charge. If no key of the call is valid, but earlier keys were
// answered, it returns an item for each key as if others had been valid.
func (c *batchCmd) ask(
	e *env, client caller, o *operation.Operation, asked operation.Call, keys []string, begun bool,
) (items []json.RawMessage, used int64, err error) {
	a, err := client.Do(e.ctx, o, asked)
	p, refused := errors.AsType[*problem.Error](err)
	switch {
	case err == nil:
		return items, a.Meta.CreditsUsed, json.Unmarshal(a.Data, &items)
	case !begun || !refused || p.Code != problem.InvalidRequest && (p.Code != problem.NotFound || !o.Service):
		return nil, 0, err
	}
	for _, key := range keys {
		item, err := schema.Marshal(schema.BatchItem[json.RawMessage]{
			Key: operation.Shown(key), Problem: p, Cache: schema.Miss,
		})
		if err != nil {
			return nil, 0, err
		}
		items = append(items, item)
	}
	return items, 0, nil
}

// add writes items, and counts them.
func (c *batchCmd) add(
	e *env, at *mark, w io.Writer, o *operation.Operation, items []json.RawMessage, used int64,
) error {
	made := *at.Made
	found := map[string][]json.RawMessage{} // by operation
	for _, item := range items {
		var read schema.BatchItem[json.RawMessage]
		if err := json.Unmarshal(item, &read); err != nil {
			return err
		}
		switch {
		case read.Problem == nil && read.Data != nil:
			by := o.Of
			if read.Call != nil {
				by = read.Call.Operation
			}
			rows, _, err := itemsOf(*read.Data) // an address may be that of a list
			if err != nil {
				return err
			}
			found[by] = append(found[by], rows...)
			made.Found++
		case read.Problem.Code == problem.NotFound:
			made.Missing++
		default:
			made.Failed++
		}
	}
	made.Credits += used
	var b bytes.Buffer
	if c.db != "" {
		for _, name := range slices.Sorted(maps.Keys(found)) {
			one := socialdata.Operation(name)
			if one == nil { // of a later server
				return fmt.Errorf("%s is not an operation that this program knows; write to a .jsonl file", name)
			}
			if err := e.writeTable(c.db, one.Name, schema.FlatOf(one.Data), found[name], at.Items == 0); err != nil {
				return err
			}
		}
	} else if err := printRows(&b, c.Output, schema.Columns(o.Data), items, at.Bytes == 0); err != nil {
		return err
	}
	n, err := w.Write(b.Bytes())
	if err != nil {
		return err
	}
	at.Bytes, at.Items, at.Made, at.fresh = at.Bytes+int64(n), at.Items+int64(len(items)), &made, false
	return nil
}

// interrupted returns an error that says how to continue.
func (c *batchCmd) interrupted(at *mark, err error) error {
	switch {
	case at.fresh:
		return err
	case c.To != "":
		return fmt.Errorf("%w; %s done, and the same command continues there", err, counted(at.Items, "key"))
	}
	return fmt.Errorf("%w; %s done", err, counted(at.Items, "key"))
}

// done prints the totals.
func (c *batchCmd) done(e *env, at *mark) error {
	if c.To != "" {
		if err := os.Remove(markOf(c.To)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	cost := "would have cost"
	if e.remote() {
		cost = "cost"
	}
	_, err := fmt.Fprintf(e.log, "%d found, %d missing, %d failed; it %s %s\n",
		at.Made.Found, at.Made.Missing, at.Made.Failed, cost, counted(at.Made.Credits, "credit"))
	return err
}
