package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/server/dashboard"
	"github.com/socialdata/socialdata/store/bookkeeping"
)

type adminCmd struct {
	Reset adminResetCmd `cmd:"" help:"Create a new admin secret for the dashboard and print it, once. The old secret and all its sessions become invalid."`
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
	Set    keySetCmd    `cmd:"" help:"Change a key's caps, its rate limit, and whether it manages its account."`
	Rotate keyRotateCmd `cmd:"" help:"Create a new secret for a key and print it, once. The old one works until the overlap ends."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke a key: it stops working at once."`
}

type keyCreateCmd struct {
	Account      string   `help:"The account's name or id; with --server it is that of --key." placeholder:"NAME" predictor:"account"`
	Name         string   `help:"The key's name, for people; required with --server." placeholder:"TEXT"`
	Env          string   `help:"live or test." enum:"live,test" default:"live"`
	DayCap       *int64   `help:"Credits that the key may spend in one UTC day." placeholder:"N"`
	TotalCap     *int64   `help:"Credits that the key may ever spend." placeholder:"N"`
	RateCapacity *int64   `help:"Calls that the key may make at once; the server's limit without it." placeholder:"N"`
	RateRefill   *float64 `help:"Calls that the key gets back each second; with --rate-capacity." placeholder:"N"`
	Manage       bool     `help:"Let the key manage its account: sign in to the dashboard, and create and change keys, monitors and endpoints."`

	outputFlags `embed:""`
}

// Run creates the key. Without --output, standard output has nothing but the key.
func (c *keyCreateCmd) Run(e *env) error {
	n := keys.NewKey{
		Account: c.Account, Name: c.Name, Environment: keys.Environment(c.Env), DayCap: c.DayCap, TotalCap: c.TotalCap,
		Manage: c.Manage,
	}
	if (c.RateCapacity == nil) != (c.RateRefill == nil) {
		return misusef("--rate-capacity and --rate-refill go together")
	}
	if c.RateCapacity != nil {
		n.Rate = &keys.Rate{Capacity: *c.RateCapacity, Refill: *c.RateRefill}
	}
	if e.remote() {
		return c.there(e, n)
	}
	if c.Account == "" {
		return misusef("name the account with --account; account list lists them")
	}
	if err := n.Check(); err != nil {
		return err
	}
	return e.with(func(db *store) error {
		secret, k, err := db.Keys().CreateKey(e.ctx, n)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(e.log, "Created %s. It is shown only once.\n", k.ID); err != nil {
			return err
		}
		return c.show(e, shapeOfKey(k, secret), func() error { return e.printf("%s\n", secret) })
	})
}

type keyListCmd struct {
	Account string `help:"Only the keys of this account; with --server it is that of --key." placeholder:"NAME" predictor:"account"`

	outputFlags `embed:""`
}

// Run lists the keys.
func (c *keyListCmd) Run(e *env) error {
	if e.remote() {
		return c.there(e)
	}
	return e.with(func(db *store) error {
		list, err := db.Keys().Keys(e.ctx, c.Account)
		if err != nil {
			return err
		}
		return c.show(e, shapesOfKeys(list), func() error { return e.keys(db, list) })
	})
}

func shapesOfKeys(list []keys.Key) []keyShape {
	shapes := make([]keyShape, len(list))
	for i, k := range list {
		shapes[i] = shapeOfKey(k, "")
	}
	return shapes
}

// keys prints keys for people.
func (e *env) keys(db *store, list []keys.Key) error {
	accounts, err := db.Keys().Accounts(e.ctx)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, a := range accounts {
		names[a.ID] = a.Name
	}
	return e.table([]string{"ID", "NAME", "PREFIX", "ACCOUNT", "CREATED", "LAST USED", "STATE"},
		func(row func(...string)) {
			for _, k := range list {
				state := "active"
				if k.RevokedAt != nil {
					state = "revoked " + stamp(k.RevokedAt)
				}
				row(k.ID, k.Name, k.Prefix+"…", cmp.Or(names[k.Account], k.Account), stamp(&k.CreatedAt), stamp(k.LastUsedAt),
					state)
			}
		})
}

type keySetCmd struct {
	ID           string   `arg:"" help:"The key's id." predictor:"key"`
	DayCap       *int64   `help:"Credits that the key may spend in one UTC day." placeholder:"N" xor:"day"`
	NoDayCap     bool     `help:"Remove that cap." xor:"day"`
	TotalCap     *int64   `help:"Credits that the key may ever spend, including those already spent." placeholder:"N" xor:"total"`
	NoTotalCap   bool     `help:"Remove that cap." xor:"total"`
	RateCapacity *int64   `help:"Calls that the key may make at once." placeholder:"N" xor:"rate"`
	RateRefill   *float64 `help:"Calls that the key gets back each second; with --rate-capacity." placeholder:"N"`
	NoRate       bool     `help:"Remove its own rate limit: the server's applies." xor:"rate"`
	Manage       bool     `help:"Let the key manage its account." xor:"manage"`
	NoManage     bool     `help:"Do not let the key manage its account any more." xor:"manage"`

	outputFlags `embed:""`
}

