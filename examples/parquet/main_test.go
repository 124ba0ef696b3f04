package main

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"modernc.org/sqlite"

	"github.com/socialdata/socialdata/contrib/cli"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
)

// socialdata runs the program with the sandbox alone.
func socialdata(t *testing.T, keys string, args ...string) {
	t.Helper()
	cfg := cli.Config{Providers: func(cli.Environment) ([]providers.Chain, error) {
		return []providers.Chain{mock.New(mock.Config{})}, nil
	}}
	var log bytes.Buffer
	args = append([]string{"--db", filepath.Join(t.TempDir(), "none.db")}, args...)
	if status := cli.Run(t.Context(), cfg, args, cli.Streams{In: strings.NewReader(keys), Out: io.Discard, Log: &log},
		func(string) string { return "" }); status != 0 {
		t.Fatalf("%q: exit status %d: %s", args, status, &log)
	}
}

// readBack returns the columns of a Parquet file with their types, in order, and its rows.
func readBack(t *testing.T, file string) (types [][2]string, rows []map[string]any) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	r := parquet.NewReader(f)
	defer r.Close() //nolint:errcheck // read only
	for _, c := range r.Schema().Fields() {
		types = append(types, [2]string{c.Name(), c.Type().String()})
	}
	for {
		read := make([]parquet.Row, 1)
		if _, err := r.ReadRows(read); errors.Is(err, io.EOF) && len(read[0]) == 0 {
			return types, rows
		} else if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		row := map[string]any{}
		for _, v := range read[0] {
			name := types[v.Column()]
			switch {
			case v.IsNull():
			case v.Kind() == parquet.Boolean:
				row[name[0]] = v.Boolean()
			case v.Kind() == parquet.Double:
				row[name[0]] = v.Double()
			case v.Kind() == parquet.Int64 && strings.HasPrefix(name[1], "TIMESTAMP"):
				row[name[0]] = time.UnixMicro(v.Int64()).UTC().Format(time.RFC3339)
			case v.Kind() == parquet.Int64:
				row[name[0]] = v.Int64()
			default:
				row[name[0]] = string(v.ByteArray())
			}
		}
		rows = append(rows, row)
	}
}

// table returns the rows of a table of a SQLite file without their NULLs.
func table(t *testing.T, file, table string) (rows []map[string]any) {
	t.Helper()
	connector, err := sqlite.NewConnector(file)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // read only
	got, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close() //nolint:errcheck // read only
	names, err := got.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for got.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := got.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, v := range values {
			if names[i] == "is_ad" && v != nil {
				v = v != int64(0)
			}
			if v != nil {
				row[names[i]] = v
			}
		}
		rows = append(rows, row)
	}
	if err := got.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestFilesOfTheProgramComeBackWithTheirTypes exports posts of the sandbox as SQLite and as JSON Lines.
func TestFilesOfTheProgramComeBackWithTheirTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := func(name string) string { return filepath.Join(dir, name) }
	socialdata(t, "", "export", "mock", "posts", "handle=salma", "--into", name("posts.db"))
	socialdata(t, "", "export", "mock", "posts", "handle=salma", "--into", name("posts.jsonl"))
	socialdata(t, "ann\nomar\n", "batch", "mock", "profile", "--into", name("posts.db"))
	want := table(t, name("posts.db"), "posts")
	for _, from := range []string{"posts.db", "posts.jsonl"} {
		if n, err := run(map[bool]string{true: "posts"}[from == "posts.db"], []string{name(from)}, name("posts.parquet")); err != nil || n != 48 {
			t.Fatalf("%s: %d rows, %v", from, n, err)
		}
		types, rows := readBack(t, name("posts.parquet"))
		if types[0] != [2]string{"platform", "STRING"} || types[1] != [2]string{"id", "STRING"} {
			t.Errorf("%s: the columns begin with %v", from, types[:2])
		}
		byName := map[string]string{}
		for _, c := range types {
			byName[c[0]] = c[1]
		}
		for column, want := range map[string]string{
			"text": "STRING", "created_at": "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)", "likes": "INT(64,true)",
			"is_ad": "BOOLEAN", "hashtags": "JSON", "author_handle": "STRING", "media": "JSON",
			"fetched_at": "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)",
		} {
			if byName[column] != want {
				t.Errorf("%s: %s is %q, want %q", from, column, byName[column], want)
			}
		}
		if from == "posts.jsonl" {
			for _, row := range want {
				delete(row, "first_seen")
				delete(row, "last_seen")
			}
		}
		for _, row := range append(rows, want...) {
			delete(row, "fetched_at") // the exports are a moment apart
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
	}
	if n, err := run("profile", []string{name("posts.db")}, name("profile.parquet")); err != nil || n != 2 {
		t.Errorf("profiles: %d rows, %v", n, err)
	}
}

// TestAColumnHasTheTypeOfAllItsValues reads lines of two files, one of them compressed.
func TestAColumnHasTheTypeOfAllItsValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := io.WriteString(z, `{"mixed": "x", "whole": 1.5, "at": "2026-11-01T03:00:00+03:00", "author": {"id": "7"}, "raw": {"a": {"b": 1}}}`); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"1.ndjson": `{"mixed": 7, "whole": 2, "at": null, "author": null, "empty": null}` + "\n" + `{"list": [1], "yes": true, "at": "2026-11-01T00:00:01Z"}` + "\n",
		"2.ndjson": "", "3.ndjson.gz": compressed.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "all.parquet")
	if n, err := run("", []string{filepath.Join(dir, "*.ndjson"), filepath.Join(dir, "*.gz")}, to); err != nil || n != 3 {
		t.Fatalf("%d rows, %v", n, err)
	}
	types, rows := readBack(t, to)
	if diff := cmp.Diff([][2]string{
		{"mixed", "STRING"},
		{"whole", "DOUBLE"},
		{"at", "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)"},
		{"empty", "STRING"},
		{"list", "JSON"},
		{"yes", "BOOLEAN"},
		{"author_id", "STRING"},
		{"raw", "JSON"},
	}, types); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]map[string]any{
		{"mixed": "7", "whole": 2.0},
		{"list": "[1]", "yes": true, "at": "2026-11-01T00:00:01Z"},
		{"mixed": "x", "whole": 1.5, "at": "2026-11-01T00:00:00Z", "author_id": "7", "raw": `{"a": {"b": 1}}`},
	}, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeWrittenLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socialdata(t, "ann\n", "batch", "mock", "profile", "--into", filepath.Join(dir, "two.db"))
	socialdata(t, "12\n", "batch", "mock", "post", "--into", filepath.Join(dir, "two.db"))
	if err := os.WriteFile(filepath.Join(dir, "bad.jsonl"), []byte("{\"a\": 1}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ table, from, to, want string }{
		{"", "none.db", "x.parquet", "there is no"},
		{"", "two.db", "x.parquet", "there are: profile, post"},
		{"other", "two.db", "x.parquet", "no such table"},
		{"profile", "two.db", "x.csv", "must end in .parquet"},
		{"", "bad.jsonl", "x.parquet", "bad.jsonl: unexpected EOF"},
	} {
		_, err := run(tt.table, []string{filepath.Join(dir, tt.from)}, filepath.Join(dir, tt.to))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.from, err, tt.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "x.*")); err != nil || left != nil {
		t.Errorf("there are %v, %v", left, err)
	}
}
