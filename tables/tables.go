package tables

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vtab"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// DefaultMaxCredits is the limit of a query without [Config.MaxCredits].
const DefaultMaxCredits = 1000

// Config configures [Open].
type Config struct {
	// MaxCredits is what one query may cost; 0 means [DefaultMaxCredits].
	MaxCredits int64
	// OnRead is called after each call that a query has made. Nil calls nothing.
	OnRead func(Read)
}

// Read is a call that a query has made.
type Read struct {
	Table   string
	Call    string // path and query of its route, without the limit of its price
	Rows    int
	Credits int64
	Cache   schema.CacheState
	Missing []string // keys of a batch that were not found
	Err     error
}

// Open returns a database with a table for each read of r. Closing it does not close r.
func Open(r socialdata.Reader, cfg Config) (*sql.DB, error) {
	if cfg.MaxCredits < 0 {
		return nil, errors.New("tables: MaxCredits must not be negative")
	}
	cfg.MaxCredits = cmp.Or(cfg.MaxCredits, DefaultMaxCredits)
	d := &database{caller: socialdata.CallerOf(r), cfg: cfg, tables: definitions(), conns: map[string]*conn{}}
	if err := d.driver.RegisterModule(moduleName, module{d}); err != nil {
		return nil, err
	}
	return sql.OpenDB(d), nil
}

const moduleName = "socialdata"

// database makes connections. Its driver is its own, so that no other connection of the process sees its tables.
type database struct {
	caller operation.Caller
	cfg    Config
	tables []*definition
	driver sqlite.Driver

	mu    sync.Mutex
	conns map[string]*conn // open ones, by the argument of their tables
	made  int
}

// Driver implements [driver.Connector].
func (d *database) Driver() driver.Driver { return &d.driver }

// Connect implements [driver.Connector].
func (d *database) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := d.driver.Open(":memory:")
	if err != nil {
		return nil, err
	}
	both, ok := inner.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("tables: the driver of SQLite has changed"), inner.Close())
	}
	d.mu.Lock()
	d.made++
	c := &conn{sqliteConn: both, db: d, id: strconv.Itoa(d.made), plans: map[string]*plan{}}
	d.conns[c.id] = c
	d.mu.Unlock()
	for i, t := range d.tables {
		create := fmt.Sprintf("CREATE VIRTUAL TABLE %s USING %s(%s, %d)", quoted(t.name), moduleName, c.id, i)
		if _, err := both.ExecContext(ctx, create, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("tables: %s: %w", t.name, err), c.Close())
		}
	}
	return c, nil
}

// table returns a table of a connection, as the arguments of CREATE VIRTUAL TABLE name them.
func (d *database) table(args []string) (*table, error) {
	const first = 3 // after the names of the module, the database and the table
	if len(args) != first+2 {
		return nil, errors.New("these tables are made by package tables alone")
	}
	d.mu.Lock()
	c := d.conns[args[first]]
	d.mu.Unlock()
	n, err := strconv.Atoi(args[first+1])
	if c == nil || err != nil || n < 0 || n >= len(d.tables) {
		return nil, errors.New("these tables are made by package tables alone")
	}
	return &table{conn: c, definition: d.tables[n]}, nil
}

// module makes the tables of connections.
type module struct{ db *database }

// Create implements [vtab.Module].
func (m module) Create(ctx vtab.Context, args []string) (vtab.Table, error) {
	t, err := m.db.table(args)
	if err != nil {
		return nil, err
	}
	return t, ctx.Declare(t.declaration())
}

// Connect implements [vtab.Module].
func (m module) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(ctx, args)
}