// Run changes the key. The limits that an operator sets are the highest that the account itself can set.
func (c *keySetCmd) Run(e *env) error {
	if (c.RateCapacity == nil) != (c.RateRefill == nil) {
		return misusef("--rate-capacity and --rate-refill go together")
	}
	if e.remote() {
		return c.there(e)
	}
	return e.with(func(db *store) error {
		k, err := db.Keys().Change(e.ctx, c.ID, func(k *keys.Key) error {
			c.change(k)
			return nil
		})
		if err != nil {
			return err
		}
		return c.show(e, shapeOfKey(k, ""),
			func() error { return e.printf("changed %s (%s…): %s\n", k.ID, k.Prefix, limitsOf(k)) })
	})
}

func (c *keySetCmd) change(k *keys.Key) {
	most := k.Most()
	set := func(to, bound **int64, given *int64, none bool) {
		if none || given != nil {
			*to, *bound = given, given
		}
	}
	set(&k.DayCap, &most.DayCap, c.DayCap, c.NoDayCap)
	set(&k.TotalCap, &most.TotalCap, c.TotalCap, c.NoTotalCap)
	if c.NoRate {
		k.Rate, most.Rate = nil, nil
	}
	if c.RateCapacity != nil {
		k.Rate = &keys.Rate{Capacity: *c.RateCapacity, Refill: *c.RateRefill}
		most.Rate = k.Rate
	}
	k.Bounds = &most
	k.Manage = (k.Manage || c.Manage) && !c.NoManage
}

// limitsOf describes the limits of a key.
func limitsOf(k keys.Key) string {
	words := "no caps"
	switch {
	case k.DayCap != nil && k.TotalCap != nil:
		words = fmt.Sprintf("%s a day, %d in all", counted(*k.DayCap, "credit"), *k.TotalCap)
	case k.DayCap != nil:
		words = fmt.Sprintf("%s a day", counted(*k.DayCap, "credit"))
	case k.TotalCap != nil:
		words = fmt.Sprintf("%s in all", counted(*k.TotalCap, "credit"))
	}
	if k.Rate != nil {
		words += fmt.Sprintf(", %s at once and %v a second", counted(k.Rate.Capacity, "call"), k.Rate.Refill)
	}
	if k.Manage {
		words += ", manages its account"
	}
	return words
}

type keyRotateCmd struct {
	ID      string        `arg:"" help:"The key's id." predictor:"key"`
	Overlap time.Duration `help:"How long the old secret still works; with 0 it is invalid at once." default:"24h"`

	outputFlags `embed:""`
}

// Run rotates the key. Without --output, standard output has nothing but the new secret.
func (c *keyRotateCmd) Run(e *env) error {
	if c.Overlap < 0 || c.Overlap > keys.LongestOverlap {
		return misusef("--overlap must be 0 to 720h")
	}
	if e.remote() {
		return c.there(e)
	}
	return e.with(func(db *store) error {
		until := keys.Overlap(e.now(), c.Overlap)
		secret, k, err := db.Keys().Rotate(e.ctx, c.ID, until)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(e.log, "Rotated %s. The new secret is shown only once; the previous one works until %s.\n",
			k.ID, stamp(&until)); err != nil {
			return err
		}
		return c.show(e, shapeOfKey(k, secret), func() error { return e.printf("%s\n", secret) })
	})
}

type keyRevokeCmd struct {
	ID string `arg:"" help:"The key's id." predictor:"key"`

	outputFlags `embed:""`
}

// Run revokes the key.
func (c *keyRevokeCmd) Run(e *env) error {
	if e.remote() {
		return c.there(e)
	}
	return e.with(func(db *store) error {
		k, err := db.Keys().Revoke(e.ctx, c.ID)
		if err != nil {
			return err
		}
		return c.show(e, shapeOfKey(k, ""), func() error { return e.printf("revoked %s (%s…)\n", k.ID, k.Prefix) })
	})
}

type usageCmd struct {
	Account   string    `arg:"" optional:"" help:"The account's name or id; with --server it is that of the key, and without it --by adds up all accounts." predictor:"account"`
	RequestID string    `help:"Only this call." placeholder:"ID"`
	Platform  string    `help:"Only this platform." predictor:"platform"`
	Since     time.Time `help:"Only from this time on." placeholder:"RFC3339"`
	Until     time.Time `help:"Only before this time." placeholder:"RFC3339"`
	Before    int64     `help:"Only entries with a smaller number, to continue after the last one listed." placeholder:"SEQ"`
	Limit     int       `help:"The most entries to list." default:"50"`
	By        string    `help:"Add up the usage by day, account, key, platform or operation instead of listing entries; --since and --until are then UTC days." enum:"day,account,key,platform,operation," default:"" placeholder:"GROUP"`

	outputFlags `embed:""`
}

