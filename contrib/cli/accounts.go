package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/sqlstore"
	"github.com/socialdata/socialdata/watch"
)

type accountCmd struct {
	Create accountCreateCmd `cmd:"" help:"Create an account."`
	List   accountListCmd   `cmd:"" help:"List the accounts."`
	Show   accountShowCmd   `cmd:"" help:"Show one account."`
	Set    accountSetCmd    `cmd:"" help:"Change the credits that an account is granted every month."`
	Grant  accountGrantCmd  `cmd:"" help:"Give an account credits, or take back a grant that was made by mistake."`
	Refund accountRefundCmd `cmd:"" help:"Refund what one of an account's requests was charged, or a part of it."`
	Close  accountCloseCmd  `cmd:"" help:"Close an account for good: its keys are revoked, its monitors and endpoints ended. Its books stay."`
}

// accounts calls do with all accounts: those of --server, whose --key is then the admin secret, or of the database.
func (e *env) accounts(with func(func(*store) error) error, do func(accounts.All) error) error {
	if e.remote() {
		client, err := e.server()
		if err != nil {
			return err
		}
		return do(client.Operator().Accounts())
	}
	return with(func(db *store) error {
		return e.idle(db, func(client *socialdata.Client) error { return do(client.Operator().Accounts()) })
	})
}

// idle calls do with a client of the database that polls no monitor and sends no delivery: that is for servers.
func (e *env) idle(db *store, do func(*socialdata.Client) error) error {
	client, err := e.client(socialdata.WithKeys(db.Keys()), socialdata.WithLedger(db.Ledger()),
		socialdata.WithRecords(db.Records()), socialdata.WithWatches(idleWatches{db.Watches()}),
		socialdata.WithBulk(idleBulk{db.bulk}), socialdata.WithLogger(newLog(e.log, slog.LevelWarn)))
	if err != nil {
		return err
	}
	return errors.Join(do(client), closed(e.ctx, client))
}

// idleWatches are the monitors and endpoints of a database, without those that are due.
type idleWatches struct{ *sqlstore.Watches }

// Claim implements [watch.Store], like the methods below.
func (idleWatches) Claim(context.Context, time.Time, int, time.Duration) ([]watch.Claim, error) {
	return nil, nil
}

// Sweep removes nothing.
func (idleWatches) Sweep(context.Context, watch.Limits) (more bool, err error) { return false, nil }

// Queue queues nothing.
func (idleWatches) Queue(context.Context, time.Time, int) (more bool, err error) { return false, nil }

// ClaimDeliveries claims nothing.
func (idleWatches) ClaimDeliveries(
	context.Context, time.Time, int, int, time.Duration, []watch.EndpointRef,
) ([]watch.Sending, error) {
	return nil, nil
}

type accountCreateCmd struct {
	Name    string `arg:"" help:"The account's name."`
	Credits int64  `help:"Credits to begin with." placeholder:"N"`
	Monthly *int64 `help:"Credits that it is granted every month: at once, and then on the first at 00:00 UTC. What is not spent stays." placeholder:"N"`

	outputFlags `embed:""`
}

// Run creates the account.
func (c *accountCreateCmd) Run(e *env) error {
	if c.Credits < 0 || c.Credits > credits.MaxBalance {
		return misusef("--credits must be 0 to %d", int64(credits.MaxBalance))
	}
	if err := cmp.Or(keys.CheckName(c.Name), checkMonthly(c.Monthly)); err != nil {
		return err
	}
	return e.accounts(e.withNew, func(all accounts.All) error {
		a, isNew, err := all.Make(e.ctx, c.Name, schema.AccountSpec{Credits: c.Credits, Monthly: c.Monthly})
		if err != nil {
			return err
		}
		if !isNew {
			return fmt.Errorf("%w: account %q; account set changes its monthly credits", keys.ErrTaken, c.Name)
		}
		return c.show(e, a, func() error { return e.printf("%s\n", a.ID) })
	})
}

// checkMonthly returns an error for monthly credits that no account can have.
func checkMonthly(n *int64) error {
	if n != nil && (*n < 0 || *n > credits.MaxBalance) {
		return misusef("--monthly must be 0 to %d", int64(credits.MaxBalance))
	}
	return nil
}

type accountListCmd struct {
	outputFlags `embed:""`
}

