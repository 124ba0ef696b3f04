package postgres

import "context"

// Warnings returns which settings of the server, the database or the role can cause the loss of committed data in a
// crash.
func (db *DB) Warnings(ctx context.Context) ([]string, error) {
	var commit, fsync string
	err := db.runner.pool.QueryRow(ctx, "SELECT current_setting('synchronous_commit'), current_setting('fsync')").
		Scan(&commit, &fsync)
	var found []string
	if commit == "off" {
		found = append(found, "synchronous_commit is off: charges, grants, revocations and records wait for the disk "+
			"nevertheless, but other uses of the database do not; set it to on")
	}
	if fsync == "off" {
		found = append(found, "fsync is off: a crash of the machine may lose what was charged or damage the whole "+
			"database; set it to on")
	}
	return found, err
}
