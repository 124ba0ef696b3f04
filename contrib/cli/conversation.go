package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/conversation"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

type conversationCmd struct {
	Address   string `arg:"" name:"url" help:"The web address of the post, or text that holds one."`
	To        string `name:"into" help:"Write to this file. One that ends in .db is a database, whose rows of comments are updated; with any other the same command continues where an earlier one ended, and .csv and .jsonl are formats." type:"path" placeholder:"FILE"`
	Output    string `short:"o" help:"json, jsonl, csv or table; by default a table on a terminal, else json, and jsonl for a file." enum:",json,jsonl,csv,table" default:"" placeholder:"FORMAT" group:"output"`
	Most      int    `help:"The most comments and replies to write; with --into the same command writes the next ones." placeholder:"N" group:"output"`
	Credits   int64  `name:"max-credits" help:"Stop before this run has cost more than so many credits." placeholder:"N"`
	Estimate  bool   `help:"Print what a page of comments may cost, without reading it; a page of replies costs the same."`
	CursorKey string `help:"Secret that signs cursors; by default it is in the database." env:"SOCIALDATA_CURSOR_KEY" placeholder:"SECRET"`

	db string // the file of --into if it is a database; To is then empty
}

// conversationChunk is how many rows are written to a file before its progress is stored.
const conversationChunk = 100

// Run writes the comments on a post and all replies to them, in thread order.
func (c *conversationCmd) Run(e *env) error {
	if c.Most < 0 || c.Credits < 0 {
		return misusef("--most and --max-credits must not be negative")
	}
	if c.To != "" {
		if c.Output == "json" || c.Output == "table" {
			return misusef("--into writes jsonl or csv, not %s", c.Output)
		}
		if c.Output = fileFormat(c.To, c.Output); c.Output == "" {
			c.Output = "jsonl"
		}
	}
	if filepath.Ext(c.To) == tableFile {
		c.db, c.To = c.To, ""
	}
	return e.withPages(c.CursorKey, func(opts ...socialdata.Option) error {
		client, err := e.caller(opts...)
		if err != nil {
			return err
		}
		post, err := c.post(e, client)
		if err != nil {
			return err
		}
		if c.Estimate {
			call := operation.Call{Platform: string(post.Platform), Params: url.Values{"post_id": {post.ID}}}
			return readFlags{Output: c.Output}.estimate(e, socialdata.Operation("comments"), call, opts...)
		}
		e.ctx = callctx.InBackground(e.ctx) // calls of clients have priority
		return c.walk(e, client, post)
	})
}

// post returns the post that the address names.
func (c *conversationCmd) post(e *env, client caller) (post socialdata.PostRequest, err error) {
	found, err := client.Resolve(e.ctx, socialdata.ResolveRequest{URL: c.Address})
	if err != nil {
		return post, err
	}
	for _, r := range found.Data {
		if r.Operation == "comments" {
			return socialdata.PostRequest{Platform: r.Platform, ID: r.Params["post_id"]}, nil
		}
	}
	return post, misusef("%s does not name a post with comments; socialdata resolve lists what it names", c.Address)
}

// writing is a conversation that is being written.
type writing struct {
	*conversationCmd
	*env
	at    mark
	out   io.Writer
	rows  []json.RawMessage // items that are not written yet
	found []json.RawMessage // the comments among them
}

func (c *conversationCmd) walk(e *env, client caller, post socialdata.PostRequest) (err error) {
	w := &writing{conversationCmd: c, env: e, out: e.out, at: mark{fresh: true}}
	w.at.Call = strings.Join([]string{"conversation", string(post.Platform), post.ID, "-o", c.Output}, " ")
	most := conversation.Most{Rows: c.Most, Credits: c.Credits}
	if c.To != "" {
		f, openErr := w.at.open(c.To)
		if openErr != nil {
			return openErr
		}
		defer func() { err = w.at.close(f, c.To, err) }()
		if w.out = f; w.at.Conversation == nil {
			w.at.Conversation = &conversation.Progress{}
		}
		most.Progress = w.at.Conversation
	}
	bar := newProgress(e.log, "comments", int64(c.Most))
	defer bar.end()
	n := 0
	for item, next := range conversation.Of(e.ctx, client.Reader, post, most) {
		if err = next; err == nil {
			err = w.add(&item)
		}
		if err != nil {
			break // behind the loop, the progress has what was still being read
		}
		if item.Data != nil {
			n++
		}
		bar.show(int64(n))
	}
	bar.end()
	switch {
	case err != nil:
		return w.ended(err)
	case c.Most > 0 && n >= c.Most && (most.Progress == nil || !most.Progress.Done):
		return w.stopped("raise --most")
	}
	return w.done()
}

