package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

type monitorsCmd struct {
	List   monitorsListCmd   `cmd:"" help:"List the monitors with their state and price."`
	Show   monitorsShowCmd   `cmd:"" help:"Show one monitor."`
	Pause  monitorsPauseCmd  `cmd:"" help:"Pause the polls of a monitor until it is resumed."`
	Resume monitorsResumeCmd `cmd:"" help:"Resume the polls of a paused monitor."`
	Remove monitorsRemoveCmd `cmd:"" help:"Remove a monitor with its history; its changes stay."`
}

// monitorFlags name one monitor.
type monitorFlags struct {
	Name string `arg:"" help:"The name of the monitor."`

	accountFlags `embed:""`
}

type monitorsListCmd struct {
	accountFlags `embed:""`
	outputFlags  `embed:""`
}

// Run lists the monitors by name.
func (c *monitorsListCmd) Run(e *env) error {
	list := []schema.Monitor{}
	err := c.with(e, func(a accounts.Account) error {
		for m, err := range socialdata.Walk(e.ctx, a.Monitors().List, accounts.MonitorsRequest{}) {
			if err != nil {
				return err
			}
			list = append(list, m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.show(e, list, func() error {
		head := []string{"NAME", "STATE", "OPERATION", "EVERY", "LAST POLL", "NEXT POLL", "THIS MONTH", "30 DAYS", "PROBLEM"}
		return e.table(head, func(row func(...string)) {
			for _, m := range list {
				row(m.Name, m.State, readOf(&m), m.Every, stamp(m.LastAt), nextPoll(&m), strconv.FormatInt(m.Credits, 10),
					strconv.FormatInt(m.Price.Most, 10), problemOf(&m))
			}
		})
	})
}

// readOf returns what a monitor reads, such as "mock profile handle=ann".
func readOf(m *schema.Monitor) string {
	words := []string{m.Operation}
	if m.Platform != nil {
		words = []string{*m.Platform, m.Operation}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Params)) {
		words = append(words, name+"="+m.Params[name])
	}
	return strings.Join(words, " ")
}

// nextPoll returns the time of the next poll.
func nextPoll(m *schema.Monitor) string {
	if m.NextAt == nil {
		return "-"
	}
	return stamp(m.NextAt)
}

func problemOf(m *schema.Monitor) string {
	if m.Problem == nil {
		return ""
	}
	return m.Problem.Code + ": " + m.Problem.Detail
}

type monitorsShowCmd struct {
	monitorFlags `embed:""`
	outputFlags  `embed:""`
}

// Run shows the monitor.
func (c *monitorsShowCmd) Run(e *env) error {
	var m schema.Monitor
	if err := c.with(e, func(a accounts.Account) (err error) {
		m, err = monitorNamed(e.ctx, a, c.Name)
		return err
	}); err != nil {
		return err
	}
	return c.show(e, m, func() error {
		return e.printf("name       %s\nstate      %s\nreads      %s\nevery      %s\nlast poll  %s\nnext poll  %s\nprice      "+
			"%d to %s in 30 days\ncharged    %s this month\nfeed       %s\nproblem    %s\n", m.Name, m.State, readOf(&m), m.Every,
			stamp(m.LastAt), nextPoll(&m), m.Price.Least, counted(m.Price.Most, "credit"), counted(m.Credits, "credit"),
			map[bool]string{true: "yes", false: "no"}[m.Feed], problemOf(&m))
	})
}

// monitorNamed returns the monitor of an account with a name; if there is none, the error has the name that is meant.
func monitorNamed(ctx context.Context, a accounts.Account, name string) (schema.Monitor, error) {
	m, err := a.Monitors().Get(ctx, name)
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.NotFound {
		return m, err
	}
	var names []string
	for m, err := range socialdata.Walk(ctx, a.Monitors().List, accounts.MonitorsRequest{}) {
		if err != nil {
			return m, err
		}
		names = append(names, m.Name)
	}
	return schema.Monitor{}, fmt.Errorf("there is no monitor %q%s", name, problem.DidYouMean(name, names))
}

// change changes the monitor and prints what was done.
func (f monitorFlags) change(e *env, done string, change func(accounts.Monitors) error) error {
	if err := f.with(e, func(a accounts.Account) error { return change(a.Monitors()) }); err != nil {
		return err
	}
	return e.printf("%s %s\n", done, f.Name)
}

type monitorsPauseCmd struct {
	monitorFlags `embed:""`
}

// Run pauses the monitor.
func (c *monitorsPauseCmd) Run(e *env) error {
	return c.change(e, "paused", func(all accounts.Monitors) error {
		_, err := all.Pause(e.ctx, c.Name)
		return err
	})
}

type monitorsResumeCmd struct {
	monitorFlags `embed:""`
}

// Run resumes the monitor. A server polls it.
func (c *monitorsResumeCmd) Run(e *env) error {
	return c.change(e, "resumed", func(all accounts.Monitors) error {
		_, err := all.Resume(e.ctx, c.Name)
		return err
	})
}

type monitorsRemoveCmd struct {
	monitorFlags `embed:""`
}

// Run removes the monitor.
func (c *monitorsRemoveCmd) Run(e *env) error {
	return c.change(e, "removed", func(all accounts.Monitors) error { return all.End(e.ctx, c.Name) })
}

type historyCmd struct {
	Name  string    `arg:"" help:"The name of the monitor."`
	Field string    `arg:"" help:"The number, such as followers or engagement.likes."`
	Since time.Time `help:"Only from this time or later, as 2026-11-01T00:00:00Z." placeholder:"TIME"`
	Until time.Time `help:"Only from before this time." placeholder:"TIME"`
	Step  string    `help:"One value for each hour, day or week: 1h, 1d or 7d." enum:",1h,1d,7d" default:"" placeholder:"STEP"`

	accountFlags `embed:""`
	outputFlags  `embed:""`
}

// Run prints what the monitor has read of the number, oldest first; on a terminal with a line that draws it.
func (c *historyCmd) Run(e *env) error {
	points := []schema.HistoryPoint{}
	req := accounts.HistoryRequest{Monitor: c.Name, Field: c.Field, Since: c.Since, Until: c.Until, Step: c.Step}
	if err := c.with(e, func(a accounts.Account) error {
		for p, err := range socialdata.Walk(e.ctx, a.History, req) {
			if err != nil {
				return err
			}
			points = append(points, p)
		}
		return nil
	}); err != nil {
		return err
	}
	return c.show(e, points, func() error {
		if columns, terminal := width(e.out); terminal && len(points) > 1 {
			if err := e.printf("%s\n\n", sparkline(points, columns)); err != nil {
				return err
			}
		}
		return e.table([]string{"TIME", strings.ToUpper(c.Field)}, func(row func(...string)) {
			for _, p := range points {
				row(stamp(&p.At), strconv.FormatFloat(p.Value, 'f', -1, 64))
			}
		})
	})
}

// sparkline draws values in one line of at most that many columns: each column has the last value of its points.
func sparkline(points []schema.HistoryPoint, columns int) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	low, high := points[0].Value, points[0].Value
	for _, p := range points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	columns = min(columns, len(points))
	line := make([]rune, columns)
	for i := range line {
		value, at := points[(i+1)*len(points)/columns-1].Value, 0
		if high > low {
			at = int((value - low) / (high - low) * float64(len(bars)-1))
		}
		line[i] = bars[at]
	}
	return string(line)
}
