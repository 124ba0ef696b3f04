package bulk

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/platform"
)

const (
	alone        = 25        // lines of a chunk whose operation reads one thing at a time
	span         = 10_000    // between the first and the last line of a chunk at most, for the order of results
	chunkBytes   = 256 << 10 // of the parameters of a chunk, at most one line more
	waitingBytes = 4 << 20   // of the parameters in chunks that are not complete
	batchChunks  = 200       // that are written in one transaction
	batchBytes   = 1 << 20
	stagedFor    = 10 * time.Minute // how long the rows of a file are kept whose reader does not say that it is alive
	aliveEvery   = time.Minute
)

// Start implements [bulkjob.Service]. The chunks are written while the lines are read, for a job that no one sees until
// they have ended.
func (s *Service) Start(
	ctx context.Context, job bulkjob.Job, lines iter.Seq2[bulkjob.Line, error], end func() (string, int64),
) (bulkjob.Job, bool, error) {
	options, err := json.Marshal(job.Options)
	if err != nil {
		return bulkjob.Job{}, false, err
	}
	j := &jobRow{Job: job, options: string(options)}
	j.ID, j.State, j.Shown = rand.Text(), bulkjob.Queued, staged
	j.Found, j.Missing, j.Failed, j.Used = 0, 0, 0, 0
	var existing *jobRow
	if err := s.read(ctx, func(t tx) error {
		existing, err = t.named(job.Account, job.Name, "")
		return err
	}); err != nil && !errors.Is(err, bulkjob.ErrAbsent) {
		return bulkjob.Job{}, false, err
	}
	w := &stager{ctx: ctx, s: s, job: j, groups: map[group]*pending{}, on: map[platform.ID]bool{}}
	// A job that is open stays: it only remains to be seen whether the file is the same.
	w.discard = existing != nil && existing.isOpen()
	err = w.stage(lines)
	if err == nil {
		j.Sum, j.Refused = end()
		j.Platforms = names(w.on)
		existing, err = s.publish(ctx, j, w.discard)
	}
	if err != nil || existing != nil {
		err = errors.Join(err, s.unstage(context.WithoutCancel(ctx), j, w.discard))
	}
	switch {
	case err != nil:
		return bulkjob.Job{}, false, err
	case existing != nil:
		return existing.Job, false, nil
	}
	s.wakeRun()
	return j.Job, true, nil
}

// stager writes the chunks of a job.
type stager struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the call
	s       *Service
	job     *jobRow
	discard bool // nothing is written

	groups  map[group]*pending
	order   []*pending // of groups, by their first line; some are written already
	bytes   int        // in groups
	ready   []any      // the arguments of chunks to be written
	n, size int        // of ready
	on      map[platform.ID]bool
}

// group is what the lines of a chunk have in common.
type group struct {
	platform  platform.ID
	operation string
	cost      int64
}

// pending is a chunk that is not complete.
type pending struct {
	group
	lines []bulkjob.Line
	bytes int
}

// stage reads all lines.
func (w *stager) stage(lines iter.Seq2[bulkjob.Line, error]) (err error) {
	if w.discard {
		for line, err := range lines {
			if err != nil {
				return err
			}
			w.count(line)
		}
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	alive, stop := context.WithCancel(w.ctx)
	defer stop()
	tasks.Go(func() { w.keepAlive(alive) })
	for line, err := range lines {
		if err != nil {
			return err
		}
		w.count(line)
		if err := w.add(line); err != nil {
			return err
		}
	}
	if err := w.flush(func(*pending) bool { return true }); err != nil {
		return err
	}
	return w.write()
}

func (w *stager) begin() error {
	return w.s.write(w.ctx, func(t tx) error {
		if _, err := t.row([]any{&w.job.Created}, "SELECT {now}"); err != nil {
			return err
		}
		w.job.Alive = w.job.Created
		w.job.CreatedAt = at(w.job.Created)
		_, err := t.exec("INSERT INTO @bulk_jobs ("+jobColumns+") VALUES ("+params(1, len(w.job.values()))+")",
			w.job.values()...)
		return err
	})
}

// keepAlive says that the file is still being read.
func (w *stager) keepAlive(ctx context.Context) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := w.s.write(ctx, func(t tx) error {
			_, err := t.exec("UPDATE @bulk_jobs SET alive = {now} WHERE id = $1", w.job.ID)
			return err
		})
		if err != nil && ctx.Err() == nil {
			w.s.cfg.Logger.Warn("bulk: say that a file is still being read", "error", err)
		}
	}
}

func (w *stager) count(line bulkjob.Line) {
	w.job.Lines++
	w.job.Least += line.Least
	w.job.Most += line.Most
	w.job.LastLine = line.Number
	w.on[line.Platform] = true
}

// add adds a line to its chunk.
func (w *stager) add(line bulkjob.Line) error {
	g := group{line.Platform, line.Operation, 0}
	if w.job.Options.Cheapest {
		g.cost = line.Most
	}
	p := w.groups[g]
	if p == nil {
		p = &pending{group: g}
		w.groups[g] = p
		w.order = append(w.order, p)
	}
	p.lines = append(p.lines, line)
	size := len(line.Params) + len(line.Key)
	p.bytes += size
	w.bytes += size
	most := line.Together
	if most <= 1 {
		most = alone
	}
	if len(p.lines) >= most || p.bytes >= chunkBytes {
		if err := w.cut(p); err != nil {
			return err
		}
	}
	for len(w.order) > 0 && len(w.order[0].lines) == 0 {
		w.order = w.order[1:]
	}
	if len(w.order) > 0 && line.Number-w.order[0].lines[0].Number >= span-1 || w.bytes > waitingBytes {
		return w.flush(func(p *pending) bool {
			return w.bytes > waitingBytes || line.Number-p.lines[0].Number >= span/2
		})
	}
	return nil
}

