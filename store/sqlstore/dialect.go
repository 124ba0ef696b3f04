package sqlstore

import (
	"strconv"
	"strings"
)

// Dialect is what differs between the databases. Each has one value of it, beside its driver.
//
// Statements are written once. In them @name is a table, ? a parameter, and {word} one of Words.
type Dialect struct {
	// Words are the types of columns (int, text, bytes, real, and id for a primary key that numbers its rows), strict and
	// spare, which end a table (spare is one whose rows are often updated), lock and skip, which end a SELECT that locks
	// its rows (skip passes over those that another transaction has locked), insert, which begins the INSERT of entries,
	// slash, the place of the first slash in the column key of bytes, 0 without one, and now, the time of the database in
	// nanoseconds, 0 where it is that of the process.
	Words map[string]string
	// Schema is what the names of tables begin with, such as "socialdata.".
	Schema string
	// Numbered is whether parameters are written $1 and not ?.
	Numbered bool
	// Shared is whether several machines write to the database, so that the time is the database's.
	Shared bool
	// Rows returns a table of parameters with the columns c1, c2 …, and RowArgs its arguments. types has a letter for each
	// column: n for a number, t for a text and b for bytes. A number can be nil.
	Rows    func(types string) string
	RowArgs func(types string, rows [][]any) []any
	// InsertMax is how many rows of values an INSERT has at most; 0 means that it reads them from a table of parameters.
	InsertMax int
	// LockSchema is a statement that keeps other programs from migrating the schema until the transaction ends; "" where a
	// transaction does so by itself.
	LockSchema string
	// AppendOnly returns a statement after which the rows of a table cannot be changed, or "".
	AppendOnly func(table string) string
	// Missing reports whether an error is that of a missing table or column, and Exists, that of a row that is there
	// already.
	Missing, Exists func(error) bool
	// Sizes selects the name of each table and the bytes that it and its indexes take.
	Sizes string
}

// text returns a statement in the words of the database.
func (d *Dialect) text(query string) string {
	var b strings.Builder
	n := 0
	for {
		i := strings.IndexAny(query, "@{?")
		if i < 0 {
			b.WriteString(query)
			return b.String()
		}
		b.WriteString(query[:i])
		switch c := query[i]; {
		case c == '@':
			b.WriteString(d.Schema)
		case c == '{':
			end := i + strings.IndexByte(query[i:], '}')
			word, ok := d.Words[query[i+1:end]]
			if !ok {
				panic("sqlstore: no such word: " + query[i:end+1])
			}
			b.WriteString(word)
			i = end
		case d.Numbered:
			n++
			b.WriteString("$" + strconv.Itoa(n))
		default:
			b.WriteByte('?')
		}
		query = query[i+1:]
	}
}
