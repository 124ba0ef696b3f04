package cli

import (
	"errors"
	"fmt"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
)

// With --server the key commands work on the account of --key, which must have the mark manage.

// errKeyAccount is the error of a command with --server that names an account.
var errKeyAccount = errors.New("with --server the account of the key is used: leave out --account")

// there creates the key on the server.
func (c *keyCreateCmd) there(e *env, n keys.NewKey) error {
	switch {
	case c.Account != "":
		return errKeyAccount
	case c.Name == "":
		return errors.New("with --server a key needs a name: give it one with --name")
	}
	client, err := e.server()
	if err != nil {
		return err
	}
	same, found, err := findKey(e, client, func(k *schema.Key) bool { return k.Name == c.Name && k.RevokedAt == nil })
	if err != nil {
		return err
	}
	if found { // making it would change it
		return fmt.Errorf("%s already has this name: choose another one, or change the key with key set %s", same.ID, same.ID)
	}
	made, err := client.Account().Keys().Make(e.ctx, n.Name, schema.KeySpec{
		Environment: schema.KeyEnvironment(n.Environment), Rate: shownRate(n.Rate), DayCap: n.DayCap, TotalCap: n.TotalCap,
		Manage: n.Manage,
	})
	if err != nil {
		return err
	}
	return e.shown(c.outputFlags, made, fmt.Sprintf("Created %s. It is shown only once.\n", made.ID))
}

// findKey returns the first key of the account for which is returns true.
func findKey(e *env, client *remote.Client, is func(*schema.Key) bool) (key schema.Key, found bool, err error) {
	for k, err := range socialdata.Walk(e.ctx, client.Account().Keys().List, accounts.KeysRequest{}) {
		if err != nil || is(&k) {
			return k, err == nil, err
		}
	}
	return schema.Key{}, false, nil
}

// shown prints a key that has a new secret. Without --output, standard output has nothing but the secret.
func (e *env) shown(f outputFlags, made schema.MadeKey, words string) error {
	if made.Secret == nil {
		words = fmt.Sprintf("The answer with the secret of %s was lost: key rotate %s gives it another one.\n", made.ID,
			made.ID)
	}
	if _, err := fmt.Fprint(e.log, escaped(words)); err != nil {
		return err
	}
	shape := shapeOfKeyRow(made.Key)
	shape.Secret = made.Secret
	if err := f.show(e, shape, func() error {
		if made.Secret == nil {
			return nil
		}
		return e.printf("%s\n", *made.Secret)
	}); err != nil {
		return err
	}
	if made.Secret == nil {
		return errSilent
	}
	return nil
}

// there lists the keys of the account on the server.
func (c *keyListCmd) there(e *env) error {
	if c.Account != "" {
		return errKeyAccount
	}
	client, err := e.server()
	if err != nil {
		return err
	}
	shapes := []keyShape{}
	for k, err := range socialdata.Walk(e.ctx, client.Account().Keys().List, accounts.KeysRequest{}) {
		if err != nil {
			return err
		}
		shapes = append(shapes, shapeOfKeyRow(k))
	}
	return c.show(e, shapes, func() error {
		return e.table([]string{"ID", "NAME", "PREFIX", "CREATED", "LAST USED", "STATE"}, func(row func(...string)) {
			for _, k := range shapes {
				state := "active"
				if k.RevokedAt != nil {
					state = "revoked " + stamp(k.RevokedAt)
				}
				row(k.ID, k.Name, k.Prefix+"…", stamp(&k.CreatedAt), stamp(k.LastUsedAt), state)
			}
		})
	})
}

// there changes the key on the server. Values that no flag names stay as they are.
func (c *keySetCmd) there(e *env) error {
	client, err := e.server()
	if err != nil {
		return err
	}
	was, _, err := findKey(e, client, func(k *schema.Key) bool { return k.ID == c.ID })
	if err != nil {
		return err
	}
	req := schema.KeySpec{DayCap: was.DayCap, TotalCap: was.TotalCap, Rate: was.Rate, Manage: was.Manage}
	set := func(to **int64, given *int64, none bool) {
		if none || given != nil {
			*to = given
		}
	}
	set(&req.DayCap, c.DayCap, c.NoDayCap)
	set(&req.TotalCap, c.TotalCap, c.NoTotalCap)
	if c.NoRate {
		req.Rate = nil
	}
	if c.RateCapacity != nil {
		req.Rate = &schema.KeyRate{Capacity: *c.RateCapacity, RefillPerS: *c.RateRefill}
	}
	req.Manage = (req.Manage || c.Manage) && !c.NoManage
	k, err := client.Account().Keys().Change(e.ctx, c.ID, req) // not_found for a key that was not listed
	if err != nil {
		return err
	}
	limits := keys.Key{DayCap: k.DayCap, TotalCap: k.TotalCap, Rate: rateOf(k.Rate), Manage: k.Manage}
	return c.show(e, shapeOfKeyRow(k),
		func() error { return e.printf("changed %s (%s…): %s\n", k.ID, k.Prefix, limitsOf(limits)) })
}

// there rotates the key on the server.
func (c *keyRotateCmd) there(e *env) error {
	client, err := e.server()
	if err != nil {
		return err
	}
	made, err := client.Account().Keys().Rotate(e.ctx, c.ID, c.Overlap)
	if err != nil {
		return err
	}
	until := "is revoked"
	if made.FormerUntil != nil {
		until = "works until " + stamp(made.FormerUntil)
	}
	return e.shown(c.outputFlags, made,
		fmt.Sprintf("Rotated %s. The new secret is shown only once; the previous one %s.\n", made.ID, until))
}

// there revokes the key on the server.
func (c *keyRevokeCmd) there(e *env) error {
	client, err := e.server()
	if err != nil {
		return err
	}
	k, err := client.Account().Keys().Revoke(e.ctx, c.ID)
	if err != nil {
		return err
	}
	return c.show(e, shapeOfKeyRow(k), func() error { return e.printf("revoked %s (%s…)\n", k.ID, k.Prefix) })
}

// shapeOfKeyRow returns a key of the API. It has no account.
func shapeOfKeyRow(k schema.Key) keyShape {
	return shapeOfKey(keys.Key{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Environment: keys.Environment(k.Environment), CreatedAt: k.CreatedAt,
		LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt, DayCap: k.DayCap, TotalCap: k.TotalCap, Rate: rateOf(k.Rate),
		Manage: k.Manage,
	}, "")
}

func shownRate(r *keys.Rate) *schema.KeyRate {
	if r == nil {
		return nil
	}
	return &schema.KeyRate{Capacity: r.Capacity, RefillPerS: r.Refill}
}

func rateOf(r *schema.KeyRate) *keys.Rate {
	if r == nil {
		return nil
	}
	return &keys.Rate{Capacity: r.Capacity, Refill: r.RefillPerS}
}
