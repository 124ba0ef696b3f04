package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/conversation"
	"github.com/socialdata/socialdata/operation"
)

type exportCmd struct {
	Platform  string   `arg:"" optional:"" help:"The platform, such as github." predictor:"platform"`
	Operation string   `arg:"" optional:"" help:"The operation, such as posts." predictor:"operation"`
	Params    []string `arg:"" optional:"" help:"Parameters as name=value, such as handle=octocat." predictor:"param"`
	To        string   `name:"into" aliases:"to" help:"Write to this file. One that ends in .db is a database, whose rows are updated; with any other the same command continues where an earlier one ended, and .csv and .jsonl are formats." type:"path" placeholder:"FILE"`
	Output    string   `short:"o" help:"jsonl or csv." enum:"jsonl,csv" default:"jsonl" placeholder:"FORMAT" group:"output"`
	Fields    []string `help:"Only these fields, such as id,author.handle." placeholder:"A,B.C" group:"output"`
	Limit     int64    `help:"The most items to write; with --into the same command writes the next ones." placeholder:"N" group:"output"`
	Since     string   `help:"Leave out what is older, and read no further: RFC 3339, or a date; for lists that are newest first." placeholder:"TIME"`
	Most      int64    `name:"max-credits" help:"Stop before the export has cost more than so many credits." placeholder:"N"`
	db        string   // the file of --into if it is a database; To is then empty
	CursorKey string   `help:"Secret that signs cursors; by default it is in the database." env:"SOCIALDATA_CURSOR_KEY" placeholder:"SECRET"`
}

// mark is the progress of an export. It is stored in a file next to that of the export until that is complete.
type mark struct {
	Call   string `json:"call"`   // identifies what is exported, and how
	Cursor string `json:"cursor"` // of the next page
	Skip   int64  `json:"skip"`   // items of that page that are already written
	Bytes  int64  `json:"bytes"`  // length of the file
	Items  int64  `json:"items"`

	Made         *totals                `json:"made,omitempty"`         // of a batch
	Conversation *conversation.Progress `json:"conversation,omitempty"` // of a conversation

	fresh bool // whether there was no earlier progress
}

// Run exports the list.
func (c *exportCmd) Run(e *env) error {
	if c.Platform == "" {
		return booksExportCmd{}.Run(e)
	}
	if c.Output = fileFormat(c.To, c.Output); filepath.Ext(c.To) == tableFile {
		c.db, c.To = c.To, ""
	}
	if c.Limit < 0 || c.Most < 0 {
		return misusef("--limit and --max-credits must not be negative")
	}
	named := call{Platform: c.Platform, Operation: c.Operation, Params: c.Params}
	o, asked, err := named.parse(e.localPlatforms())
	if err != nil {
		return err
	}
	if c.Most > 0 && asked.Params.Has(maxCredits) {
		return misusef("give either --max-credits, the limit of all pages, or max_credits=N, the limit of each page")
	}
	if !o.Paged() {
		return misusef("%s is not a list; socialdata get prints it", o.Name)
	}
	_, columns, err := choose(o.Data, c.Fields)
	if err != nil {
		return err
	}
	if c.Since != "" {
		asked.Params.Set("since", c.Since)
	}
	if len(c.Fields) > 0 {
		asked.Params.Set(operation.ParamFields, strings.Join(c.Fields, ","))
	}
	return e.withPages(c.CursorKey, func(opts ...socialdata.Option) error {
		client, err := e.caller(opts...)
		if err != nil {
			return err
		}
		e.ctx = callctx.InBackground(e.ctx) // calls of clients have priority
		return c.walk(e, client, o, asked, columns)
	})
}

func (c *exportCmd) walk(
	e *env, client caller, o *operation.Operation, asked operation.Call, columns []string,
) (err error) {
	at := mark{Call: c.named(asked, o), Cursor: asked.Params.Get("cursor"), fresh: true}
	out := e.out
	if c.To != "" {
		f, openErr := at.open(c.To)
		if openErr != nil {
			return openErr
		}
		defer func() { err = at.close(f, c.To, err) }()
		out = f
	}
	began, left := at.Items, c.Most
	bar := newProgress(e.log, "items", c.Limit)
	defer bar.end()
	for {
		if at.Cursor != "" {
			asked.Params.Set("cursor", at.Cursor)
		}
		if c.Most > 0 {
			asked.Params.Set(maxCredits, strconv.FormatInt(left, 10))
		}
		a, err := client.Do(e.ctx, o, asked)
		more := false
		if err == nil {
			more, err = c.add(e, &at, out, o, a, columns, began+c.Limit)
		}
		if err != nil {
			bar.end()
			return c.interrupted(at, err)
		}
		bar.show(at.Items - began)
		if !more {
			bar.end()
			return c.done(e, at)
		}
		if c.To != "" {
			if err := at.save(c.To); err != nil {
				return err
			}
		}
		left -= a.Meta.CreditsUsed
		if c.Limit > 0 && at.Items-began >= c.Limit {
			bar.end()
			return c.stopped(e, at, "raise --limit")
		}
		if c.Most > 0 && left < 1 {
			bar.end()
			return c.stopped(e, at, "raise --max-credits")
		}
	}
}

