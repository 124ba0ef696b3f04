// Command parquet writes the rows of files of socialdata to one Parquet file, with typed columns:
//
//	socialdata export bluesky posts handle=bsky.app --into posts.db
//	go run ./examples/parquet posts.db posts.parquet
//	go run ./examples/parquet -table profile all.db profiles.parquet
//	go run ./examples/parquet 'results/*.ndjson.gz' results.parquet
//
// It reads the SQLite files of --into (.db), and files of JSON Lines (.jsonl or .ndjson, also with .gz), such as those of
// export, batch and bulk jobs, whose objects become flat: author_handle for author.handle.
//
// A column has the type of all its values: boolean, integer, number, time with microseconds in UTC, JSON, or else text.
// Without values it has the type that it has in the SQLite file. Every column may be null.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	table := flag.String("table", "", "the table of a SQLite file; it can be left out if there is one")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(), "usage: parquet [-table NAME] FILE.db|FILE.jsonl... FILE.parquet")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	from, to := flag.Args()[:flag.NArg()-1], flag.Args()[flag.NArg()-1]
	n, err := run(*table, from, to)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "parquet:", err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintf(os.Stderr, "%d rows written to %s\n", n, to)
}

// run writes the rows of files, which may be patterns, to a file, and returns how many there are.
func run(table string, from []string, to string) (n int64, err error) {
	var files []string
	for _, pattern := range from {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return 0, err
		}
		if found == nil {
			return 0, fmt.Errorf("there is no %s", pattern)
		}
		files = append(files, found...)
	}
	if filepath.Ext(to) != ".parquet" {
		return 0, fmt.Errorf("the last file must end in .parquet, not %s", filepath.Base(to))
	}
	read := func(use func([]column, []any) error) error { return readLines(files, use) }
	if filepath.Ext(files[0]) == ".db" {
		if len(files) > 1 {
			return 0, errors.New("of SQLite files, name one")
		}
		read = func(use func([]column, []any) error) error { return readTable(files[0], table, use) }
	}
	var columns columns
	if err := read(columns.learn); err != nil {
		return 0, err
	}
	if columns.settle(); len(columns.all) == 0 {
		return 0, fmt.Errorf("there are no columns in %s", strings.Join(files, ", "))
	}
	return write(to, &columns, read)
}
