package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/schema"
)

type bulkCmd struct {
	Start   bulkStartCmd   `cmd:"" help:"Hand over a file of reads, one a line, and with --into write their results as they come."`
	Status  bulkStatusCmd  `cmd:"" help:"Show how far a job is, or list all."`
	Results bulkResultsCmd `cmd:"" help:"Write the results of a job that are there, by line."`
	Stop    bulkStopCmd    `cmd:"" help:"Stop a job: what is under way is finished, and the rest never begun."`
}

type bulkStartCmd struct {
	File       string    `arg:"" type:"existingfile" help:"The file: on each line {\"platform\", \"operation\", \"params\"} or {\"url\"}, as JSON."`
	Name       string    `help:"The name of the job; by default that of the file."`
	Into       string    `help:"Write the results into this file until the job is done. The same command goes on behind what the file has." placeholder:"FILE"`
	MaxCredits int64     `help:"The job waits when it would cost more credits." placeholder:"N"`
	Fresh      bool      `help:"Skip the cache, at twice the price."`
	Enrich     string    `help:"arabic analyses the texts." placeholder:"KIND"`
	IncludeRaw bool      `help:"Add what the upstreams have answered."`
	Fields     string    `help:"Only these fields of each object, such as id,author.handle." placeholder:"NAMES"`
	Deadline   time.Time `help:"What is open at this time is not begun: RFC 3339." placeholder:"TIME"`
	Cheapest   bool      `help:"Work the cheapest lines first."`

	accountFlags `embed:""`
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// name returns the name of the job.
func (c *bulkStartCmd) name() string {
	if c.Name != "" {
		return c.Name
	}
	base := filepath.Base(c.File)
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base))), "-"), "-")
	return name[:min(len(name), 64)]
}

// Run starts the job. The file of results is read first, so that a job is not started in vain.
func (c *bulkStartCmd) Run(e *env) (err error) {
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	var into *os.File
	after := int64(0)
	if c.Into != "" {
		if into, after, err = resumed(c.Into); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, into.Close()) }()
	}
	return c.with(e, func(a accounts.Account) error {
		made, err := a.Bulk().Start(e.ctx, accounts.BulkRequest{
			Name: c.name(), File: file, MaxCredits: c.MaxCredits, Fresh: c.Fresh, Enrich: c.Enrich, IncludeRaw: c.IncludeRaw,
			Fields: c.Fields, Deadline: c.Deadline, Cheapest: c.Cheapest,
		})
		if err != nil {
			return err
		}
		for _, r := range made.Refused {
			_, _ = fmt.Fprintf(e.log, "line %d is refused: %s\n", r.Line, oneLine(r.Problem.Detail))
		}
		if more := made.RefusedLines - int64(len(made.Refused)); more > 0 {
			_, _ = fmt.Fprintf(e.log, "and %s more\n", counted(more, "line"))
		}
		if made.New && after > 0 {
			return fmt.Errorf("%s has results up to line %d of another job: name another file with --into", c.Into, after)
		}
		if err := e.printf("%s: %s, %d to %s\n", made.ID, counted(made.Accepted, "line"), made.Credits.Least, counted(made.Credits.Most, "credit")); err != nil ||
			into == nil {
			return err
		}
		return followBulk(e, a, made.ID, after, into)
	})
}

// resumed opens a file of results for appending behind its last whole line, and returns the number of that line.
func resumed(path string) (f *os.File, after int64, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // it has public data
	if err != nil {
		return nil, 0, err
	}
	end, line, err := lastLine(f)
	if err == nil && len(line) > 0 {
		var r schema.BulkResult
		if err = json.Unmarshal(line, &r); err != nil || r.Line == 0 {
			err = fmt.Errorf("%s does not have results of a bulk job", path)
		}
		after = r.Line
	}
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, after, nil
}

// lastLine returns the last whole line of a file, and where it ends.
func lastLine(f *os.File) (end int64, line []byte, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, nil, err
	}
	for part := int64(64 << 10); ; part *= 2 {
		from := max(0, size-part)
		tail := make([]byte, size-from)
		if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, nil, err
		}
		last := bytes.LastIndexByte(tail, '\n')
		begin := -1
		if last >= 0 {
			begin = bytes.LastIndexByte(tail[:last], '\n')
		}
		switch {
		case last >= 0 && (begin >= 0 || from == 0):
			return from + int64(last) + 1, tail[begin+1 : last], nil
		case from == 0:
			return 0, nil, nil
		}
	}
}

// bulkLook is the pause before a job is looked at again that has no further results.
const bulkLook = time.Second

