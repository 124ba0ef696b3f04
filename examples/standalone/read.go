package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/sqlite"
)

type getCmd struct {
	Platform  string   `arg:"" help:"The platform, such as github."`
	Operation string   `arg:"" help:"The operation, such as profile or collection/posts."`
	Params    []string `arg:"" optional:"" help:"Parameters as name=value, such as handle=octocat."`
	CursorKey string   `help:"Secret that signs cursors; kept in the database without it." env:"SOCIALDATA_CURSOR_KEY" placeholder:"SECRET"`
}

// Run makes the read and prints the envelope. There is no account: nothing is charged. The secret of cursors is the one
// that the server keeps in the database, so that the next get can go on where this one ended.
func (c *getCmd) Run(e *env) error {
	o := socialdata.Operation(c.Operation)
	if o == nil {
		return fmt.Errorf("there is no operation %q; socialdata platforms lists them", c.Operation)
	}
	params, err := c.params()
	if err != nil {
		return err
	}
	call := operation.Call{Platform: c.Platform, Params: params}
	if !o.Paged() {
		return get(e, o, call)
	}
	return e.withNew(func(db *sqlite.DB) error {
		secrets, err := cursorSecrets(e.ctx, db, c.CursorKey)
		if err != nil {
			return err
		}
		return get(e, o, call, socialdata.WithCursorKeys(secrets...), socialdata.WithRecords(db.Records()))
	})
}

func (c *getCmd) params() (url.Values, error) {
	params := url.Values{}
	for _, p := range c.Params {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("parameter %q must be name=value", p)
		}
		params.Add(name, value)
	}
	return params, nil
}

func get(e *env, o *operation.Operation, call operation.Call, opts ...socialdata.Option) error {
	client, err := e.client(opts...)
	if err != nil {
		return err
	}
	a, err := client.Do(e.ctx, o, call)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(schema.Envelope[json.RawMessage]{Data: a.Data, Meta: a.Meta})
}

type platformsCmd struct {
	All bool `help:"List what is not served as well, with the reason."`
}

// Run prints the platform × operation table.
func (c *platformsCmd) Run(e *env) error {
	client, err := e.client()
	if err != nil {
		return err
	}
	got, err := client.Platforms(e.ctx, socialdata.PlatformsRequest{})
	if err != nil {
		return err
	}
	return e.table([]string{"PLATFORM", "OPERATION", "STATE", "NOTE"}, func(row func(...string)) error {
		for _, p := range got.Data {
			served := false
			for _, o := range p.Operations {
				state, note := state(p, o)
				if o.Available || len(o.Missing) > 0 || c.All {
					row(string(p.Platform), o.Operation, state, note)
					served = true
				}
			}
			if !served {
				row(string(p.Platform), "-", "not served", "no provider yet")
			}
		}
		return nil
	})
}

// state says whether an operation is served, and what to know about it.
func state(p schema.PlatformInfo, o schema.OperationInfo) (state, note string) {
	if o.Note != nil {
		note = *o.Note
	}
	switch {
	case o.Available:
		var from []string
		for _, s := range o.Sources {
			from = append(from, string(s))
		}
		return strings.Join(from, ", "), note
	case len(o.Missing) > 0:
		var names []string
		for _, m := range o.Missing {
			names = append(names, variable(string(p.Platform), m))
		}
		return "needs a setting", "set " + strings.Join(names, " and ")
	}
	if o.Reason != nil {
		note = *o.Reason
	}
	return "not served", note
}