// Run lists the entries, or the sums of these and of all other calls.
func (c *usageCmd) Run(e *env) error {
	if c.By != "" {
		return c.by(e)
	}
	if e.remote() {
		shapes, err := c.entries(e)
		if err != nil {
			return err
		}
		return c.print(e, shapes)
	}
	if c.Account == "" {
		return misusef("name the account, which account list lists, or add up all of them with --by")
	}
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, c.Account)
		if err != nil {
			return err
		}
		entries, err := db.Ledger().Entries(e.ctx, credits.Query{
			Account: a.ID, RequestID: c.RequestID, Platform: c.Platform, Since: c.Since, Until: c.Until, Before: c.Before,
			Limit: c.Limit,
		})
		if err != nil {
			return err
		}
		shapes := make([]entryShape, len(entries))
		for i, n := range entries {
			shapes[i] = shapeOfEntry(n)
		}
		return c.print(e, shapes)
	})
}

func (c *usageCmd) print(e *env, shapes []entryShape) error {
	return c.show(e, shapes, func() error {
		head := []string{"SEQ", "TIME", "KIND", "AMOUNT", "BALANCE", "OPERATION", "PLATFORM", "CACHE", "REQUEST", "REASON"}
		return e.table(head, func(row func(...string)) {
			for _, n := range shapes {
				row(strconv.FormatInt(n.Seq, 10), stamp(&n.Time), n.Kind, strconv.FormatInt(n.Amount, 10),
					strconv.FormatInt(n.Balance, 10), n.Operation, n.Platform, n.Cache, n.RequestID, n.Reason)
			}
		})
	})
}

type auditCmd struct {
	Heads      bool   `help:"Write the heads of all accounts and keys to standard output. Keep them where an attacker with access to the database cannot change them."`
	CheckHeads string `help:"Compare with what --heads wrote earlier." type:"existingfile" placeholder:"FILE"`

	outputFlags `embed:""`
}

// Run audits the store; the exit status is 1 when the audit finds something. With --heads, standard output has nothing
// but the heads, and nothing at all when the audit finds something.
func (c *auditCmd) Run(e *env) error {
	out := e.out
	if c.Heads {
		if out = e.log; c.Output != "" {
			return misusef("--heads always writes JSON Lines: leave out --output")
		}
	}
	return e.with(func(db *store) error {
		report, err := c.audit(e.ctx, db)
		if err != nil {
			return err
		}
		if err := c.show(e, shapeOfReport(report), func() error { return printReport(out, report) }); err != nil {
			return err
		}
		if !report.OK() {
			return errSilent
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

// printReport prints the findings of an audit.
func printReport(w io.Writer, r bookkeeping.Report) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintf(w, "PROBLEM %s\n", escaped(p)); err != nil {
			return err
		}
	}
	for _, id := range r.Changed {
		if _, err := fmt.Fprintf(w, "CHANGED key %s has other limits or another secret than when the heads were written\n",
			escaped(id)); err != nil {
			return err
		}
	}
	for _, l := range r.Losses {
		_, err := fmt.Fprintf(w, "ACCEPTED at %s: of %s and %s at %s, %d and %d were there\n",
			stamp(&l.Accepted), counted(l.HadEntries, "entry"), counted(l.HadCredits, "credit"), stamp(&l.At), l.Entries, l.Credits)
		if err != nil {
			return err
		}
	}
	verdict := "in order"
	if !r.OK() {
		verdict = "NOT in order"
	}
	_, err := fmt.Fprintf(w, "%s, %s, %s, %s: %s\n",
		counted(r.Accounts, "account"), counted(r.Keys, "key"), counted(r.Entries, "entry"), counted(r.Credits, "credit"), verdict)
	return err
}

type booksCmd struct {
	Export booksExportCmd `cmd:"" help:"Write accounts, keys (hashes), entries, monitors, endpoints, settings and the block list as JSON Lines to standard output."`
	Import importCmd      `cmd:"" help:"Read what books export wrote from standard input into a new file."`
}

type booksExportCmd struct{}

// Run exports the store.
func (booksExportCmd) Run(e *env) error {
	if err := e.with(func(db *store) error { return db.Export(e.ctx, e.out) }); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.log, "Not exported: %s. The export has secrets; keep it like the database.\n",
		bookkeeping.NotExported)
	return err
}

type importCmd struct{}

// Run imports into the store. A new file is kept only if the import is complete.
func (importCmd) Run(e *env) (err error) {
	in := e.in
	if _, statErr := os.Stat(e.cli.DB); errors.Is(statErr, os.ErrNotExist) && e.cli.Postgres == "" {
		read, tempErr := os.CreateTemp("", "socialdata-import-*")
		if tempErr != nil {
			return tempErr
		}
		defer func() { err = errors.Join(err, read.Close(), os.Remove(read.Name())) }()
		if err := bookkeeping.Read(e.ctx, io.TeeReader(e.in, read), bookkeeping.Discard); err != nil {
			return fmt.Errorf("import: %w", err)
		}
		if _, err := read.Seek(0, io.SeekStart); err != nil {
			return err
		}
		in = read
	}
	return e.withNew(func(db *store) error { return db.Import(e.ctx, in) })
}