// followBulk writes the results of a job behind a line until it is over, and shows its progress.
func followBulk(e *env, a accounts.Account, name string, after int64, into io.Writer) error {
	bar := newProgress(e.log, "lines", 0)
	defer bar.end()
	for {
		page, err := a.Bulk().Results(e.ctx, accounts.BulkResultsRequest{Name: name, After: after})
		if err != nil {
			return err
		}
		if err := writeResults(into, page.Data); err != nil {
			return err
		}
		if n := len(page.Data); n > 0 {
			after = page.Data[n-1].Line
		}
		j, err := a.Bulk().Status(e.ctx, name)
		if err != nil {
			return err
		}
		bar.limit = j.Lines
		bar.unit = "lines" + bulkSpeed(&j)
		bar.show(j.Lines - j.Left)
		switch {
		case page.Meta.NextCursor == "" && j.State == "ended":
			bar.end()
			return fmt.Errorf("the job has ended: %s not read", counted(j.Left, "line"))
		case page.Meta.NextCursor == "":
			return nil
		case len(page.Data) > 0:
			continue
		}
		select {
		case <-e.ctx.Done():
			return e.ctx.Err()
		case <-time.After(bulkLook):
		}
	}
}

// bulkWaits returns what a job waits for, and until when if that is known; "" if it does not wait.
func bulkWaits(j *schema.BulkJob) string {
	switch {
	case j.WaitingFor == nil:
		return ""
	case j.EtaS == nil:
		return *j.WaitingFor
	}
	return fmt.Sprintf("%s in %v", *j.WaitingFor, time.Duration(*j.EtaS)*time.Second)
}

// bulkSpeed returns what a job waits for, or when it ends.
func bulkSpeed(j *schema.BulkJob) string {
	switch waits := bulkWaits(j); {
	case waits != "":
		return " (waiting for " + waits + ")"
	case j.EtaS != nil && *j.EtaS > 0:
		return fmt.Sprintf(" (%d a second, %v left)", j.Left / *j.EtaS, time.Duration(*j.EtaS)*time.Second)
	}
	return ""
}

func writeResults(w io.Writer, rows []schema.BulkResult) error {
	var text bytes.Buffer
	for i := range rows {
		b, err := schema.Marshal(&rows[i])
		if err != nil {
			return err
		}
		text.Write(append(b, '\n'))
	}
	_, err := w.Write(text.Bytes())
	return err
}

type bulkStatusCmd struct {
	Name string `arg:"" optional:"" help:"The name of a job."`

	accountFlags `embed:""`
	outputFlags  `embed:""`
}

// Run shows one job, or all by name.
func (c *bulkStatusCmd) Run(e *env) error {
	list := []schema.BulkJob{}
	err := c.with(e, func(a accounts.Account) error {
		if c.Name != "" {
			j, err := a.Bulk().Status(e.ctx, c.Name)
			list = append(list, j)
			return err
		}
		for j, err := range socialdata.Walk(e.ctx, a.Bulk().List, accounts.BulkJobsRequest{}) {
			if err != nil {
				return err
			}
			list = append(list, j)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.show(e, list, func() error {
		head := []string{"NAME", "STATE", "LINES", "FOUND", "MISSING", "FAILED", "LEFT", "CREDITS", "MOST", "WAITING FOR"}
		return e.table(head, func(row func(...string)) {
			n := func(v int64) string { return strconv.FormatInt(v, 10) }
			for _, j := range list {
				row(j.ID, j.State, n(j.Lines), n(j.Found), n(j.Missing), n(j.Failed), n(j.Left), n(j.CreditsUsed), n(j.Most),
					bulkWaits(&j))
			}
		})
	})
}

type bulkResultsCmd struct {
	Name  string `arg:"" help:"The name of the job."`
	After int64  `help:"Only results behind the line of this number." placeholder:"N"`

	accountFlags `embed:""`
}

// Run writes the results as JSON Lines.
func (c *bulkResultsCmd) Run(e *env) error {
	return c.with(e, func(a accounts.Account) error {
		for after := c.After; ; {
			page, err := a.Bulk().Results(e.ctx, accounts.BulkResultsRequest{Name: c.Name, After: after})
			if err != nil {
				return err
			}
			if err := writeResults(e.out, page.Data); err != nil || len(page.Data) == 0 {
				return err
			}
			after = page.Data[len(page.Data)-1].Line
		}
	})
}

type bulkStopCmd struct {
	Name string `arg:"" help:"The name of the job."`

	accountFlags `embed:""`
}

// Run stops the job.
func (c *bulkStopCmd) Run(e *env) error {
	return c.with(e, func(a accounts.Account) error {
		j, err := a.Bulk().Stop(e.ctx, c.Name)
		if err != nil {
			return err
		}
		return e.printf("%s is %s; %s left\n", j.ID, j.State, counted(j.Left, "line"))
	})
}