// Run lists the accounts.
func (c *accountListCmd) Run(e *env) error {
	return e.accounts(e.with, func(all accounts.All) error {
		list := []schema.Account{}
		for a, err := range all.List(e.ctx) {
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return c.show(e, list, func() error {
			return e.table([]string{"ID", "NAME", "BALANCE", "MONTHLY", "CREATED", "STATE"}, func(row func(...string)) {
				for _, a := range list {
					state := "open"
					if a.ClosedAt != nil {
						state = "closed " + stamp(a.ClosedAt)
					}
					row(a.ID, a.Name, strconv.FormatInt(a.Balance, 10), strconv.FormatInt(a.Monthly, 10), stamp(&a.CreatedAt),
						state)
				}
			})
		})
	})
}

type accountShowCmd struct {
	Name string `arg:"" optional:"" help:"The account's name or id; without it, with --server, that of the key." predictor:"account"`

	outputFlags `embed:""`
}

// Run shows the account, and from the database also its keys.
func (c *accountShowCmd) Run(e *env) error {
	if e.remote() {
		if c.Name == "" {
			return c.me(e)
		}
		return e.accounts(e.with, func(all accounts.All) error {
			a, err := all.Show(e.ctx, c.Name)
			if err != nil {
				return err
			}
			return c.show(e, a, func() error { return e.account(a) })
		})
	}
	if c.Name == "" {
		return misusef("name the account; account list lists them")
	}
	return e.with(func(db *store) error {
		var shown shownAccount
		err := e.idle(db, func(client *socialdata.Client) (err error) {
			shown.Account, err = client.Operator().Accounts().Show(e.ctx, c.Name)
			return err
		})
		if err != nil {
			return err
		}
		list, err := db.Keys().Keys(e.ctx, shown.ID)
		if err != nil {
			return err
		}
		shown.Keys = shapesOfKeys(list)
		return c.show(e, shown, func() error {
			if err := errors.Join(e.account(shown.Account), e.printf("\n")); err != nil {
				return err
			}
			return e.keys(db, list)
		})
	})
}

// account prints an account for people.
func (e *env) account(a schema.Account) error {
	if err := e.printf("id       %s\nname     %s\nbalance  %s\nmonthly  %s\ncreated  %s\n",
		a.ID, a.Name, counted(a.Balance, "credit"), counted(a.Monthly, "credit"), stamp(&a.CreatedAt)); err != nil || a.ClosedAt == nil {
		return err
	}
	return e.printf("closed   %s\n", stamp(a.ClosedAt))
}

type accountSetCmd struct {
	Name    string `arg:"" help:"The account's name or id." predictor:"account"`
	Monthly *int64 `help:"Credits that it is granted every month, 0 for none. The first grant is made at once; a change counts from the next month." required:"" placeholder:"N"`

	outputFlags `embed:""`
}

// Run changes the account.
func (c *accountSetCmd) Run(e *env) error {
	if err := checkMonthly(c.Monthly); err != nil {
		return err
	}
	return e.accounts(e.with, func(all accounts.All) error {
		a, err := all.Show(e.ctx, c.Name) // Make would make it
		if err != nil {
			return err
		}
		if a, _, err = all.Make(e.ctx, a.ID, schema.AccountSpec{Monthly: c.Monthly}); err != nil {
			return err
		}
		return c.show(e, a, func() error {
			return e.printf("%s is granted %s every month; balance: %s\n", a.Name, counted(a.Monthly, "credit"), counted(a.Balance, "credit"))
		})
	})
}

type accountGrantCmd struct {
	Name    string `arg:"" help:"The account's name or id." predictor:"account"`
	Credits *int64 `arg:"" optional:"" help:"How many credits; leave it out with --undo."`
	Reason  string `help:"The reason, for the books; by default grant, or undo of entry N." placeholder:"TEXT"`
	Once    string `help:"A key of your choice: the credits are granted once for each key, however often the command is repeated." placeholder:"KEY"`
	Undo    int64  `help:"Take back a whole grant, by the number of its entry, as usage lists it. Repeating the command changes nothing. It works on a database." placeholder:"ENTRY"`

	outputFlags `embed:""`
}

// Run grants the credits, or takes a grant back.
func (c *accountGrantCmd) Run(e *env) error {
	switch {
	case c.Undo < 0:
		return misusef("--undo needs the number of an entry, as usage lists it")
	case c.Undo > 0 && (c.Credits != nil || c.Once != ""):
		return misusef("--undo takes back the whole grant, once: leave out the credits and --once")
	case c.Undo == 0 && c.Credits == nil:
		return misusef("say how many credits")
	}
	if c.Undo > 0 {
		return c.undo(e)
	}
	return e.accounts(e.with, func(all accounts.All) error {
		a, err := all.Grant(e.ctx, c.Name, schema.CreditGrant{Credits: *c.Credits, Reason: c.Reason, Key: c.Once})
		return c.balance(e, a, err)
	})
}

// undo takes back the grant that is entry c.Undo of the account.
func (c *accountGrantCmd) undo(e *env) error {
	if err := e.local("account grant --undo"); err != nil {
		return err
	}
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, c.Name)
		if err != nil {
			return err
		}
		reason := cmp.Or(c.Reason, fmt.Sprintf("undo of entry %d", c.Undo))
		got, err := db.Ledger().Reverse(e.ctx, a.ID, c.Undo, reason)
		switch {
		case errors.Is(err, credits.ErrInsufficient):
			return fmt.Errorf("%w; nothing was taken back from %s", err, a.Name)
		case errors.Is(err, credits.ErrNotGrant):
			return fmt.Errorf("entry %d of %s is not a grant: usage %s lists the entries", c.Undo, a.Name, a.Name)
		case err != nil:
			return err
		}
		words := fmt.Sprintf("Entry %d takes back the %s of entry %d.\n", got.Entry.Seq, counted(-got.Entry.Amount, "credit"), c.Undo)
		if got.Earlier {
			words = fmt.Sprintf("Entry %d has taken back the %s of entry %d already; nothing was changed.\n",
				got.Entry.Seq, counted(-got.Entry.Amount, "credit"), c.Undo)
		}
		if _, err := fmt.Fprint(e.log, words); err != nil {
			return err
		}
		return e.idle(db, func(client *socialdata.Client) error {
			shown, err := client.Operator().Accounts().Show(e.ctx, a.ID)
			return c.balance(e, shown, err)
		})
	})
}

