package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/store/sqlite"
)

// mcpPath is the path of the tools beside the API.
const mcpPath = "/mcp"

type mcpCmd struct {
	MaxBytes  int        `help:"How much data one result holds, in bytes; larger answers are returned in parts." default:"49152" env:"SOCIALDATA_MCP_MAX_BYTES"`
	CursorKey string     `help:"Secret that signs cursors; by default it is in the database." env:"SOCIALDATA_CURSOR_KEY" placeholder:"SECRET"`
	LogLevel  slog.Level `help:"What is logged: debug, info, warn or error." default:"warn" env:"SOCIALDATA_LOG_LEVEL"`
}

// Run serves one caller over standard input and output until either ends.
func (c *mcpCmd) Run(e *env) (err error) {
	log := newLog(e.log, c.LogLevel)
	cfg := mcp.Config{MaxBytes: c.MaxBytes, Logger: log, Now: e.cfg.Now}
	if e.cli.APIKey == "" {
		return c.serve(e, cfg, socialdata.WithLogger(log))
	}
	db, err := e.openServing(log, false)
	if errors.Is(err, sqlite.ErrInUse) {
		return fmt.Errorf("%w: connect to %s of that server with the key instead", err, mcpPath)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	cfg.Records = db.Records()
	return c.serve(e, cfg, append(cursorKeys(c.CursorKey), socialdata.WithLogger(log), socialdata.WithLedger(db.Ledger()),
		socialdata.WithKeys(db.Keys()), socialdata.WithRecords(db.Records()),
		socialdata.WithErasures(db.Blocklist(), db.erasers()...))...)
}

// serve serves the tools over an engine with these options.
func (c *mcpCmd) serve(e *env, cfg mcp.Config, opts ...socialdata.Option) error {
	client, err := e.client(opts...)
	if err != nil {
		return err
	}
	tools := mcp.New(client, cfg)
	err = tools.Serve(e.ctx, e.cli.APIKey, e.in, e.out)
	if errors.Is(err, context.Canceled) {
		err = nil // interrupted
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), patience)
	defer cancel()
	return errors.Join(err, client.Close(detached))
}
