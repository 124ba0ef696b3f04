package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/server/dashboard"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

type accountCmd struct {
	Create accountCreateCmd `cmd:"" help:"Create an account."`
	List   accountListCmd   `cmd:"" help:"List the accounts."`
	Show   accountShowCmd   `cmd:"" help:"Show one account."`
	Grant  accountGrantCmd  `cmd:"" help:"Give an account credits."`
	Refund accountRefundCmd `cmd:"" help:"Give an account back what one of its requests was charged, or a part of it."`
}

type accountCreateCmd struct {
	Name    string `arg:"" help:"The account's name."`
	Credits int64  `help:"Credits to begin with." placeholder:"N"`
}

// Run creates the account.
func (c *accountCreateCmd) Run(e *env) error {
	if c.Credits < 0 || c.Credits > credits.MaxBalance {
		return fmt.Errorf("--credits must be 0 to %d", int64(credits.MaxBalance))
	}
	if err := keys.CheckName(c.Name); err != nil {
		return err
	}
	return e.withNew(func(db *store) error {
		a, err := db.Keys().OpenAccount(e.ctx, c.Name, c.Credits, "opening balance")
		if err != nil {
			return err
		}
		return e.printf("%s\n", a.ID)
	})
}

type accountListCmd struct{}

// Run lists the accounts.
func (accountListCmd) Run(e *env) error {
	return e.with(func(db *store) error {
		accounts, err := db.Keys().Accounts(e.ctx)
		if err != nil {
			return err
		}
		return e.table([]string{"ID", "NAME", "BALANCE", "CREATED"}, func(row func(...string)) error {
			for _, a := range accounts {
				balance, err := db.Ledger().Balance(e.ctx, a.ID)
				if err != nil {
					return err
				}
				row(a.ID, a.Name, strconv.FormatInt(balance, 10), stamp(&a.CreatedAt))
			}
			return nil
		})
	})
}

type accountShowCmd struct {
	Name string `arg:"" help:"The account's name or id."`
}

// Run shows the account and its keys.
func (c *accountShowCmd) Run(e *env) error {
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, c.Name)
		if err != nil {
			return err
		}
		balance, err := db.Ledger().Balance(e.ctx, a.ID)
		if err != nil {
			return err
		}
		if err := e.printf("id       %s\nname     %s\nbalance  %d credits\ncreated  %s\n\n", a.ID, a.Name, balance, stamp(&a.CreatedAt)); err != nil {
			return err
		}
		return e.keys(db, a.ID)
	})
}

type accountGrantCmd struct {
	Name    string `arg:"" help:"The account's name or id."`
	Credits int64  `arg:"" help:"How many credits."`
	Reason  string `help:"Why, for the books." default:"grant" placeholder:"TEXT"`
}

// Run grants the credits.
func (c *accountGrantCmd) Run(e *env) error {
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, c.Name)
		if err != nil {
			return err
		}
		balance, err := db.Ledger().Grant(e.ctx, a.ID, c.Credits, c.Reason)
		if err != nil {
			return err
		}
		return e.printf("balance of %s: %d credits\n", a.Name, balance)
	})
}

type accountRefundCmd struct {
	Name    string `arg:"" help:"The account's name or id."`
	Credits int64  `arg:"" help:"How many credits, of those that the request was charged."`
	Request string `help:"The request's id, as X-Request-Id and usage show it." required:"" placeholder:"ID"`
	Reason  string `help:"Why, for the books." default:"refund" placeholder:"TEXT"`
}

// Run refunds the credits.
func (c *accountRefundCmd) Run(e *env) error {
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, c.Name)
		if err != nil {
			return err
		}
		most, err := credits.Refundable(e.ctx, db.Ledger(), a.ID, c.Request)
		if err != nil {
			return err
		}
		if c.Credits > most {
			return fmt.Errorf("of the request %s, %d credits of %s can be given back, not %d", c.Request, most, a.Name, c.Credits)
		}
		balance, err := db.Ledger().Refund(e.ctx, a.ID, c.Credits, c.Request, c.Reason)
		if err != nil {
			return err
		}
		return e.printf("balance of %s: %d credits\n", a.Name, balance)
	})
}

