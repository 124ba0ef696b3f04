package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

type batchCmd struct {
	Platform  string   `arg:"" help:"The platform, such as github." predictor:"platform"`
	Operation string   `arg:"" help:"The operation that reads one key, such as profile." predictor:"operation"`
	Params    []string `arg:"" optional:"" help:"Further parameters as name=value, such as fresh=true."`
	From      string   `help:"Read the keys, one on each line, from this file; from standard input without it." type:"path" placeholder:"FILE"`
	To        string   `help:"Write to this file; the same command continues where an earlier one ended." type:"path" placeholder:"FILE"`
	Output    string   `short:"o" help:"jsonl or csv." enum:"jsonl,csv" default:"jsonl" placeholder:"FORMAT" group:"output"`
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
	named := call{Platform: c.Platform, Operation: c.Operation + "/batch", Params: c.Params}
	if one := socialdata.Operation(strings.ToLower(c.Operation)); one != nil &&
		socialdata.Operation(one.Name+"/batch") == nil {
		return misusef("%s has no batch, because it does not read one thing by a key", one.Name)
	}
	o, asked, err := named.parse(e.localPlatforms())
	if err != nil {
		return err
	}
	if asked.Params.Has(o.Key().Name) {
		return fmt.Errorf("%s is read from --from or standard input", o.Key().Name)
	}
	keys, err := c.keys(e)
	if err != nil {
		return err
	}
	client, err := e.caller()
	if err != nil {
		return err
	}
	e.ctx = providers.WithClass(e.ctx, providers.ClassBackground) // calls of clients have priority
	return c.walk(e, client, o, asked, keys)
}

// keys returns the keys, without empty lines.
func (c *batchCmd) keys(e *env) (keys []string, err error) {
	in := e.in
	if c.From != "" {
		f, openErr := os.Open(c.From)
		if openErr != nil {
			return nil, openErr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, operation.MaxKeyList)
	for lines.Scan() {
		if operation.Shown(lines.Text()) != "" {
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
		defer func() {
			err = errors.Join(err, f.Close())
			if err != nil && at.fresh { // nothing was written
				err = errors.Join(err, os.Remove(c.To), os.Remove(markOf(c.To)))
			}
		}()
		out = f
	}
	bar := newProgress(e.log, "keys", int64(len(keys)))
	defer bar.end()
	for at.Items < int64(len(keys)) {
		part := firstOf(keys[at.Items:])
		asked.Params.Set(o.Key().Name, operation.JoinKeys(part))
		items, used, err := c.ask(e, client, o, asked, part, at.Items > 0)
		if err == nil {
			err = c.add(&at, out, o, items, used)
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
	case !begun || !refused || p.Code != problem.InvalidRequest:
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
func (c *batchCmd) add(at *mark, w io.Writer, o *operation.Operation, items []json.RawMessage, used int64) error {
	made := *at.Made
	for _, item := range items {
		var read schema.BatchItem[json.RawMessage]
		if err := json.Unmarshal(item, &read); err != nil {
			return err
		}
		switch {
		case read.Problem == nil:
			made.Found++
		case read.Problem.Code == problem.NotFound:
			made.Missing++
		default:
			made.Failed++
		}
	}
	made.Credits += used
	var b bytes.Buffer
	if err := printRows(&b, c.Output, schema.Columns(o.Data), items, at.Bytes == 0); err != nil {
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
		return fmt.Errorf("%w; %d keys are done, and the same command continues after them", err, at.Items)
	}
	return fmt.Errorf("%w; %d keys are done", err, at.Items)
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
	_, err := fmt.Fprintf(e.log, "%d found, %d missing, %d failed; it %s %d credits\n",
		at.Made.Found, at.Made.Missing, at.Made.Failed, cost, at.Made.Credits)
	return err
}
