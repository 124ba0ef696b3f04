package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/schema"
)

// subjectArgs name who or what is to be erased.
type subjectArgs struct {
	Platform string `arg:"" help:"The platform, such as github." predictor:"platform"`
	What     string `arg:"" help:"handle=NAME for an account and everything it wrote, id=ID for one object, or the web address of either."`
}

// request returns the request for the erasure.
func (a subjectArgs) request() (schema.EraseRequest, error) {
	req := schema.EraseRequest{Platform: platform.ID(a.Platform), By: "command"}
	name, value, _ := strings.Cut(a.What, "=")
	switch {
	case strings.Contains(a.What, "://"):
		req.URL = a.What
	case name == "handle" && value != "":
		req.Handle = value
	case name == "id" && value != "":
		req.ID = value
	default:
		return req, misusef("%q cannot be erased: give handle=NAME, id=ID or a web address", a.What)
	}
	return req, nil
}

type eraseCmd struct {
	subjectArgs `embed:""`

	Block  bool   `help:"Block it as well: reads of it are 404 until erasures unblock."`
	Reason string `help:"The reason, for the receipt, which is kept permanently; it must not contain the name." placeholder:"TEXT"`
	DryRun bool   `help:"Remove nothing, and print what would be removed."`

	Shared      sharedFlags `embed:""`
	outputFlags `embed:""`
}

// Run erases and prints what was removed.
func (c *eraseCmd) Run(e *env) error {
	req, err := c.request()
	if err != nil {
		return err
	}
	req.Block, req.Reason, req.DryRun = c.Block, c.Reason, c.DryRun
	return e.forgetting("erase", c.Shared, func(client *socialdata.Client) error {
		receipt, err := client.Operator().Erase(e.ctx, req)
		if err != nil {
			return err
		}
		return c.show(e, receipt, func() error { return e.erased(receipt, c.DryRun) })
	})
}

// erased prints a receipt for people.
func (e *env) erased(r privacy.Receipt, dryRun bool) error {
	sum := 0
	if err := e.table([]string{"KIND", "REMOVED"}, func(row func(...string)) {
		for _, kind := range privacy.Kinds(r.Removed) {
			row(kind, fmt.Sprint(r.Removed[kind]))
			sum += r.Removed[kind]
		}
	}); err != nil {
		return err
	}
	if r.Mentions > 0 {
		if err := e.printf("\n%d stored items of others mention it, and stay.\n", r.Mentions); err != nil {
			return err
		}
	}
	if r.Kind != privacy.Unblocked {
		if err := e.printf("\n%s\n", privacy.NotErased); err != nil {
			return err
		}
	}
	switch {
	case dryRun:
		return e.printf("\n%s would be removed. Nothing was: this was a dry run.\n", counted(sum, "thing"))
	case r.Kind == privacy.Unblocked:
		return e.printf("\nIt may be read again. Receipt %d, %s\n", r.No, r.Hash)
	case r.Block:
		return e.printf("\n%s removed, and it is blocked. Receipt %d, %s\n", counted(sum, "thing"), r.No, r.Hash)
	}
	return e.printf("\n%s removed. Receipt %d, %s\n", counted(sum, "thing"), r.No, r.Hash)
}

// forgetting opens the store and calls do with a client that uses the shared cache.
func (e *env) forgetting(command string, shared sharedFlags, do func(*socialdata.Client) error) error {
	if err := e.local(command); err != nil {
		return err
	}
	return e.with(func(db *store) error {
		log := newLog(e.log, slog.LevelWarn)
		opts, letGo, err := shared.open(e.ctx, log)
		if err != nil {
			return err
		}
		defer letGo()
		client, err := e.client(append(opts, socialdata.WithRecords(db.Records()),
			socialdata.WithWatches(idleWatches{db.Watches()}), // the accounts of monitors that end are told
			socialdata.WithErasures(db.Blocklist(), db.bulk), socialdata.WithLogger(log))...)
		if err != nil {
			return err
		}
		return errors.Join(do(client), client.Close(e.ctx))
	})
}

type erasuresCmd struct {
	List    erasuresListCmd    `cmd:"" help:"List the receipts, oldest first."`
	Verify  erasuresVerifyCmd  `cmd:"" help:"Prove that no receipt is missing or was changed."`
	Unblock erasuresUnblockCmd `cmd:"" help:"Allow reads of what was erased with --block."`
}

type erasuresListCmd struct {
	outputFlags `embed:""`
}

// Run lists the receipts.
func (c *erasuresListCmd) Run(e *env) error {
	return e.forgetting("erasures list", sharedFlags{}, func(client *socialdata.Client) error {
		receipts, err := client.Operator().Erasures(e.ctx, 0, 0)
		if err != nil {
			return err
		}
		return c.show(e, receipts, func() error {
			return e.table([]string{"NO", "AT", "BY", "WHAT", "PLATFORM", "SUBJECT", "BLOCK", "REMOVED", "MENTIONS", "REASON"},
				func(row func(...string)) {
					for _, r := range receipts {
						sum := 0
						for _, n := range r.Removed {
							sum += n
						}
						row(fmt.Sprint(r.No), stamp(&r.At), r.By, r.Kind, r.Platform, r.Subject[:min(16, len(r.Subject))],
							fmt.Sprint(r.Block), fmt.Sprint(sum), fmt.Sprint(r.Mentions), orDash(r.Reason))
					}
				})
		})
	})
}

type erasuresVerifyCmd struct{}

// Run verifies the receipts.
func (c *erasuresVerifyCmd) Run(e *env) error {
	return e.forgetting("erasures verify", sharedFlags{}, func(client *socialdata.Client) error {
		n, err := client.Operator().VerifyErasures(e.ctx)
		if err != nil {
			return err
		}
		return e.printf("%s: none is missing or changed\n", counted(n, "receipt"))
	})
}

type erasuresUnblockCmd struct {
	subjectArgs `embed:""`

	Reason      string      `help:"The reason, for the receipt; it must not contain the name." placeholder:"TEXT"`
	Shared      sharedFlags `embed:""`
	outputFlags `embed:""`
}

// Run removes someone from the blocklist.
func (c *erasuresUnblockCmd) Run(e *env) error {
	req, err := c.request()
	if err != nil {
		return err
	}
	req.Reason = c.Reason
	return e.forgetting("erasures unblock", c.Shared, func(client *socialdata.Client) error {
		receipt, err := client.Operator().Unblock(e.ctx, req)
		if err != nil {
			return err
		}
		return c.show(e, receipt, func() error { return e.erased(receipt, false) })
	})
}