type adminCmd struct {
	Reset adminResetCmd `cmd:"" help:"Make a new admin secret for the dashboard and print it: it is not shown again. The one before ends, with all its sessions."`
}

type adminResetCmd struct{}

// Run makes the secret.
func (adminResetCmd) Run(e *env) error {
	return e.with(func(db *store) error {
		secret, err := dashboard.Reset(e.ctx, db.Records())
		if err != nil {
			return err
		}
		return e.printf("%s\n", secret)
	})
}

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create a key and print it, once."`
	List   keyListCmd   `cmd:"" help:"List the keys."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke a key: it stops working at once."`
}

type keyCreateCmd struct {
	Account      string   `help:"The account's name or id." required:"" placeholder:"NAME"`
	Name         string   `help:"The key's name, for people." placeholder:"TEXT"`
	Env          string   `help:"live or test." enum:"live,test" default:"live"`
	DayCap       *int64   `help:"Credits that the key may spend in one UTC day." placeholder:"N"`
	TotalCap     *int64   `help:"Credits that the key may ever spend." placeholder:"N"`
	RateCapacity *int64   `help:"Calls that the key may make at once; the server's limit without it." placeholder:"N"`
	RateRefill   *float64 `help:"Calls that the key gets back each second; with --rate-capacity." placeholder:"N"`
}

// Run creates the key; standard output gets nothing but the key.
func (c *keyCreateCmd) Run(e *env) error {
	n := keys.NewKey{Account: c.Account, Name: c.Name, Environment: keys.Environment(c.Env), DayCap: c.DayCap, TotalCap: c.TotalCap}
	if (c.RateCapacity == nil) != (c.RateRefill == nil) {
		return fmt.Errorf("--rate-capacity and --rate-refill go together")
	}
	if c.RateCapacity != nil {
		n.Rate = &keys.Rate{Capacity: *c.RateCapacity, Refill: *c.RateRefill}
	}
	if err := n.Check(); err != nil {
		return err
	}
	return e.with(func(db *store) error {
		secret, k, err := db.Keys().CreateKey(e.ctx, n)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(e.log, "Created %s. It is shown this once.\n", k.ID); err != nil {
			return err
		}
		return e.printf("%s\n", secret)
	})
}

type keyListCmd struct {
	Account string `help:"Only the keys of this account." placeholder:"NAME"`
}

// Run lists the keys.
func (c *keyListCmd) Run(e *env) error {
	return e.with(func(db *store) error { return e.keys(db, c.Account) })
}

func (e *env) keys(db *store, account string) error {
	list, err := db.Keys().Keys(e.ctx, account)
	if err != nil {
		return err
	}
	accounts, err := db.Keys().Accounts(e.ctx)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, a := range accounts {
		names[a.ID] = a.Name
	}
	return e.table([]string{"ID", "NAME", "PREFIX", "ACCOUNT", "CREATED", "LAST USED", "STATE"}, func(row func(...string)) error {
		for _, k := range list {
			state := "active"
			if k.RevokedAt != nil {
				state = "revoked " + stamp(k.RevokedAt)
			}
			row(k.ID, k.Name, k.Prefix+"…", cmp.Or(names[k.Account], k.Account), stamp(&k.CreatedAt), stamp(k.LastUsedAt), state)
		}
		return nil
	})
}

type keyRevokeCmd struct {
	ID string `arg:"" help:"The key's id."`
}

// Run revokes the key.
func (c *keyRevokeCmd) Run(e *env) error {
	return e.with(func(db *store) error {
		k, err := db.Keys().Revoke(e.ctx, c.ID)
		if err != nil {
			return err
		}
		return e.printf("revoked %s (%s…)\n", k.ID, k.Prefix)
	})
}

type usageCmd struct {
	Account   string    `arg:"" help:"The account's name or id."`
	RequestID string    `help:"Only this call." placeholder:"ID"`
	Platform  string    `help:"Only this platform."`
	Since     time.Time `help:"Only from this time on." placeholder:"RFC3339"`
	Until     time.Time `help:"Only before this time." placeholder:"RFC3339"`
	Before    int64     `help:"Only entries with a smaller number, to go on from the last one listed." placeholder:"SEQ"`
	Limit     int       `help:"At most so many." default:"50"`
}

