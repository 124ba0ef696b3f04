package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress shows the progress of a command on a terminal, and nothing elsewhere. It has a bar if the total is known,
// which is so for a list only with a limit.
type progress struct {
	w       io.Writer
	columns int
	unit    string
	limit   int64
	began   time.Time
	shown   bool
}

func newProgress(w io.Writer, unit string, limit int64) *progress {
	columns, terminal := width(w)
	if !terminal {
		columns = 0
	}
	return &progress{w: w, columns: columns, unit: unit, limit: limit, began: time.Now()}
}

func (p *progress) show(n int64) {
	if p.columns == 0 {
		return
	}
	line := fmt.Sprintf("%d %s, %v", n, p.unit, time.Since(p.began).Round(time.Second))
	if room := p.columns - len(line) - 4; p.limit > 0 && room > 0 {
		done := int(min(n, p.limit) * int64(room) / p.limit)
		line = "[" + strings.Repeat("=", done) + strings.Repeat(" ", room-done) + "] " + line
	}
	_, _ = fmt.Fprint(p.w, "\r\x1b[K"+line)
	p.shown = true
}

// end ends the line.
func (p *progress) end() {
	if p.shown {
		_, _ = fmt.Fprintln(p.w)
		p.shown = false
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
