package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

type exportCmd struct {
	Platform  string   `arg:"" optional:"" help:"The platform, such as github." predictor:"platform"`
	Operation string   `arg:"" optional:"" help:"The operation, such as posts." predictor:"operation"`
	Params    []string `arg:"" optional:"" help:"Parameters as name=value, such as handle=octocat."`
	To        string   `help:"Write to this file; the same command goes on where an interrupted one ended." type:"path" placeholder:"FILE"`
	Limit     int64    `help:"Stop behind the page on which so many are reached." placeholder:"N"`
	CursorKey string   `help:"Secret that signs cursors; kept in the database without it." env:"SOCIALDATA_CURSOR_KEY" placeholder:"SECRET"`
}

// mark is how far an export has come. It stands in a file beside that of the export until all is written.
type mark struct {
	Call   string `json:"call"`   // what is exported
	Cursor string `json:"cursor"` // of the next page
	Bytes  int64  `json:"bytes"`  // of whole pages
	Items  int64  `json:"items"`
}

// Run walks the list.
func (c *exportCmd) Run(e *env) error {
	if c.Platform == "" {
		return booksExportCmd{}.Run(e)
	}
	if c.Limit < 0 {
		return errors.New("--limit must not be negative")
	}
	named := call{Platform: c.Platform, Operation: c.Operation, Params: c.Params}
	o, asked, err := named.parse()
	if err != nil {
		return err
	}
	if !o.Paged() {
		return fmt.Errorf("%s is one answer; socialdata get prints it", o.Name)
	}
	return e.withPages(c.CursorKey, func(opts ...socialdata.Option) error {
		client, err := e.client(opts...)
		if err != nil {
			return err
		}
		return c.walk(e, client, o, asked)
	})
}

func (c *exportCmd) walk(e *env, client *socialdata.Client, o *operation.Operation, asked operation.Call) (err error) {
	at := mark{Call: asked.Platform + " " + o.Name + " " + asked.Params.Encode(), Cursor: asked.Params.Get("cursor")}
	out := e.out
	if c.To != "" {
		f, openErr := at.open(c.To)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	bar := newProgress(e.log, c.Limit)
	defer bar.end()
	seen := ""
	for {
		if at.Cursor != "" {
			asked.Params.Set("cursor", at.Cursor)
		}
		a, err := client.Do(e.ctx, o, asked)
		if err == nil {
			err = at.add(out, a.Data, a.Meta)
		}
		if err != nil {
			bar.end()
			return c.interrupted(at, err)
		}
		bar.show(at.Items)
		whole := at.Cursor == "" || at.Cursor == seen
		seen = at.Cursor
		if whole {
			bar.end()
			return c.done(e, at)
		}
		if c.To != "" {
			if err := at.save(c.To); err != nil {
				return err
			}
		}
		if c.Limit > 0 && at.Items >= c.Limit {
			bar.end()
			how := "go on with cursor=" + at.Cursor
			if c.To != "" {
				how = "the same command goes on from there"
			}
			_, err := fmt.Fprintf(e.log, "%d written; there is more: %s\n", at.Items, how)
			return err
		}
	}
}

// interrupted says how to go on.
func (c *exportCmd) interrupted(at mark, err error) error {
	switch {
	case c.To != "":
		return fmt.Errorf("%w; %d are written, and the same command goes on from there", err, at.Items)
	case at.Cursor != "":
		return fmt.Errorf("%w; %d are written, and cursor=%s goes on from there", err, at.Items, at.Cursor)
	}
	return err
}

func (c *exportCmd) done(e *env, at mark) error {
	if c.To == "" {
		return nil
	}
	if err := os.Remove(markOf(c.To)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := fmt.Fprintf(e.log, "%d written to %s\n", at.Items, c.To)
	return err
}

func markOf(file string) string { return file + ".part" }

// open opens the file to write to: a new one, or the one of an export that was interrupted, behind its last whole page.
func (m *mark) open(file string) (*os.File, error) {
	b, err := os.ReadFile(markOf(file))
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s is there already, and whole; take another name or remove it", file)
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
		return nil, fmt.Errorf("%s cannot be read; remove it and %s to begin anew", markOf(file), file)
	}
	if kept.Call != m.Call {
		return nil, fmt.Errorf("%s is of another export (%s); take another name", file, strings.TrimSpace(kept.Call))
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

// save writes the mark beside the file, whole or not at all.
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

// add writes a page, an item a line.
func (m *mark) add(w io.Writer, data json.RawMessage, meta schema.Meta) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	var b bytes.Buffer
	for _, item := range items {
		if err := encode(&b, item, ""); err != nil {
			return err
		}
	}
	n, err := w.Write(b.Bytes())
	if err != nil {
		return err
	}
	m.Bytes, m.Items, m.Cursor = m.Bytes+int64(n), m.Items+int64(len(items)), meta.NextCursor
	return nil
}

// progress shows on a terminal how far an export has come, and nothing elsewhere: how long a list is is not known before its
// end, so that there is a bar only where there is a limit.
type progress struct {
	w       io.Writer
	columns int
	limit   int64
	began   time.Time
	shown   bool
}

func newProgress(w io.Writer, limit int64) *progress {
	columns, terminal := width(w)
	if !terminal {
		columns = 0
	}
	return &progress{w: w, columns: columns, limit: limit, began: time.Now()}
}

func (p *progress) show(items int64) {
	if p.columns == 0 {
		return
	}
	line := fmt.Sprintf("%d items, %v", items, time.Since(p.began).Round(time.Second))
	if room := p.columns - len(line) - 4; p.limit > 0 && room > 0 {
		done := int(min(items, p.limit) * int64(room) / p.limit)
		line = "[" + strings.Repeat("=", done) + strings.Repeat(" ", room-done) + "] " + line
	}
	_, _ = fmt.Fprint(p.w, "\r\x1b[K"+line)
	p.shown = true
}

// end leaves the line.
func (p *progress) end() {
	if p.shown {
		_, _ = fmt.Fprintln(p.w)
		p.shown = false
	}
}
