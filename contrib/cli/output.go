package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/socialdata/socialdata/schema"
)

// outputFlags say how an answer is printed.
type outputFlags struct {
	Output string `short:"o" help:"json, jsonl, csv or table; a table on a terminal, else json." enum:",json,jsonl,csv,table" default:"" placeholder:"FORMAT"`
}

const usualWidth = 80 // columns, where nobody tells

// width returns how many columns w has, and whether it is a terminal.
func width(w io.Writer) (columns int, terminal bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return usualWidth, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns < 20 {
		columns = usualWidth
	}
	return columns, true
}

// print prints the data of an answer, and its meta where the format has room for it.
func (f outputFlags) print(e *env, data json.RawMessage, meta schema.Meta) error {
	columns, terminal := width(e.out)
	format := f.Output
	if format == "" {
		format = "json"
		if terminal {
			format = "table"
		}
	}
	if format == "json" {
		return encode(e.out, schema.Envelope[json.RawMessage]{Data: data, Meta: meta}, "  ")
	}
	rows, list := []json.RawMessage{data}, false
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		list = true
		if err := json.Unmarshal(data, &rows); err != nil {
			return err
		}
	}
	switch format {
	case "jsonl":
		for _, row := range rows {
			if err := encode(e.out, row, ""); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return printCSV(e.out, rows)
	}
	p := pen{bold: terminal && mayBeBold(e.getenv), columns: columns}
	var err error
	if list {
		err = p.table(e.out, rows)
	} else {
		err = p.card(e.out, data)
	}
	if err != nil {
		return err
	}
	return footer(e.log, len(rows), list, meta)
}

