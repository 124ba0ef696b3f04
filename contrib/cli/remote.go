package cli

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
)

// caller makes reads: the engine of this process, or a remote server.
type caller struct {
	socialdata.Reader
	operation.Caller
}

// caller returns the client of the server in --server, or else the engine.
func (e *env) caller(opts ...socialdata.Option) (caller, error) {
	if e.cli.Server == "" {
		client, err := e.client(opts...)
		if err != nil {
			return caller{}, err
		}
		return caller{client, socialdata.FrontEnd(client)}, nil
	}
	client, err := e.server()
	if err != nil {
		return caller{}, err
	}
	return caller{client, client}, nil
}

// server returns the client of the server in --server. It warns, once, if the key crosses a network unencrypted.
func (e *env) server() (*remote.Client, error) {
	if text := e.clearText(); text != "" && !e.warned {
		e.warned = true
		_, _ = fmt.Fprintln(e.log, "socialdata: warning: "+text)
	}
	return remote.New(e.cli.Server, remote.Config{Key: e.cli.APIKey})
}

// clearText returns a warning if --server leads to another machine without TLS; "" if it does not.
func (e *env) clearText() string {
	u, err := url.Parse(e.cli.Server)
	if err != nil || u.Scheme != "http" || onThisMachine(net.JoinHostPort(u.Hostname(), "80")) {
		return ""
	}
	return "the key and the answers cross the network of --server unencrypted; use an https address"
}

// remote reports whether commands go to a remote server.
func (e *env) remote() bool { return e.cli.Server != "" }

// localPlatforms returns the platforms that a command can name; nil for any, if a server knows them.
func (e *env) localPlatforms() *platform.Table {
	if e.remote() {
		return nil
	}
	return e.cfg.platforms()
}

// local returns an error for a command that only works with the database.
func (e *env) local(command string) error {
	if e.remote() {
		return errors.New(command + " works on a database: leave out --server, or unset SOCIALDATA_SERVER")
	}
	return nil
}

// entries returns the entries of the account of --key, newest first.
func (c *usageCmd) entries(e *env) ([]entryShape, error) {
	if c.Account != "" || c.Before != 0 {
		return nil, errors.New("with --server the account of the key is used: leave out its name and --before")
	}
	client, err := e.server()
	if err != nil {
		return nil, err
	}
	req := accounts.UsageRequest{
		RequestID: c.RequestID, Platform: platform.ID(c.Platform), Since: c.Since, Until: c.Until,
	}
	shapes := []entryShape{}
	for entry, err := range socialdata.Walk(e.ctx, client.Account().Usage, req) {
		if err != nil {
			return nil, err
		}
		if shapes = append(shapes, shapeOfUsage(entry)); len(shapes) == c.Limit {
			break
		}
	}
	return shapes, nil
}

// shapeOfUsage returns an entry of the API.
func shapeOfUsage(u schema.Usage) entryShape {
	seq, _ := strconv.ParseInt(u.ID[strings.LastIndexByte(u.ID, '/')+1:], 10, 64)
	shape := entryShape{Seq: seq, Time: u.At.UTC(), Kind: u.Kind, Amount: u.Amount, Balance: u.Balance}
	for to, from := range map[*string]*string{
		&shape.Operation: u.Operation, &shape.Platform: u.Platform, &shape.RequestID: u.RequestID, &shape.Key: u.KeyID,
		&shape.Reason: u.Reason, &shape.Cache: (*string)(u.Cache),
	} {
		if from != nil {
			*to = *from
		}
	}
	return shape
}

// me prints the key, the balance and the rate limit.
func (c *accountShowCmd) me(e *env) error {
	client, err := e.server()
	if err != nil {
		return err
	}
	got, err := client.Account().Me(e.ctx, accounts.MeRequest{})
	if err != nil {
		return err
	}
	return c.show(e, got.Data, func() error {
		k := got.Data.Key
		if err := e.printf("key      %s (%s…, %s)\nname     %s\nbalance  %s\ncreated  %s\n",
			k.ID, k.Prefix, k.Environment, k.Name, counted(got.Data.Credits.Balance, "credit"), stamp(&k.CreatedAt)); err != nil {
			return err
		}
		if r := got.Data.Limits.Rate; r != nil {
			return e.printf("rate     %s at once, %g come back each second\n", counted(r.Capacity, "call"), r.RefillPerS)
		}
		return nil
	})
}