// flush cuts the chunks for which due holds.
func (w *stager) flush(due func(*pending) bool) error {
	var left []*pending
	all := w.order
	isDue := map[*pending]bool{}
	for _, p := range all {
		isDue[p] = len(p.lines) > 0 && due(p)
	}
	for _, p := range all {
		switch {
		case isDue[p]:
			if err := w.cut(p); err != nil {
				return err
			}
		case len(p.lines) > 0:
			left = append(left, p)
		}
	}
	w.order = left
	return nil
}

// cut makes a chunk of what is pending.
func (w *stager) cut(p *pending) error {
	packed, err := pack(w.s.codec, p.lines)
	if err != nil {
		return err
	}
	c := &chunkRow{
		job: w.job.ID, number: w.job.Chunks, platform: string(p.platform), position: w.job.Chunks, cost: p.cost,
		most: mostOf(p.lines), first: p.lines[0].Number, packed: packed,
	}
	w.job.Chunks++
	w.ready = append(w.ready, c.values()...)
	w.n++
	w.size += len(packed)
	w.bytes -= p.bytes
	p.lines = nil
	delete(w.groups, p.group)
	if w.n >= batchChunks || w.size >= batchBytes {
		return w.write()
	}
	return nil
}

// write writes the chunks that are ready.
func (w *stager) write() error {
	if w.n == 0 {
		return nil
	}
	err := w.s.write(w.ctx, func(t tx) error {
		n, err := t.exec("UPDATE @bulk_jobs SET alive = {now} WHERE id = $1 AND shown = 0", w.job.ID)
		switch {
		case err != nil:
			return err
		case n == 0:
			return errForgotten
		}
		return t.insertChunks(w.n, w.ready)
	})
	w.ready, w.n, w.size = nil, 0, 0
	return err
}

// errForgotten means that the rows of a file were removed, because its reader did not say that it is alive.
var errForgotten = errors.New("bulk: reading the file was interrupted for too long")

// publish makes a staged job one of its account's, or returns the equal one that exists.
func (s *Service) publish(ctx context.Context, j *jobRow, discarded bool) (existing *jobRow, err error) {
	err = s.write(ctx, func(t tx) error {
		existing, err = t.named(j.Account, j.Name, "{lock}")
		switch {
		case errors.Is(err, bulkjob.ErrAbsent):
			existing = nil
		case err != nil:
			return err
		case existing.ID == j.ID: // by a transaction whose end was not known
			existing = nil
			return nil
		case existing.Sum == j.Sum && existing.options == j.options && existing.State != bulkjob.Ended:
			return t.progress(existing)
		case existing.isOpen():
			return bulkjob.ErrConflict
		default:
			existing.Shown = removed
			if err := t.update(existing); err != nil {
				return err
			}
			existing = nil
		}
		if discarded { // the other job has ended meanwhile, and nothing of this file was kept
			return bulkjob.ErrConflict
		}
		return s.show(t, j)
	})
	return existing, err
}

// show makes a staged job visible, within the limits of its account.
func (s *Service) show(t tx, j *jobRow) error {
	var open, lines int64
	if _, err := t.row([]any{&open, &lines}, `SELECT count(*), CAST(coalesce(sum(lines - found - missing - failed), 0)
		AS BIGINT) FROM @bulk_jobs WHERE shown = 1 AND account = $1 AND state IN ('queued', 'running', 'waiting')`,
		j.Account); err != nil {
		return err
	}
	if open >= int64(s.cfg.Jobs) || lines+j.Lines > s.cfg.Lines {
		return bulkjob.ErrFull
	}
	j.Now = j.Created
	j.Shown, j.State = visible, bulkjob.Queued
	if _, err := t.row([]any{&j.Now}, "SELECT {now}"); err != nil {
		return err
	}
	if j.Lines == 0 {
		j.end()
		j.EndedAt = at(j.Ended)
	}
	n, err := t.exec(`UPDATE @bulk_jobs SET shown = 1, state = $2, ended = $3, sum = $4, refused = $5, lines = $6,
		least = $7, most = $8, last_line = $9, chunks = $10, platforms = $11 WHERE id = $1 AND shown = 0`,
		j.ID, string(j.State), j.Ended, j.Sum, j.Refused, j.Lines, j.Least, j.Most, j.LastLine, j.Chunks, j.Platforms)
	if err == nil && n == 0 {
		err = errForgotten
	}
	return err
}

// unstage removes a job that no one has seen.
func (s *Service) unstage(ctx context.Context, j *jobRow, discarded bool) error {
	if discarded {
		return nil
	}
	return s.write(ctx, func(t tx) error {
		n, err := t.exec("DELETE FROM @bulk_jobs WHERE id = $1 AND shown = 0", j.ID)
		if err != nil || n == 0 {
			return err
		}
		_, err = t.exec("DELETE FROM @bulk_chunks WHERE job = $1", j.ID)
		return err
	})
}

func names(on map[platform.ID]bool) string {
	var all []string
	for _, p := range slices.Sorted(maps.Keys(on)) {
		all = append(all, string(p))
	}
	return strings.Join(all, ",")
}

func mostOf(lines []bulkjob.Line) (n int64) {
	for _, line := range lines {
		n += line.Most
	}
	return n
}
