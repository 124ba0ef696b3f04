package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

type endpointsCmd struct {
	List       endpointsListCmd       `cmd:"" help:"List the endpoints."`
	Add        endpointsAddCmd        `cmd:"" help:"Create an endpoint and print its secret, once, or change an existing one; only with --server."`
	Secret     endpointsSecretCmd     `cmd:"" help:"Create a new secret for an endpoint and print it, once; the old one also signs for a day; only with --server."`
	Test       endpointsTestCmd       `cmd:"" help:"Send a test to an endpoint and print the result; only with --server."`
	Remove     endpointsRemoveCmd     `cmd:"" help:"Remove an endpoint, with the deliveries to it."`
	Deliveries endpointsDeliveriesCmd `cmd:"" help:"List the deliveries with their results, those of the latest changes first."`
	Again      endpointsAgainCmd      `cmd:"" help:"Repeat a delivery, whatever its result was."`
}

// serverOnly returns the client of --server, for a command that only a server can run: it sends, or seals a secret.
func serverOnly(e *env, command string) (*remote.Client, error) {
	if !e.remote() {
		return nil, errors.New(command +
			" works only with a server: give its address with --server, and a --key that manages its account")
	}
	return e.server()
}

type endpointsListCmd struct {
	accountFlags `embed:""`
	outputFlags  `embed:""`
}

