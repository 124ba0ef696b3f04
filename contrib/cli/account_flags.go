package cli

import (
	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/remote"
)

// accountFlags name the account that a command is about.
type accountFlags struct {
	Account string `help:"The account; with --server it is that of --key." placeholder:"NAME" predictor:"account"`
}

// either calls atServer with the client of --server, or inDatabase with the database and the account.
func (f accountFlags) either(
	e *env, atServer func(*remote.Client) error, inDatabase func(*store, keys.Account) error,
) error {
	if e.remote() {
		if f.Account != "" {
			return errKeyAccount
		}
		client, err := e.server()
		if err != nil {
			return err
		}
		return atServer(client)
	}
	if f.Account == "" {
		return misusef("name the account with --account")
	}
	return e.with(func(db *store) error {
		a, err := db.Keys().Account(e.ctx, f.Account)
		if err != nil {
			return err
		}
		return inDatabase(db, a)
	})
}

// with calls do with the account, at the server or in the database.
func (f accountFlags) with(e *env, do func(accounts.Account) error) error {
	return f.either(e, func(client *remote.Client) error {
		return do(client.Account())
	}, func(db *store, a keys.Account) error {
		return e.idle(db, func(client *socialdata.Client) error { return do(client.As(keys.Key{Account: a.ID}).Account()) })
	})
}