// Run lists the entries.
func (c *usageCmd) Run(e *env) error {
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, c.Account)
		if err != nil {
			return err
		}
		entries, err := db.Ledger().Entries(e.ctx, credits.Query{
			Account: a.ID, RequestID: c.RequestID, Platform: c.Platform, Since: c.Since, Until: c.Until, Before: c.Before, Limit: c.Limit,
		})
		if err != nil {
			return err
		}
		return e.table([]string{"SEQ", "TIME", "KIND", "AMOUNT", "BALANCE", "OPERATION", "PLATFORM", "CACHE", "REQUEST", "REASON"}, func(row func(...string)) error {
			for _, n := range entries {
				at := n.Time()
				row(strconv.FormatInt(n.Seq, 10), stamp(&at), string(n.Kind), strconv.FormatInt(n.Amount, 10),
					strconv.FormatInt(n.Balance, 10), n.Operation, n.Platform, n.Cache, n.RequestID, n.Reason)
			}
			return nil
		})
	})
}

type auditCmd struct {
	Heads      bool   `help:"Write the heads of all accounts and keys to standard output, to keep where nobody who can write the database can."`
	CheckHeads string `help:"Compare with what --heads wrote earlier." type:"existingfile" placeholder:"FILE"`
}

// Run audits the books; the exit status is 1 when they are not in order. With --heads standard output gets nothing but
// the heads, and nothing when the books are not in order.
func (c *auditCmd) Run(e *env) error {
	out := e.out
	if c.Heads {
		out = e.log
	}
	return e.with(func(db *store) error {
		report, err := c.audit(e.ctx, db)
		if err != nil {
			return err
		}
		if err := printReport(out, report); err != nil {
			return err
		}
		if !c.Heads {
			return nil
		}
		return db.Heads(e.ctx, e.out)
	})
}

func (c *auditCmd) audit(ctx context.Context, db *store) (_ bookkeeping.Report, err error) {
	if c.CheckHeads == "" {
		return db.Audit(ctx)
	}
	heads, err := os.Open(c.CheckHeads)
	if err != nil {
		return bookkeeping.Report{}, err
	}
	defer func() { err = errors.Join(err, heads.Close()) }()
	return db.AuditAgainst(ctx, heads)
}

// printReport says what an audit has found. It returns errSilent when the books are not in order.
func printReport(w io.Writer, r bookkeeping.Report) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintf(w, "PROBLEM %s\n", p); err != nil {
			return err
		}
	}
	verdict, wrong := "in order", error(nil)
	if !r.OK() {
		verdict, wrong = "NOT in order", errSilent
	}
	_, err := fmt.Fprintf(w, "%d accounts, %d keys, %d entries, %d credits: %s\n",
		r.Accounts, r.Keys, r.Entries, r.Credits, verdict)
	return errors.Join(err, wrong)
}

type booksCmd struct {
	Export booksExportCmd `cmd:"" help:"Write accounts, keys (hashes) and entries as JSON Lines to standard output."`
	Import importCmd      `cmd:"" help:"Read what books export wrote from standard input into a new file."`
}

type booksExportCmd struct{}

// Run exports the store.
func (booksExportCmd) Run(e *env) error {
	return e.with(func(db *store) error { return db.Export(e.ctx, e.out) })
}

type importCmd struct{}

// Run imports into the store.
func (importCmd) Run(e *env) error {
	return e.withNew(func(db *store) error { return db.Import(e.ctx, e.in) })
}

// table prints aligned columns.
func (e *env) table(head []string, fill func(row func(...string)) error) error {
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		for i, c := range cells {
			if i > 0 {
				_, _ = w.Write([]byte("\t"))
			}
			_, _ = w.Write([]byte(c))
		}
		_, _ = w.Write([]byte("\n"))
	}
	row(head...)
	if err := fill(row); err != nil {
		return err
	}
	return w.Flush()
}

func stamp(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format(time.DateTime)
}
