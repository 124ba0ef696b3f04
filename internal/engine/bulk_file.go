package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// bulkFile is the file of a job while it is read.
type bulkFile struct {
	session *Session
	id      string          // of the request
	options operation.Pairs // of each read
	sum     hash.Hash
	failed  error // why the file cannot be read

	accepted, refusedLines int64
	least, most            int64
	refused                []schema.BulkRefusal
}

// lines yields the accepted lines of a file, and counts the others. It ends with an error if the file is incomplete or
// too long, or if no line was accepted.
func (f *bulkFile) lines(ctx context.Context, file io.Reader) iter.Seq2[bulkjob.Line, error] {
	return func(yield func(bulkjob.Line, error) bool) {
		f.refused = []schema.BulkRefusal{}
		in := bufio.NewReaderSize(io.TeeReader(io.LimitReader(file, bulkBytes+1), f.sum), bulkLine+1)
		read := int64(0)
		for number := int64(1); ; number++ {
			text, n, long, err := nextLine(in)
			read += n
			switch {
			case read > bulkBytes:
				err = problem.New(problem.InvalidRequest, "the file is longer than %d MiB: make several jobs of it", bulkBytes>>20)
			case number > bulkLines && n > 0:
				err = problem.New(problem.InvalidRequest, "the file has more than %d lines: make several jobs of it", bulkLines)
			case err != nil && !errors.Is(err, io.EOF):
				err = problem.Wrap(err, problem.InvalidRequest, "the file is incomplete; send it again; nothing was started")
			case n > 0 && number%1024 == 0:
				err = cmp.Or(ctx.Err(), err)
			}
			over := errors.Is(err, io.EOF)
			if err != nil && !over {
				f.failed = err
				yield(bulkjob.Line{}, err)
				return
			}
			if line, ok := f.line(ctx, number, text, long); ok && !yield(line, nil) {
				return
			}
			if over {
				break
			}
		}
		if f.accepted == 0 {
			f.failed = f.nothing()
			yield(bulkjob.Line{}, f.failed)
		}
	}
}

// nextLine reads a line without its end, and returns how many bytes it had with it. Of a line that is too long nothing is
// kept.
func nextLine(in *bufio.Reader) (text []byte, n int64, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if errors.Is(err, bufio.ErrBufferFull) {
			long = true
			continue
		}
		if long {
			return nil, n, true, err
		}
		return bytes.TrimSpace(part), n, false, err
	}
}

// line checks and prices a line. It is not ok if the line is empty or refused.
func (f *bulkFile) line(ctx context.Context, number int64, text []byte, long bool) (line bulkjob.Line, ok bool) {
	if len(text) == 0 && !long {
		return line, false
	}
	row, call := (*read.Row)(nil), operation.Call{}
	err := error(problem.New(problem.InvalidRequest, "the line is longer than %d KiB", bulkLine>>10))
	if !long {
		line, row, call, err = f.session.bulkLine(ctx, text, f.options)
	}
	if err != nil {
		f.refuse(number, row, call, err)
		return line, false
	}
	line.Number = number
	f.accepted++
	f.least += line.Least
	f.most += line.Most
	return line, true
}

// refuse counts a line that cannot be read.
func (f *bulkFile) refuse(number int64, row *read.Row, call operation.Call, err error) {
	f.refusedLines++
	if len(f.refused) == bulkRefused {
		return
	}
	o := bulking
	if row != nil {
		o = row.Operation
	}
	p := problemOf(o, call, err)
	p.RequestID = f.id
	f.refused = append(f.refused, schema.BulkRefusal{Line: number, Problem: p})
}

// nothing returns the problem of a file of which no line was accepted.
func (f *bulkFile) nothing() error {
	if f.refusedLines == 0 {
		return problem.New(problem.InvalidRequest, "the file has no lines: each is a read, such as %s", bulkExample)
	}
	first := f.refused[0]
	return problem.New(problem.InvalidRequest, "no line can be read, of %d; line %d: %s", f.refusedLines, first.Line,
		first.Problem.Detail)
}

