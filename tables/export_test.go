package tables

import "database/sql"

// OpenCursors returns the number of cursors that are open over the tables of a connection.
func OpenCursors(c *sql.Conn) (n int, err error) {
	err = c.Raw(func(c any) error {
		n = c.(*conn).open
		return nil
	})
	return n, err
}

// Connections returns a function that counts the open connections of the database of c.
func Connections(c *sql.Conn) (count func() int, err error) {
	err = c.Raw(func(c any) error {
		db := c.(*conn).db
		count = func() int {
			db.mu.Lock()
			defer db.mu.Unlock()
			return len(db.conns)
		}
		return nil
	})
	return count, err
}
