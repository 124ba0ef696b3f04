package cli

import (
	"errors"
	"fmt"
)

type backupCmd struct {
	File string `arg:"" help:"The file to write. It must not exist; only you can read it." type:"path"`
}

// Run copies the database.
func (c *backupCmd) Run(e *env) error {
	if e.cli.Postgres != "" {
		return errors.New("back up PostgreSQL with its own tools: pg_dump --format=custom --file=FILE, with the same DSN")
	}
	return e.with(func(db *store) error {
		bar := newProgress(e.log, "MB", 0)
		defer bar.end()
		var size int64
		err := db.backup(e.ctx, c.File, func(done, total int64) {
			size, bar.limit = total, total>>20
			bar.show(done >> 20)
		})
		if err != nil {
			return err
		}
		bar.end()
		_, err = fmt.Fprintf(e.log, "%s written to %s; socialdata --db %s audit proves them\n", counted(size, "byte"), c.File, c.File)
		return err
	})
}
