package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"golang.org/x/term"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// readFlags say how an answer is printed, and how much of it.
type readFlags struct {
	Output string   `short:"o" help:"json, jsonl, csv or table; a table on a terminal, else json." enum:",json,jsonl,csv,table" default:"" placeholder:"FORMAT" group:"output"`
	Fields []string `help:"Only these fields, such as id,author.handle." placeholder:"A,B.C" group:"output"`
	Limit  int      `help:"At most so many items." placeholder:"N" group:"output"`
}

// outputFlags say how what a command has found is printed.
type outputFlags struct {
	Output string `short:"o" help:"json, jsonl, csv or table; text for people without it." enum:",json,jsonl,csv,table" default:"" placeholder:"FORMAT" group:"output"`
}

// check refuses what cannot be asked of an operation.
func (f readFlags) check(o *operation.Operation) error {
	if f.Limit < 0 {
		return errors.New("--limit must not be negative")
	}
	if f.Limit > 0 && !o.List() {
		return fmt.Errorf("--limit is for lists, and %s is one answer", o.Name)
	}
	_, err := choose(columnsOf(o.Data), f.Fields)
	return err
}

const usualWidth = 80 // columns, where the terminal does not say

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

// print prints the data of an answer of an operation, and its meta where the format has room for it.
func (f readFlags) print(e *env, o *operation.Operation, data json.RawMessage, meta schema.Meta) error {
	columns, err := choose(columnsOf(o.Data), f.Fields)
	if err != nil {
		return err
	}
	rows, list, err := itemsOf(data)
	if err != nil {
		return err
	}
	if f.Limit > 0 && len(rows) > f.Limit {
		rows, meta.NextCursor = rows[:f.Limit], "" // the cursor is that of the page, not of the last item here
	}
	if len(f.Fields) > 0 {
		for i, row := range rows {
			if rows[i], err = pick(row, columns); err != nil {
				return err
			}
		}
	}
	room, terminal := width(e.out)
	format := f.Output
	if format == "" {
		format = "json"
		if terminal {
			format = "table"
		}
	}
	switch format {
	case "json":
		return encode(e.out, schema.Envelope[json.RawMessage]{Data: dataOf(rows, list), Meta: meta}, "  ")
	case "jsonl", "csv":
		return printRows(e.out, format, columns, rows, true)
	}
	p := pen{bold: terminal && mayBeBold(e.getenv), columns: room}
	if !list {
		err = p.card(e.out, rows[0])
	} else {
		err = p.table(e.out, rows, f.Fields, columns)
	}
	if err != nil {
		return err
	}
	return footer(e.log, len(rows), list, meta)
}

// itemsOf returns the items of a list, or the one object that the data is.
func itemsOf(data json.RawMessage) (rows []json.RawMessage, list bool, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return []json.RawMessage{data}, false, nil
	}
	err = json.Unmarshal(data, &rows)
	return rows, true, err
}

// dataOf is the inverse of itemsOf.
func dataOf(rows []json.RawMessage, list bool) json.RawMessage {
	if !list {
		return rows[0]
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(row)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// show prints v, an object or a list of objects, in the format that was asked for: as JSON it is {"data": v}. Without a
// format it calls text, which prints for people.
func (f outputFlags) show(e *env, v any, text func() error) error {
	if f.Output == "" || f.Output == "table" {
		return text()
	}
	data, err := schema.Marshal(v)
	if err != nil {
		return err
	}
	if f.Output == "json" {
		return encode(e.out, struct {
			Data json.RawMessage `json:"data"`
		}{data}, "  ")
	}
	rows, _, err := itemsOf(data)
	if err != nil {
		return err
	}
	return printRows(e.out, f.Output, columnsOf(reflect.TypeOf(v)), rows, true)
}

// mayBeBold reports whether a terminal wants more than plain letters.
// https://no-color.org
func mayBeBold(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// footer tells a person what comes beside the data.
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

// printRows prints objects as JSON Lines or as comma-separated values, these under a line of names if head is set.
func printRows(w io.Writer, format string, columns []string, objects []json.RawMessage, head bool) error {
	if format == "csv" {
		return printCSV(w, columns, objects, head)
	}
	for _, o := range objects {
		if err := encode(w, o, ""); err != nil {
			return err
		}
	}
	return nil
}

func printCSV(w io.Writer, columns []string, objects []json.RawMessage, head bool) error {
	rows, seen, err := rowsOf(objects, columns)
	if err != nil {
		return err
	}
	if len(columns) == 0 { // of an answer whose form is the upstream's own
		columns = seen
	}
	out := csv.NewWriter(w)
	if head {
		if err := out.Write(columns); err != nil {
			return err
		}
	}
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = guarded(row[name])
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// number is a number as JSON writes it.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// guarded puts an apostrophe in front of a text that a spreadsheet would take for a formula.
// https://owasp.org/www-community/attacks/CSV_Injection
func guarded(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) && !number.MatchString(cell) {
		return "'" + cell
	}
	return cell
}
