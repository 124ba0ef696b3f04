package cli

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/server/dashboard"
)

// welcome prints the address of the API and, on the first start, makes the first account and key.
func (c *serveCmd) welcome(e *env, db *store, at listening) error {
	for _, notice := range []struct{ set, text string }{
		{e.cli.ReplayURL, "REPLAY: every upstream request goes to " + withoutPassword(e.cli.ReplayURL) + "; answers are not live."},
		{c.Replay, "REPLAY: every upstream request is answered from " + c.Replay + "; answers are not live."},
		{c.Record, "RECORD: every exchange with an upstream is written to " + c.Record + "."},
	} {
		if notice.set == "" {
			continue
		}
		if _, err := fmt.Fprintf(e.log, "\n*** %s ***\n\n", notice.text); err != nil {
			return err
		}
	}
	if c.PrintKey {
		// ErrTaken: another server that is starting has made it.
		if err := c.firstKey(e, db, at.api.here()); err != nil && !errors.Is(err, keys.ErrTaken) {
			return err
		}
		if err := c.firstSecret(e, db, at); err != nil {
			return err
		}
	} else if err := c.howToBegin(e, db); err != nil {
		return err
	}
	where := fmt.Sprintf("documentation: %s/docs", at.api.here())
	if at.dashboard != nil {
		where += fmt.Sprintf(", dashboard: %s%s", at.dashboard.here(), dashboard.Root)
	}
	return e.printf("socialdata serves on %s (%s%s)\n", at.api.url(), at.api.everywhere(), where)
}

// firstSecret makes the admin secret and prints it, unless there is one already, or there is no dashboard.
func (c *serveCmd) firstSecret(e *env, db *store, at listening) error {
	if at.dashboard == nil {
		return nil
	}
	secret, err := dashboard.Begin(e.ctx, db.Records())
	if err != nil || secret == "" {
		return err
	}
	return e.printf("The dashboard at %s%s opens with this admin secret, which is shown only once:\n\n    %s\n\n",
		at.dashboard.here(), dashboard.Root, secret)
}

// howToBegin prints how to make the first account and key, if there are none.
func (c *serveCmd) howToBegin(e *env, db *store) error {
	accounts, err := db.Keys().Accounts(e.ctx)
	if err != nil || len(accounts) > 0 {
		return err
	}
	return e.printf("There is no account yet. While the server runs, create one with a key, and the secret of the " +
		"dashboard:\n\n" +
		"    socialdata account create NAME --credits N\n    socialdata key create --account NAME\n    socialdata admin " +
		"reset\n\n")
}

// firstKey makes an account and a key and prints the key, unless there is an account.
func (c *serveCmd) firstKey(e *env, db *store, base string) error {
	accounts, err := db.Keys().Accounts(e.ctx)
	if err != nil || len(accounts) > 0 {
		return err
	}
	account, err := db.Keys().OpenAccount(e.ctx, "default", firstCredits, "first start")
	if err != nil {
		return err
	}
	secret, _, err := db.Keys().CreateKey(e.ctx,
		keys.NewKey{Account: account.ID, Name: "first key", Environment: keys.Live, Manage: true})
	if err != nil {
		return err
	}
	path := "platforms"
	if e.sandboxed {
		path = "mock/profile?handle=ann"
	}
	return e.printf(`Created the account "default" with %s and one key. The key is shown only once:

    %s

Try it:

    curl -H "Authorization: Bearer %s" "%s/v1/%s"

`, counted(firstCredits, "credit"), secret, secret, base, path)
}

// withoutPassword returns an address that is safe to print: without user, password and query.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