// Run lists the endpoints by name.
func (c *endpointsListCmd) Run(e *env) error {
	list := []schema.Endpoint{}
	err := c.either(e, func(client *remote.Client) error {
		for found, err := range socialdata.Walk(e.ctx, client.Account().Endpoints().List, accounts.EndpointsRequest{}) {
			if err != nil {
				return err
			}
			list = append(list, found)
		}
		return nil
	}, func(db *store, a keys.Account) error {
		all, err := db.Watches().Endpoints(e.ctx, a.ID, "", 0)
		for i := range all {
			list = append(list, all[i].Shape())
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.show(e, list, func() error {
		return e.table([]string{"NAME", "STATE", "URL", "TYPES", "MONITORS", "DETAIL"}, func(row func(...string)) {
			for _, p := range list {
				row(p.Name, p.State, p.URL, chosen(p.Types), chosen(p.Monitors), detailOf(p.Detail))
			}
		})
	})
}

// chosen returns what an endpoint selects, for a table.
func chosen(names []string) string {
	if len(names) == 0 {
		return "all"
	}
	return strings.Join(names, ",")
}

func detailOf(detail *string) string {
	if detail == nil {
		return ""
	}
	return *detail
}

type endpointsAddCmd struct {
	Name     string   `arg:"" help:"The name of the endpoint, of a-z, 0-9 and -."`
	URL      string   `arg:"" name:"url" help:"Where changes are sent; it begins with https://."`
	Types    []string `name:"type" help:"Send only changes of these types, such as new or credits.low." placeholder:"A,B"`
	Monitors []string `name:"monitor" help:"Send only changes of these monitors." placeholder:"A,B"`

	outputFlags `embed:""`
}

// Run makes or changes the endpoint.
func (c *endpointsAddCmd) Run(e *env) error {
	client, err := serverOnly(e, "endpoints add")
	if err != nil {
		return err
	}
	made, err := client.Account().Endpoints().Make(e.ctx, c.Name,
		schema.EndpointSpec{URL: c.URL, Types: c.Types, Monitors: c.Monitors})
	if err != nil {
		return err
	}
	if !made.New {
		return c.show(e, made, func() error {
			return e.printf("changed %s, which keeps its secret\n", made.Name)
		})
	}
	return c.secret(e, made, "Made")
}

// secret prints an endpoint with its secret.
func (f outputFlags) secret(e *env, p schema.MadeEndpoint, done string) error {
	if p.Secret == nil {
		return fmt.Errorf("the answer with the secret was lost: endpoints secret %s makes another one", p.Name)
	}
	if _, err := fmt.Fprintf(e.log, "%s. The secret is shown only once.\n", done+" "+escaped(p.Name)); err != nil {
		return err
	}
	return f.show(e, p, func() error { return e.printf("%s\n", *p.Secret) })
}

type endpointsSecretCmd struct {
	Name string `arg:"" help:"The name of the endpoint."`

	outputFlags `embed:""`
}

// Run gives the endpoint another secret.
func (c *endpointsSecretCmd) Run(e *env) error {
	client, err := serverOnly(e, "endpoints secret")
	if err != nil {
		return err
	}
	p, err := client.Account().Endpoints().NewSecret(e.ctx, c.Name)
	if err != nil {
		return err
	}
	return c.secret(e, p, "Changed the secret of")
}

type endpointsTestCmd struct {
	Name string `arg:"" help:"The name of the endpoint."`

	outputFlags `embed:""`
}

// Run sends the test. It fails when the endpoint does not accept it.
func (c *endpointsTestCmd) Run(e *env) error {
	client, err := serverOnly(e, "endpoints test")
	if err != nil {
		return err
	}
	d, err := client.Account().Endpoints().Test(e.ctx, c.Name)
	if err != nil {
		return err
	}
	if err := c.show(e, d, func() error { return e.printf("%s\n", strings.Join(outcomeOf(&d), "  ")) }); err != nil {
		return err
	}
	if d.State != watch.Delivered {
		return errSilent
	}
	return nil
}

// outcomeOf returns the result of a delivery: its state, the status of the answer and why it failed.
func outcomeOf(d *schema.Delivery) []string {
	status := "-"
	if d.Status != nil {
		status = strconv.FormatInt(*d.Status, 10)
	}
	return []string{d.State, status, detailOf(d.Detail)}
}

type endpointsRemoveCmd struct {
	Name string `arg:"" help:"The name of the endpoint."`

	accountFlags `embed:""`
}

// Run removes the endpoint.
func (c *endpointsRemoveCmd) Run(e *env) error {
	if err := c.either(e, func(client *remote.Client) error {
		return client.Account().Endpoints().End(e.ctx, c.Name)
	}, func(db *store, a keys.Account) error {
		return db.Watches().EndEndpoint(e.ctx, a.ID, c.Name)
	}); err != nil {
		return err
	}
	return e.printf("removed %s\n", c.Name)
}

type endpointsDeliveriesCmd struct {
	Endpoint string `arg:"" optional:"" help:"The name of the endpoint; by default all."`
	Limit    int    `help:"The most entries to list." default:"50"`

	accountFlags `embed:""`
	outputFlags  `embed:""`
}

// Run lists the deliveries.
func (c *endpointsDeliveriesCmd) Run(e *env) error {
	if c.Limit < 1 {
		return misusef("--limit must be at least 1")
	}
	list := []schema.Delivery{}
	err := c.either(e, func(client *remote.Client) error {
		for d, err := range socialdata.Walk(e.ctx, client.Account().Deliveries, accounts.DeliveriesRequest{Endpoint: c.Endpoint}) {
			if err != nil {
				return err
			}
			if list = append(list, d); len(list) == c.Limit {
				break
			}
		}
		return nil
	}, func(db *store, a keys.Account) error {
		if c.Endpoint != "" { // a mistyped name must not look like an endpoint without deliveries
			if _, err := db.Watches().Endpoint(e.ctx, a.ID, c.Endpoint); err != nil {
				return err
			}
		}
		all, err := db.Watches().Deliveries(e.ctx, watch.Outgoing{Account: a.ID, Endpoint: c.Endpoint, Limit: c.Limit})
		for i := range all {
			list = append(list, all[i].Shape())
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.show(e, list, func() error {
		head := []string{"ID", "TYPE", "QUEUED", "TRIED", "NEXT", "STATE", "STATUS", "DETAIL"}
		return e.table(head, func(row func(...string)) {
			for i := range list {
				d := &list[i]
				next := "-"
				if d.NextAt != nil {
					next = stamp(d.NextAt)
				}
				row(slices.Concat([]string{d.ID, d.Type, stamp(&d.QueuedAt), strconv.FormatInt(d.Attempts, 10), next},
					outcomeOf(d))...)
			}
		})
	})
}

type endpointsAgainCmd struct {
	ID string `arg:"" help:"The id of the delivery, such as mine.12."`

	accountFlags `embed:""`
	outputFlags  `embed:""`
}

// Run makes the delivery due now. A server sends it.
func (c *endpointsAgainCmd) Run(e *env) error {
	var out schema.Delivery
	if err := c.either(e, func(client *remote.Client) (err error) {
		out, err = client.Account().Endpoints().Again(e.ctx, c.ID)
		return err
	}, func(db *store, a keys.Account) error {
		name, seq, err := watch.ParseDeliveryID(c.ID)
		if err != nil {
			return err
		}
		d, err := db.Watches().Again(e.ctx, a.ID, name, seq, e.now().UTC())
		out = d.Shape()
		return err
	}); err != nil {
		return err
	}
	return c.show(e, out, func() error { return e.printf("%s is sent again\n", out.ID) })
}
