package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/requests"
)

// one prints one call with its entries in the ledger, as the dashboard shows it.
func (c *logsCmd) one(e *env, r requestShape, entries []entryShape) error {
	lines := [][2]string{
		{"request", r.RequestID},
		{"time", stamp(&r.Time)},
		{"account", r.Account},
		{"key", r.Key},
		{"source", r.Source},
		{"operation", strings.TrimSpace(r.Platform + " " + r.Operation)},
		{"status", strings.TrimSpace(strconv.Itoa(r.Status) + " " + r.Code)},
		{"detail", r.Detail},
		{"cache", r.Cache},
		{"took", strconv.FormatInt(r.TookMS, 10) + " ms"},
	}
	for _, p := range r.Providers {
		lines = append(lines, [2]string{"provider", p.words()})
	}
	if len(r.Providers) == 0 {
		lines = append(lines, [2]string{"provider", "none was called"})
	}
	lines = append(lines,
		[2]string{"held", counted(r.Held, "credit")},
		[2]string{"charged", counted(r.Credits, "credit")})
	call := requests.Request{Code: r.Code, Detail: r.Detail, Took: time.Duration(r.TookMS) * time.Millisecond}
	for _, p := range r.Providers {
		call.Providers = append(call.Providers, requests.Provider{Name: p.Name, Status: p.Status})
	}
	if why := call.Explain(); len(why) > 0 {
		lines = append(lines, [2]string{"what to do", strings.Join(why, " ")})
	}
	for _, line := range lines {
		if line[1] == "" {
			continue
		}
		if err := e.printf("%-10s  %s\n", line[0], oneLine(line[1])); err != nil {
			return err
		}
	}
	if len(entries) == 0 {
		return e.printf("\nNo entry in the ledger: it was free.\n")
	}
	if err := e.printf("\n"); err != nil {
		return err
	}
	return e.table([]string{"NO.", "TIME", "KIND", "CREDITS", "BALANCE", "REASON"}, func(row func(...string)) {
		for _, n := range entries {
			row(strconv.FormatInt(n.Seq, 10), stamp(&n.Time), n.Kind, strconv.FormatInt(n.Amount, 10),
				strconv.FormatInt(n.Balance, 10), n.Reason)
		}
	})
}

// words returns what was asked of the provider, and how that ended: "github, 120 ms: upstream unavailable: status 503".
func (p *providerShape) words() string {
	words := p.Name
	if p.Calls > 0 {
		words += ", " + strconv.FormatInt(p.TookMS, 10) + " ms"
	}
	if p.Calls > 1 {
		words += " in " + counted(p.Calls, "call")
	}
	if p.Cause != "" {
		words += ": " + p.Cause
	}
	asked := requests.Provider{Name: p.Name, Calls: p.Calls, Status: p.Status, Cause: p.Cause}
	if advice := asked.Advice(); advice != "" {
		words += ". " + advice
	}
	return words
}

// selectsOne reports whether one call is printed for people, with all about it.
func (c *logsCmd) selectsOne() bool {
	return c.Request != "" && !c.Follow && (c.Output == "" || c.Output == "table")
}

// errNoRequest is the error of a call that the log does not have.
func errNoRequest(id string) error {
	return fmt.Errorf("the log has no request %q: by default it has the last 100,000 of 7 days", id)
}

// oneInDatabase prints the call that shapes has, from a database.
func (c *logsCmd) oneInDatabase(e *env, db *store, shapes []requestShape) error {
	if len(shapes) == 0 {
		return errNoRequest(c.Request)
	}
	var entries []entryShape
	if account := shapes[0].Account; account != "" {
		found, err := db.Ledger().Entries(e.ctx, credits.Query{Account: account, RequestID: c.Request})
		if err != nil {
			return err
		}
		for _, n := range found {
			entries = append(entries, shapeOfEntry(n))
		}
	}
	return c.one(e, shapes[0], entries)
}

// oneAtServer prints the call that shapes has, from the server.
func (c *logsCmd) oneAtServer(e *env, account accounts.Account, shapes []requestShape) error {
	if len(shapes) == 0 {
		return errNoRequest(c.Request)
	}
	var entries []entryShape
	for u, err := range socialdata.Walk(e.ctx, account.Usage, accounts.UsageRequest{RequestID: c.Request}) {
		if err != nil {
			return err
		}
		entries = append(entries, shapeOfUsage(u))
	}
	return c.one(e, shapes[0], entries)
}
