package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// cells measures text as a terminal shows it: East Asian letters take two columns, combining marks none. Letters of
// ambiguous width take one, whatever the locale is.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// telling is one column of a table of items: the first of its fields that an item has.
type telling struct {
	from []string
	rank int // columns with the highest rank are dropped first
	most int // columns; 0 for any
}

// tellings are the most useful columns, in order.
var tellings = []telling{
	{from: []string{"kind"}, rank: 5, most: 10},
	{from: []string{"handle", "author.handle", "store.handle"}, rank: 2, most: 20},
	{from: []string{"title", "display_name", "name", "text", "query", "snippet"}, rank: 1},
	{from: []string{"enrichment.dialect"}, rank: 6},
	{from: []string{"enrichment.sentiment.label"}, rank: 7},
	{from: []string{"rating"}, rank: 8},
	{from: []string{"price.amount"}, rank: 8},
	{from: []string{"price.currency"}, rank: 8},
	{from: []string{"followers"}, rank: 8},
	{from: []string{"engagement.views", "views", "plays"}, rank: 9},
	{from: []string{"engagement.likes", "likes"}, rank: 9},
	{from: []string{"created_at", "published_at", "starts_at"}, rank: 4, most: 10}, // the day
	{from: []string{"id"}, rank: 3},
	{from: []string{"url"}, rank: 10},
}

const (
	gap       = 2  // columns between two
	leastText = 16 // columns of a text that is clipped
)

// pen prints for people, with a number of columns.
type pen struct {
	bold    bool
	columns int
}

// table prints the most useful values of each object in one line, or the columns in fields if there are any.
func (p pen) table(w io.Writer, objects []json.RawMessage, fields, columns []string) error {
	rows, seen, err := rowsOf(objects, columns)
	if err != nil {
		return err
	}
	shown := slices.DeleteFunc(slices.Clone(tellings), func(t telling) bool {
		return !slices.ContainsFunc(t.from, func(name string) bool { return slices.Contains(seen, name) })
	})
	if len(fields) > 0 || len(shown) == 0 {
		if len(fields) == 0 {
			columns = seen
		}
		shown = shown[:0]
		for i, name := range columns {
			shown = append(shown, telling{from: []string{name}, rank: i})
		}
	}
	head, lines := make([]string, len(shown)), make([][]string, len(rows))
	for i, t := range shown {
		head[i] = strings.ToUpper(t.from[0][strings.LastIndexByte(t.from[0], '.')+1:])
		for n, row := range rows {
			lines[n] = append(lines[n], t.cell(row))
		}
	}
	return p.grid(w, head, lines, shown)
}

// cell returns the value of the column for an item.
func (t telling) cell(row map[string]string) string {
	for _, name := range t.from {
		if row[name] == "" {
			continue
		}
		if at, err := time.Parse(time.RFC3339, row[name]); err == nil && t.most == len(time.DateOnly) {
			return at.UTC().Format(time.DateOnly)
		}
		return oneLine(row[name])
	}
	return ""
}