// bulkLine returns the read of a line. The row and the call are set if they are known, also with an error.
func (s *Session) bulkLine(
	ctx context.Context, text []byte, options operation.Pairs,
) (line bulkjob.Line, row *read.Row, call operation.Call, err error) {
	given, err := parseBulkLine(text)
	if err == nil && given.URL != "" {
		line.Key = operation.Shown(given.URL)
		err = s.bulkAddress(&given)
	}
	if err == nil {
		row, err = s.bulkRow(given.Operation)
	}
	if err != nil {
		return line, row, call, err
	}
	call = bulkCall(row, string(given.Platform), given.Params, options)
	for i := range row.Params {
		p := &row.Params[i]
		if _, ok := given.Params[p.Name]; ok && (p.Option || p.Form == operation.FormCursor) {
			return line, row, call, problem.New(problem.InvalidRequest, "parameter %q cannot be used in a line: options are those "+
				"of the whole job", p.Name)
		}
	}
	q, err := s.reader.Plan(ctx, row, call)
	if err != nil {
		return line, row, call, err
	}
	if line.Params, err = schema.Marshal(given.Params); err != nil {
		return line, row, call, err
	}
	if key := row.Key(); line.Key == "" && key != nil {
		line.Key = operation.Shown(given.Params[key.Name])
	}
	price := s.reader.Prices(q)
	line.Platform, line.Operation, line.Together = q.Platform, row.Name, q.KeysAtOnce()
	line.Least, line.Most = price.Least, price.Most
	return line, row, call, nil
}

// parseBulkLine decodes a line.
func parseBulkLine(text []byte) (l schema.BulkLine, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&l); err == nil {
		_, err = d.Token()
	}
	const unknown = "json: unknown field "
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
		err = errors.New("it has more than one object")
	case errors.Is(err, io.EOF):
		err = nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends within the object")
	case isType && wrong.Field != "":
		kind := "a text"
		if strings.HasPrefix(wrong.Field, "params") {
			kind = "an object whose members are texts"
		}
		err = fmt.Errorf("the member %q must be %s", wrong.Field, kind)
	case strings.HasPrefix(err.Error(), unknown):
		name := strings.Trim(strings.TrimPrefix(err.Error(), unknown), `"`)
		names := []string{"platform", "operation", "params", "url"}
		err = fmt.Errorf("it has no member %s%s; it takes %s", problem.Quote(name), problem.DidYouMean(name, names),
			strings.Join(names, ", "))
	}
	switch {
	case err != nil:
		return l, problem.Wrap(err, problem.InvalidRequest, "the line must be a JSON object: %v", err)
	case l.URL != "" && (l.Platform != "" || l.Operation != "" || l.Params != nil):
		return l, problem.New(problem.InvalidRequest, "a line has either url, or platform, operation and params")
	case l.URL == "" && (l.Platform == "" || l.Operation == ""):
		return l, problem.New(problem.InvalidRequest, "a line has url, or platform, operation and params")
	case l.Params == nil:
		l.Params = map[string]string{}
	}
	return l, nil
}

// bulkAddress replaces an address by the read that it leads to. Nothing is requested for that: short links are refused.
func (s *Session) bulkAddress(l *schema.BulkLine) error {
	in, err := operation.Pairs{{Name: "url", Value: l.URL}}.Bind(s.rows["read"].Params[:1])
	if err != nil {
		return err
	}
	found, err := s.resolver.Text(in.Values[0])
	if err != nil {
		return err
	}
	first := found.Calls[0]
	l.Params, l.Platform, l.Operation = map[string]string{}, found.Platform, first.Operation.Name
	for _, p := range first.Params {
		l.Params[p.Name] = p.Value
	}
	return nil
}

// bulkRow returns the row of an operation that a line can make.
func (e *Engine) bulkRow(name string) (*read.Row, error) {
	if row := e.rows[name]; row != nil && e.bulkable(row) {
		return row, nil
	}
	var names []string
	for _, row := range e.cfg.Rows {
		if e.bulkable(row) {
			names = append(names, row.Name)
		}
	}
	slices.Sort(names)
	return nil, problem.New(problem.InvalidRequest, "operation must be one that reads from a platform: %s%s",
		strings.Join(names, ", "), problem.DidYouMean(name, names))
}