// mayBeBold tells whether a terminal wants more than plain letters.
// https://no-color.org
func mayBeBold(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// footer tells a person what stands beside the data.
func footer(w io.Writer, n int, list bool, meta schema.Meta) error {
	said := "cache " + string(meta.Cache)
	if list {
		said = fmt.Sprintf("%d results, %s", n, said)
	}
	if meta.NextCursor != "" {
		said += "; more with cursor=" + meta.NextCursor
	}
	_, err := fmt.Fprintf(w, "\n%s\n", said)
	return err
}

func encode(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// field is one value of an object with the way to it, such as "author.handle".
type field struct{ name, value string }

// flatten returns the values of an object that are not null, in its order. Objects within it are opened; a list is its
// words, or JSON when it holds objects.
func flatten(data json.RawMessage) ([]field, error) {
	var out []field
	var open func(prefix string, raw json.RawMessage) error
	open = func(prefix string, raw json.RawMessage) error {
		var text string
		var words []string
		switch {
		case string(raw) == "null" || string(raw) == "[]" || string(raw) == "{}":
			return nil
		case raw[0] == '{':
			return members(raw, func(name string, value json.RawMessage) error {
				if prefix != "" {
					name = prefix + "." + name
				}
				return open(name, value)
			})
		case json.Unmarshal(raw, &text) == nil:
			out = append(out, field{prefix, text})
		case json.Unmarshal(raw, &words) == nil:
			out = append(out, field{prefix, strings.Join(words, ", ")})
		default:
			out = append(out, field{prefix, string(raw)})
		}
		return nil
	}
	return out, open("", bytes.TrimSpace(data))
}

// members calls do with each member of an object, in its order.
func members(object json.RawMessage, do func(name string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := do(fmt.Sprint(name), value); err != nil {
			return err
		}
	}
	return nil
}

// columnsOf returns the objects as rows, and the names of all their fields in order of appearance.
func columnsOf(objects []json.RawMessage) (names []string, rows []map[string]string, err error) {
	for _, o := range objects {
		fields, err := flatten(o)
		if err != nil {
			return nil, nil, err
		}
		row := map[string]string{}
		for _, f := range fields {
			row[f.name] = f.value
			if !slices.Contains(names, f.name) {
				names = append(names, f.name)
			}
		}
		rows = append(rows, row)
	}
	return names, rows, nil
}

// printCSV prints objects as comma-separated values with a line of names. A text that a spreadsheet would take for a formula
// gets an apostrophe in front.
func printCSV(w io.Writer, objects []json.RawMessage) error {
	names, rows, err := columnsOf(objects)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(names); err != nil {
		return err
	}
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = row[name]
			if cells[i] != "" && strings.ContainsRune("=+@\t\r", rune(cells[i][0])) {
				cells[i] = "'" + cells[i]
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// telling are the columns of a table, as far as there is room for them, each with the fields that it may show.
var telling = [][]string{
	{"kind"},
	{"handle", "author.handle"},
	{"title", "display_name", "name", "text", "query", "snippet"},
	{"rating"},
	{"price.amount"},
	{"price.currency"},
	{"followers"},
	{"engagement.views", "views", "plays"},
	{"engagement.likes", "likes"},
	{"created_at"},
	{"id"},
	{"url"},
}

// pen writes for people on so many columns.
type pen struct {
	bold    bool
	columns int
}

const gap = 2 // columns between two

// table prints what is telling of each object in one line.
func (p pen) table(w io.Writer, objects []json.RawMessage) error {
	names, rows, err := columnsOf(objects)
	if err != nil {
		return err
	}
	cell := func(row map[string]string, from []string) string {
		for _, name := range from {
			if row[name] != "" {
				return oneLine(row[name])
			}
		}
		return ""
	}
	shown := slices.DeleteFunc(slices.Clone(telling), func(from []string) bool {
		return !slices.ContainsFunc(from, func(name string) bool { return slices.Contains(names, name) })
	})
	if len(shown) == 0 {
		for _, name := range names {
			shown = append(shown, []string{name})
		}
	}
	room := p.columns
	var widths []int
	for i, from := range shown {
		widest := utf8.RuneCountInString(head(from))
		for _, row := range rows {
			widest = max(widest, utf8.RuneCountInString(cell(row, from)))
		}
		widest = min(widest, max(16, p.columns/2))
		if i > 0 && widest > room {
			shown = shown[:i]
			break
		}
		widths = append(widths, min(widest, room))
		room -= widest + gap
	}
	line := func(text func(from []string) string) error {
		var b strings.Builder
		for i, from := range shown {
			s := clip(text(from), widths[i])
			b.WriteString(s)
			if i < len(shown)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s)+gap))
			}
		}
		_, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		return err
	}
	if err := line(head); err != nil {
		return err
	}
	for _, row := range rows {
		if err := line(func(from []string) string { return cell(row, from) }); err != nil {
			return err
		}
	}
	return nil
}

// head names a column by the first of its fields.
func head(from []string) string {
	return strings.ToUpper(from[0][strings.LastIndexByte(from[0], '.')+1:])
}

// card prints all that an object says, a field a line.
func (p pen) card(w io.Writer, object json.RawMessage) error {
	fields, err := flatten(object)
	if err != nil {
		return err
	}
	widest := 0
	for _, f := range fields {
		widest = max(widest, utf8.RuneCountInString(f.name))
	}
	for _, f := range fields {
		name := oneLine(f.name)
		pad := strings.Repeat(" ", widest-utf8.RuneCountInString(name)+gap)
		if p.bold {
			name = "\x1b[1m" + name + "\x1b[0m"
		}
		for i, part := range wrap(oneLine(f.value), max(20, p.columns-widest-gap)) {
			if i > 0 {
				name, pad = "", strings.Repeat(" ", widest+gap)
			}
			if _, err := fmt.Fprintln(w, name+pad+part); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneLine returns s without what would move a terminal's cursor or turn its text around.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)), " ")
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(0, n-1)]) + "…"
}

// wrap breaks s between words into lines of n characters; a longer word has a line of its own.
func wrap(s string, n int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(s) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= n:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