// grid prints lines under a header, with numbers aligned right. Columns that do not fit are dropped, the highest rank
// first; the column of the first rank gets the remaining width. A pen with 0 columns has no limit.
func (p pen) grid(w io.Writer, head []string, lines [][]string, columns []telling) error {
	widths, numbers := make([]int, len(head)), make([]bool, len(head))
	for i := range head {
		head[i] = oneLine(head[i])
		widths[i], numbers[i] = cells.StringWidth(head[i]), len(lines) > 0
		for _, line := range lines {
			widths[i] = max(widths[i], cells.StringWidth(line[i]))
			numbers[i] = numbers[i] && (line[i] == "" || number.MatchString(line[i]))
		}
	}
	if p.columns > 0 {
		widths = fit(widths, columns, p.columns)
	}
	shown := make([]int, 0, len(widths))
	for i, n := range widths {
		if n > 0 {
			shown = append(shown, i)
		}
	}
	for n := range len(lines) + 1 {
		line := head
		if n > 0 {
			line = lines[n-1]
		}
		var b strings.Builder
		for _, i := range shown {
			text := cells.Truncate(line[i], widths[i], "…")
			pad := strings.Repeat(" ", widths[i]-cells.StringWidth(text))
			if numbers[i] {
				text, pad = pad+text, ""
			}
			b.WriteString(text + pad + strings.Repeat(" ", gap))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// fit returns the widths of columns within room; 0 for one that is dropped.
func fit(widths []int, columns []telling, room int) []int {
	order := make([]int, len(widths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return columns[a].rank - columns[b].rank })
	out := make([]int, len(widths))
	left := room + gap
	for n, i := range order {
		want := widths[i]
		if most := columns[i].most; most > 0 {
			want = min(want, most)
		}
		if n == 0 {
			want = min(want, leastText)
		}
		if want+gap > left && n > 0 {
			continue
		}
		out[i] = min(want, max(left-gap, 1))
		left -= out[i] + gap
	}
	if len(order) > 0 { // the first gets the rest
		out[order[0]] = min(widths[order[0]], out[order[0]]+max(left, 0))
	}
	return out
}

// card prints all values of an object, one in each line, and lists of objects as tables below.
func (p pen) card(w io.Writer, object json.RawMessage) error {
	fields, err := flatten(object, nil)
	if err != nil {
		return err
	}
	widest := 0
	for _, f := range fields {
		widest = max(widest, cells.StringWidth(f.name))
	}
	for _, f := range fields {
		name := oneLine(f.name)
		pad := strings.Repeat(" ", widest-cells.StringWidth(name)+gap)
		if p.bold {
			name = "\x1b[1m" + name + "\x1b[0m"
		}
		if strings.HasPrefix(f.value, "[{") {
			if err := p.list(w, name, f.value); err != nil {
				return err
			}
			continue
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

// list prints a list of objects in a card, such as the lines of a transcript or the variants of a product.
func (p pen) list(w io.Writer, name, list string) error {
	var objects []json.RawMessage
	if json.Unmarshal([]byte(list), &objects) != nil {
		_, err := fmt.Fprintln(w, name, oneLine(list)) // a text that looks like a list
		return err
	}
	if _, err := fmt.Fprintln(w, name); err != nil {
		return err
	}
	rows, seen, err := rowsOf(objects, nil)
	if err != nil {
		return err
	}
	columns, lines := make([]telling, len(seen)), make([][]string, len(rows))
	head := make([]string, len(seen))
	for i, field := range seen {
		head[i] = strings.ToUpper(field)
		columns[i].rank = 2 + i
		for n, row := range rows {
			lines[n] = append(lines[n], oneLine(row[field]))
		}
		if field == "text" || field == "title" {
			columns[i].rank = 1
		}
	}
	return pen{columns: p.columns - gap}.grid(indented{w}, head, lines, columns)
}

// indented writes whole lines with an indentation.
type indented struct{ w io.Writer }

// Write implements [io.Writer].
func (i indented) Write(line []byte) (int, error) {
	_, err := i.w.Write(append([]byte(strings.Repeat(" ", gap)), line...))
	return len(line), err
}

// oneLine returns [blanked] text in one line.
func oneLine(s string) string { return strings.Join(strings.Fields(blanked(s)), " ") }

// blanked returns s with a space for each control character but line feeds and tabs, and without the other characters
// that must not reach a terminal.
func blanked(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r) && unshown(r):
			return -1
		case unshown(r):
			return ' '
		}
		return r
	}, s)
}

// wrap breaks s between words into lines of n columns; a longer word has a line of its own.
func wrap(s string, n int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(s) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case cells.StringWidth(*last)+1+cells.StringWidth(word) <= n:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// table prints lines under a header, without a limit for the width.
func (e *env) table(head []string, fill func(row func(...string))) error {
	var lines [][]string
	fill(func(line ...string) {
		for i := range line {
			line[i] = oneLine(line[i])
		}
		lines = append(lines, line)
	})
	return pen{}.grid(e.out, head, lines, nil)
}

// stamp returns a time as tables show it.
func stamp(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format(time.DateTime)
}
