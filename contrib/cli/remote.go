package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
)

// caller makes reads: the engine of this process, or a remote server.
type caller interface {
	Do(ctx context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error)
	Stream(ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool) error
	Platforms(ctx context.Context, req socialdata.PlatformsRequest) (*schema.Envelope[[]schema.PlatformInfo], error)
	Me(ctx context.Context, req socialdata.MeRequest) (*schema.Envelope[schema.Me], error)
	Usage(ctx context.Context, req socialdata.UsageRequest) (*schema.Envelope[[]schema.Usage], error)
}

var _, _ caller = (*socialdata.Client)(nil), (*remote.Client)(nil)

// caller returns the client of the server in --server, or else the engine.
func (e *env) caller(opts ...socialdata.Option) (caller, error) {
	if e.cli.Server == "" {
		return e.client(opts...)
	}
	return e.server()
}

// server returns the client of the server in --server.
func (e *env) server() (*remote.Client, error) {
	return remote.New(e.cli.Server, remote.Config{Key: e.cli.APIKey})
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
	req := socialdata.UsageRequest{
		RequestID: c.RequestID, Platform: platform.ID(c.Platform), Since: c.Since, Until: c.Until,
	}
	shapes := []entryShape{}
	for entry, err := range socialdata.Walk(e.ctx, client.Usage, req) {
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
	if c.Name != "" {
		return errors.New("with --server the account of the key is used: leave out its name")
	}
	client, err := e.server()
	if err != nil {
		return err
	}
	got, err := client.Me(e.ctx, socialdata.MeRequest{})
	if err != nil {
		return err
	}
	return c.show(e, got.Data, func() error {
		k := got.Data.Key
		if err := e.printf("key      %s (%s…, %s)\nname     %s\nbalance  %d credits\ncreated  %s\n",
			k.ID, k.Prefix, k.Environment, k.Name, got.Data.Credits.Balance, stamp(&k.CreatedAt)); err != nil {
			return err
		}
		if r := got.Data.Limits.Rate; r != nil {
			return e.printf("rate     %d calls at once, %g come back each second\n", r.Capacity, r.RefillPerS)
		}
		return nil
	})
}
