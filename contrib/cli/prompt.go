package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/socialdata/socialdata/tables"
)

const (
	sqlPrompt  = "sql> "
	sqlFurther = "...> "
	sqlWelcome = `Each read is a table, such as profile or posts: SELECT name FROM sqlite_schema; lists them. A query ends with a
semicolon. Tab completes names, Ctrl-C ends a query, Ctrl-D the program.
`
)

// prompt answers the queries of standard input, each up to a semicolon. On a terminal an error does not end it, the
// arrow keys repeat queries, and the tab key completes names.
func (s *sqlSession) prompt() error {
	f, ok := s.env.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		text, err := io.ReadAll(s.env.in)
		if err != nil {
			return err
		}
		return s.answer(s.env.ctx, string(text))
	}
	if _, err := io.WriteString(s.env.log, sqlWelcome); err != nil {
		return err
	}
	// From now on Ctrl-C ends a query, and no longer the program.
	signal.Reset(os.Interrupt)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	return newSQLTerminal(s, f).run(interrupts)
}

// sqlTerminal reads queries from a terminal, which is only raw while a line is read.
type sqlTerminal struct {
	session *sqlSession
	file    *os.File
	keys    *sqlKeys
	line    *term.Terminal
	history *sqlHistory
}

func newSQLTerminal(s *sqlSession, f *os.File) *sqlTerminal {
	t := &sqlTerminal{session: s, file: f, keys: &sqlKeys{Reader: f}, history: &sqlHistory{}}
	t.line = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t.keys, s.env.log}, sqlPrompt)
	t.line.History = t.history
	t.line.AutoCompleteCallback = t.complete
	t.line.SetBracketedPasteMode(true) // then a tab in it completes nothing
	return t
}

// run answers queries until the end of the input.
func (t *sqlTerminal) run(interrupts <-chan os.Signal) error {
	defer t.line.SetBracketedPasteMode(false)
	text := ""
	for {
		more, err := t.read()
		if errors.Is(err, io.EOF) {
			_, err = fmt.Fprintln(t.session.env.log)
			return err
		}
		if err != nil {
			return err
		}
		if text += more + "\n"; t.keys.cancelled || strings.TrimSpace(text) == "" {
			text = ""
		}
		t.line.SetPrompt(sqlPrompt)
		if text == "" {
			continue
		}
		if !statementEnds(text) {
			t.line.SetPrompt(sqlFurther)
			continue
		}
		t.history.keep(text)
		if err := t.answer(text, interrupts); err != nil {
			if t.session.env.ctx.Err() != nil {
				return err
			}
			_, _ = fmt.Fprintln(escaping{t.session.env.log}, inWords(err))
		}
		text = ""
	}
}

// read reads a line.
func (t *sqlTerminal) read() (string, error) {
	before, err := term.MakeRaw(int(t.file.Fd()))
	if err != nil {
		return "", err
	}
	if columns, rows, err := term.GetSize(int(t.file.Fd())); err == nil && columns > 0 {
		if err := t.line.SetSize(columns, rows); err != nil {
			return "", errors.Join(err, term.Restore(int(t.file.Fd()), before))
		}
	}
	t.keys.cancelled = false
	text, err := t.line.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return text, errors.Join(err, term.Restore(int(t.file.Fd()), before))
}

// answer answers queries until an interrupt.
func (t *sqlTerminal) answer(text string, interrupts <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(t.session.env.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-interrupts:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := t.session.answer(ctx, text)
	cancel()
	<-done
	select {
	case <-interrupts: // it was too late for this query, and is not meant for the next one
	default:
	}
	return err
}

// statementEnds reports whether a text ends with a semicolon that ends a statement: one more word would begin another.
func statementEnds(text string) bool {
	return len(tables.Statements(text+"x")) > len(tables.Statements(text))
}

// sqlKeys turns Ctrl-C, at which a terminal ends, into the keys that erase a line.
type sqlKeys struct {
	io.Reader
	next      []byte // were read
	cancelled bool   // the line that is being read
}

// Read implements [io.Reader].
func (k *sqlKeys) Read(p []byte) (int, error) {
	const cancel = '\x03'
	if len(k.next) == 0 {
		n, err := k.Reader.Read(p)
		if k.next = bytes.Clone(p[:n]); err != nil || n == 0 {
			return 0, err
		}
	}
	if k.next[0] == cancel {
		k.next, k.cancelled = k.next[1:], true
		return copy(p, "\x05\x15\r"), nil // to its end, erase what is before, enter
	}
	n := bytes.IndexByte(k.next, cancel)
	if n < 0 {
		n = len(k.next)
	}
	n = copy(p, k.next[:n])
	k.next = k.next[n:]
	return n, nil
}

// sqlHistory has the queries of a session, each in one line.
type sqlHistory struct{ lines []string }

// keep adds a query. One with a comment up to the end of a line cannot be put in one.
func (h *sqlHistory) keep(text string) {
	lines := []string{text}
	if strings.Contains(text, "--") {
		lines = strings.Split(strings.TrimSpace(text), "\n")
	}
	for _, line := range lines {
		h.lines = append(h.lines, strings.Join(strings.Fields(line), " "))
	}
}

// Add implements [term.History]: lines that are not a whole query are not kept.
func (*sqlHistory) Add(string) {}

// Len implements [term.History].
func (h *sqlHistory) Len() int { return len(h.lines) }

// At implements [term.History].
func (h *sqlHistory) At(i int) string { return h.lines[len(h.lines)-1-i] }

// complete completes the word before the cursor, or lists what it may become.
func (t *sqlTerminal) complete(text string, at int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	names, err := t.session.names()
	if err != nil {
		return text, at, true
	}
	completed, now, found := completed(text, at, names)
	if now == at && len(found) > 1 {
		_, _ = fmt.Fprintln(t.line, strings.Join(found, "  "))
	}
	return completed, now, true
}

// names returns the names of tables and columns, sorted.
func (s *sqlSession) names() (all []string, err error) {
	rows, err := s.conn.QueryContext(s.env.ctx, `SELECT name FROM pragma_table_list UNION
		SELECT c.name FROM pragma_table_list t, pragma_table_xinfo(t.name, t.schema) c ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, rows.Err()
}

// completed completes the word before a place in a line as far as all names that it may become agree, which it returns
// too.
func completed(text string, at int, names []string) (string, int, []string) {
	word := text[strings.LastIndexFunc(text[:at], notOfAName)+1 : at]
	found := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return word == "" || !strings.HasPrefix(name, word)
	})
	if len(found) == 0 {
		return text, at, nil
	}
	rest := found[0][len(word):]
	for _, name := range found {
		for !strings.HasPrefix(name[len(word):], rest) {
			rest = rest[:len(rest)-1]
		}
	}
	return text[:at] + rest + text[at:], at + len(rest), found
}