type accountRefundCmd struct {
	Name    string `arg:"" help:"The account's name or id." predictor:"account"`
	Credits int64  `arg:"" help:"How many of the credits that the request was charged."`
	Request string `help:"The request's id, as X-Request-Id and usage show it." required:"" placeholder:"ID"`
	Reason  string `help:"The reason, for the books." default:"refund" placeholder:"TEXT"`
	Once    string `help:"A key of your choice: the credits are granted once for each key, however often the command is repeated." placeholder:"KEY"`

	outputFlags `embed:""`
}

// Run refunds the credits.
func (c *accountRefundCmd) Run(e *env) error {
	return e.accounts(e.with, func(all accounts.All) error {
		a, err := all.Refund(e.ctx, c.Name, schema.CreditRefund{
			Credits: c.Credits, RequestID: c.Request, Reason: c.Reason, Key: c.Once,
		})
		return c.balance(e, a, err)
	})
}

// balance prints the balance of an account, unless there is an error.
func (f outputFlags) balance(e *env, a schema.Account, err error) error {
	if err != nil {
		return err
	}
	return f.show(e, a, func() error { return e.printf("balance of %s: %s\n", a.Name, counted(a.Balance, "credit")) })
}

type accountCloseCmd struct {
	Name string `arg:"" help:"The account's name or id." predictor:"account"`
	Yes  bool   `help:"Close it: without this flag the command only says what it would do."`

	outputFlags `embed:""`
}

// Run closes the account.
func (c *accountCloseCmd) Run(e *env) error {
	return e.accounts(e.with, func(all accounts.All) error {
		a, err := all.Show(e.ctx, c.Name)
		if err != nil {
			return err
		}
		if !c.Yes && a.ClosedAt == nil {
			return misusef("this revokes all keys of %s and ends its monitors and endpoints, for good; repeat it with --yes", a.Name)
		}
		if a, err = all.Close(e.ctx, a.ID); err != nil {
			return err
		}
		return c.show(e, a, func() error {
			return e.printf("closed %s; its books end with %s\n", a.Name, counted(a.Balance, "credit"))
		})
	})
}