// named identifies what is exported, and how: a file with another value belongs to another export.
func (c *exportCmd) named(asked operation.Call, o *operation.Operation) string {
	call := asked.Platform + " " + o.Name + " " + asked.Params.Encode()
	if c.Output == "csv" {
		call += " -o csv"
	}
	return call
}

// add writes the items of a page that are not written yet, up to most in total, and reports whether the page has more.
func (c *exportCmd) add(
	e *env, at *mark, w io.Writer, o *operation.Operation, a *operation.Answer, columns []string, most int64,
) (more bool, err error) {
	var items []json.RawMessage
	if err := json.Unmarshal(a.Data, &items); err != nil {
		return false, err
	}
	meta := a.Meta
	page := int64(len(items))
	items = items[min(at.Skip, page):]
	if c.Limit > 0 {
		items = items[:min(most-at.Items, int64(len(items)))]
	}
	var b bytes.Buffer
	if c.db != "" {
		if err := e.writeTable(c.db, o.Name, keyedFlat(o.Data, columns), items, at.Items == 0); err != nil {
			return false, err
		}
	} else if err := printRows(&b, c.Output, columns, items, at.Bytes == 0); err != nil {
		return false, err
	}
	n, err := w.Write(b.Bytes())
	if err != nil {
		return false, err
	}
	at.Bytes, at.Items, at.fresh = at.Bytes+int64(n), at.Items+int64(len(items)), false
	if at.Skip += int64(len(items)); at.Skip < page {
		return true, nil
	}
	more = meta.NextCursor != "" && meta.NextCursor != at.Cursor
	at.Cursor, at.Skip = meta.NextCursor, 0
	return more, nil
}

// maxCredits is the parameter that refuses a page whose price may be higher.
const maxCredits = "max_credits"

// stopped prints how to continue after a limit; raise says how to raise it.
func (c *exportCmd) stopped(e *env, at mark, raise string) error {
	how := raise + ", or export to a file with --into, which can be continued"
	switch {
	case c.To != "":
		how = "the same command continues there"
	case at.Skip == 0:
		how = "continue with cursor=" + at.Cursor
	}
	_, err := fmt.Fprintf(escaping{e.log}, "%d written; there is more: %s\n", at.Items, how)
	return err
}

// interrupted returns an error that says how to continue.
func (c *exportCmd) interrupted(at mark, err error) error {
	switch {
	case at.fresh:
		return err
	case c.To != "":
		return fmt.Errorf("%w; %d are written, and the same command continues after them", err, at.Items)
	case at.Cursor != "":
		return fmt.Errorf("%w; %d are written; continue with cursor=%s", err, at.Items, at.Cursor)
	}
	return err
}

func (c *exportCmd) done(e *env, at mark) error {
	if c.To == "" && c.db == "" {
		return nil
	}
	if c.db != "" {
		_, err := fmt.Fprintf(e.log, "%d written to %s\n", at.Items, c.db)
		return err
	}
	if err := os.Remove(markOf(c.To)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := fmt.Fprintf(e.log, "%d written to %s\n", at.Items, c.To)
	return err
}

func markOf(file string) string { return file + ".part" }

// open opens the file for writing: a new one, or that of an interrupted export, from where its progress ends.
func (m *mark) open(file string) (*os.File, error) {
	b, err := os.ReadFile(markOf(file))
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s is already complete; choose another name or remove it", file)
		}
		if err != nil {
			return nil, err
		}
		return f, m.save(file)
	}
	if err != nil {
		return nil, err
	}
	var kept mark
	if err := json.Unmarshal(b, &kept); err != nil {
		return nil, fmt.Errorf("%s cannot be read; remove it and %s to start again", markOf(file), file)
	}
	if kept.Call != m.Call {
		return nil, fmt.Errorf("%s belongs to another export (%s); choose another name", file, strings.TrimSpace(kept.Call))
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	*m = kept
	if err = f.Truncate(m.Bytes); err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// close closes the file after err, and removes it if nothing was written.
func (m *mark) close(f *os.File, file string, err error) error {
	err = errors.Join(err, f.Close())
	if err != nil && m.fresh {
		err = errors.Join(err, os.Remove(file), os.Remove(markOf(file)))
	}
	return err
}

// save writes the mark atomically.
func (m *mark) save(file string) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	next := markOf(file) + ".new"
	if err := os.WriteFile(next, b, 0o600); err != nil {
		return err
	}
	return os.Rename(next, markOf(file))
}