// add adds an item. Formats that need all items, and databases, are written at the end.
func (w *writing) add(item *schema.ConversationItem) error {
	row, err := schema.Marshal(item)
	if err != nil {
		return err
	}
	w.rows = append(w.rows, row)
	if item.Data == nil {
		_, err := fmt.Fprintf(escaping{w.log}, "the replies to %s cannot be read: %s\n", *item.ParentID, inWords(item.Problem))
		return err
	}
	shown := *item.Data
	if w.table() {
		shown.Text = strings.Repeat("> ", int(item.Depth)) + shown.Text // as mail quotes
	}
	comment, err := schema.Marshal(shown)
	if err != nil {
		return err
	}
	w.found = append(w.found, comment)
	if w.Output != "jsonl" && w.Output != "csv" || w.db != "" || w.To != "" && len(w.rows) < conversationChunk {
		return nil
	}
	return w.flush()
}

// table reports whether the comments are printed as a table.
func (w *writing) table() bool {
	_, terminal := width(w.env.out)
	return w.db == "" && (w.Output == "table" || w.Output == "" && terminal)
}

// flush writes the items that are not written yet.
func (w *writing) flush() error {
	var b bytes.Buffer
	comment, item := reflect.TypeFor[schema.Comment](), reflect.TypeFor[schema.ConversationItem]()
	switch columns, terminal := width(w.env.out); {
	case w.db != "":
		if err := w.writeTable(w.db, "comments", schema.FlatOf(comment), w.found, w.at.Items == 0); err != nil {
			return err
		}
	case w.table():
		p := pen{bold: terminal && mayBeBold(w.getenv), columns: columns}
		if err := p.table(&b, w.found, nil, schema.Columns(comment)); err != nil {
			return err
		}
	case w.Output == "jsonl" || w.Output == "csv":
		if err := printRows(&b, w.Output, schema.Columns(item), w.rows, w.at.Bytes == 0); err != nil {
			return err
		}
	default:
		if err := encode(&b, struct {
			Data json.RawMessage `json:"data"`
		}{dataOf(w.rows, true)}, "  "); err != nil {
			return err
		}
	}
	n, err := w.out.Write(b.Bytes())
	if err != nil {
		return err
	}
	w.at.Bytes, w.at.Items = w.at.Bytes+int64(n), w.at.Items+int64(len(w.found))
	w.at.fresh = w.at.fresh && len(w.rows) == 0
	if w.rows, w.found = nil, nil; w.To == "" {
		return nil
	}
	return w.at.save(w.To)
}

// ended writes what was read before an error, and says how to continue.
func (w *writing) ended(err error) error {
	if errors.Is(err, conversation.ErrMostCredits) && len(w.rows)+int(w.at.Items) > 0 {
		return w.stopped("raise --max-credits")
	}
	if len(w.rows) > 0 || w.To != "" && !w.at.fresh { // without new rows, pages may have been read ahead
		err = errors.Join(err, w.flush())
	}
	switch {
	case w.at.fresh:
		return err
	case w.To != "":
		return fmt.Errorf("%w; %d are written, and the same command continues after them", err, w.at.Items)
	}
	return fmt.Errorf("%w; %d are written", err, w.at.Items)
}

// stopped says how to continue after a limit; raise says how to raise it.
func (w *writing) stopped(raise string) error {
	if err := w.flush(); err != nil {
		return err
	}
	how := raise + ", or write to a file with --into, which can be continued"
	if w.To != "" {
		how = "the same command continues there"
	}
	_, err := fmt.Fprintf(w.log, "%d written%s; there may be more: %s\n", w.at.Items, w.cost(), how)
	return err
}

// done says what was written.
func (w *writing) done() error {
	if err := w.flush(); err != nil {
		return err
	}
	where := w.db
	if w.To != "" {
		where = w.To
		if err := os.Remove(markOf(w.To)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if where == "" {
		return nil
	}
	_, err := fmt.Fprintf(w.log, "%d written to %s%s\n", w.at.Items, where, w.cost())
	return err
}

// cost says what a conversation in a file has cost.
func (w *writing) cost() string {
	switch p := w.at.Conversation; {
	case p == nil:
		return ""
	case w.remote():
		return " for " + counted(p.Credits, "credit")
	default:
		return ", which would have cost " + counted(p.Credits, "credit")
	}
}
