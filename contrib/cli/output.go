package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// readFlags select how an answer is printed, how much of it, what a call may cost, and how old its answer may be.
type readFlags struct {
	Output string   `short:"o" help:"json, jsonl, csv or table; by default a table on a terminal, else json." enum:",json,jsonl,csv,table" default:"" placeholder:"FORMAT" group:"output"`
	Fields []string `help:"Only these fields, such as id,author.handle." placeholder:"A,B.C" group:"output"`
	Limit  int      `help:"The most items to print." placeholder:"N" group:"output"`

	MaxCredits   string `help:"Refuse a call that may cost more credits." placeholder:"N"`
	MaxAge       string `name:"max-age" help:"Use only data younger than so many seconds; older data is read again, at twice the base price." placeholder:"SECONDS"`
	StaleIfError string `name:"stale-if-error" help:"If the platform fails, use data up to so many seconds past its lifetime." placeholder:"SECONDS"`
	Estimate     bool   `help:"Print what the call may cost, without making it."`
}

// outputFlags select the format in which a command prints.
type outputFlags struct {
	Output string `short:"o" help:"json, jsonl, csv or table; by default text for people." enum:",json,jsonl,csv,table" default:"" placeholder:"FORMAT" group:"output"`
}

// check returns an error for flags that do not fit an operation.
func (f readFlags) check(o *operation.Operation) error {
	if f.Estimate {
		o = socialdata.Operation("estimate")
	}
	if f.Limit < 0 {
		return misusef("--limit must not be negative")
	}
	if f.Limit > 0 && !o.List() && !f.Estimate {
		return fmt.Errorf("--limit is for lists, and %s returns one object", o.Name)
	}
	_, _, err := choose(o.Data, f.Fields)
	return err
}

// bound adds the limits for the price and the age of an answer of o to its parameters, and the fields that it has, so
// that a server sends no others.
func (f readFlags) bound(o *operation.Operation, params url.Values) {
	if len(f.Fields) > 0 && !f.Estimate && o.Has(operation.ParamFields) {
		params.Set(operation.ParamFields, strings.Join(f.Fields, ","))
	}
	for name, value := range map[string]string{
		"max_credits": f.MaxCredits, "max_age_s": f.MaxAge, "stale_if_error_s": f.StaleIfError,
	} {
		if value != "" {
			params.Set(name, value)
		}
	}
}

// estimate prints the price of a call. It is formatted like any answer.
func (f readFlags) estimate(e *env, o *operation.Operation, call operation.Call, opts ...socialdata.Option) error {
	client, err := e.caller(opts...)
	if err != nil {
		return err
	}
	row := socialdata.Operation("estimate")
	a, err := client.Do(e.ctx, row, operation.Call{Params: url.Values{"of": {o.Target(call)}}})
	if err != nil {
		return err
	}
	f.Limit = 0
	return f.print(e, row, a.Data, a.Meta)
}

const usualWidth = 80 // columns, if the terminal does not report its width

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

// print prints the data of an answer, and its meta if the format includes it.
func (f readFlags) print(e *env, o *operation.Operation, data json.RawMessage, meta schema.Meta) error {
	chosen, columns, err := choose(o.Data, f.Fields)
	if err != nil {
		return err
	}
	rows, list, err := itemsOf(chosen.Of(data))
	if err != nil {
		return err
	}
	if f.Limit > 0 && len(rows) > f.Limit {
		rows, meta.NextCursor = rows[:f.Limit], "" // the cursor continues after the page, not after the last item here
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
	return e.footer(len(rows), list, meta)
}

// itemsOf returns the items of a list, or the one object.
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

// show prints v, an object or a list of objects, in the requested format: as JSON it is {"data": v}. Without a format
// it calls text, which prints for people.
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
	return printRows(e.out, f.Output, schema.Columns(reflect.TypeOf(v)), rows, true)
}

// mayBeBold reports whether text on a terminal may be bold.
// https://no-color.org
func mayBeBold(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// footer prints for people what is not in the data, and what a server has charged.
func (e *env) footer(n int, list bool, meta schema.Meta) error {
	said := "cache " + string(meta.Cache)
	if e.remote() {
		said += fmt.Sprintf(", %s, %d left", counted(meta.CreditsUsed, "credit"), meta.CreditsRemaining)
	}
	if list {
		said = counted(n, "result") + ", " + said
	}
	if meta.NextCursor != "" {
		said += "; more with cursor=" + meta.NextCursor
	}
	_, err := fmt.Fprintf(escaping{e.log}, "\n%s\n", said)
	return err
}

// encode writes v as JSON. It escapes characters that would move a terminal's cursor, reverse its text or be invisible.
func encode(w io.Writer, v any, indent string) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escaped(b.String()))
	return err
}

// escaping writes text as [escaped] returns it.
type escaping struct{ io.Writer }

// Write implements [io.Writer].
func (w escaping) Write(text []byte) (int, error) {
	_, err := io.WriteString(w.Writer, escaped(string(text)))
	return len(text), err
}

// escaped writes the characters of s that must not reach a terminal like \u202e. Line feeds and tabs stay.
func escaped(s string) string {
	if !strings.ContainsFunc(s, unshown) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unshown(r) {
			_, _ = fmt.Fprintf(&b, `\u%04x`, r) // none of them is beyond U+FFFF
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unshown reports whether a character must not reach a terminal: controls, including C1, marks of direction, line and
// paragraph separators, and characters without width except the joiners that some scripts need.
func unshown(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\u200c', r == '\u200d', r > 0xffff:
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// printRows prints objects as JSON Lines or as CSV. CSV begins with a line of names if head is set.
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
	if len(columns) == 0 { // the answer has the upstream's own form
		columns = schema.FieldsOf(objects)
	}
	flat := schema.NewFlat(columns)
	out := csvOf(w)
	if head {
		if err := out.head(flat); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := out.row(flat.Row(o)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// csvWriter writes rows that a spreadsheet can open without running what is in them.
type csvWriter struct{ *csv.Writer }

func csvOf(w io.Writer) csvWriter { return csvWriter{csv.NewWriter(w)} }

func (w csvWriter) head(flat *schema.Flat) error {
	names := make([]any, len(flat.Columns))
	for i, c := range flat.Columns {
		names[i] = c.Name
	}
	return w.row(names)
}

func (w csvWriter) row(values []any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = guarded(blanked(cellOf(v)))
	}
	return w.Write(cells)
}

// cellOf returns a value as text; "" for none.
func cellOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(value)
}

// number is a number as JSON writes it.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// guarded adds a leading apostrophe to a text that a spreadsheet would interpret as a formula.
// https://owasp.org/www-community/attacks/CSV_Injection
func guarded(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) && !number.MatchString(cell) {
		return "'" + cell
	}
	return cell
}
