package bulk

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/socialdata/socialdata/bulkjob"
)

// Sink gets the results of jobs in place of the table. It is safe for concurrent use.
type Sink interface {
	// Write stores the results of a chunk, in the order of their lines. It is called before the chunk ends, and again with
	// the same chunk if that was not recorded: then it replaces what it has stored. What it has stored is the operator's: it
	// is not removed with the job, and not covered by an erasure. A chunk whose Write fails is worked again later.
	Write(ctx context.Context, job bulkjob.Job, chunk int64, results []bulkjob.Result) error
}

// Directory returns a [Sink] that writes files: path/{account}/{name}-{id of the job}/{chunk}.ndjson.gz. A file appears
// when it is complete.
func Directory(path string) Sink { return directory(path) }

type directory string

// written is a line of a file, with the names that results have over HTTP.
type written struct {
	Line    int64           `json:"line"`
	Key     string          `json:"key"`
	Data    json.RawMessage `json:"data"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Problem json.RawMessage `json:"problem,omitempty"`
	Cache   string          `json:"cache,omitempty"`
	DataAge int64           `json:"data_age_s,omitempty"`
	Credits int64           `json:"credits_used"`
}

// Write implements [Sink].
func (d directory) Write(_ context.Context, job bulkjob.Job, chunk int64, results []bulkjob.Result) (err error) {
	dir := filepath.Join(string(d), fileName(job.Account), fileName(job.Name)+"-"+job.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".chunk-*")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.Remove(f.Name()); !errors.Is(removed, fs.ErrNotExist) { // it has its name unless something failed
			err = errors.Join(err, removed)
		}
	}()
	z := gzip.NewWriter(f)
	lines := json.NewEncoder(z)
	lines.SetEscapeHTML(false)
	for _, r := range results {
		if err = lines.Encode(written{
			r.Line, r.Key, r.Data, r.Raw, r.Problem, r.Cache, int64(r.DataAge.Seconds()), r.Credits,
		}); err != nil {
			break
		}
	}
	if err = errors.Join(err, z.Close(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, strconv.FormatInt(chunk, 10)+".ndjson.gz"))
}

// fileName makes a name of an account or a job one of a directory.
func fileName(s string) string {
	if s = url.PathEscape(s); s == "." || s == ".." {
		return "%2E" + s[1:]
	}
	return s
}
