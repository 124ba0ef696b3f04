package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

// settling is the operation in logs and problems of the settings of an account.
var settling = &operation.Operation{Name: "settings", Path: "/manage/account", Service: true}

// AccountSettings reads and replaces the settings of the session's account.
type AccountSettings struct{ session *Session }

// Settings returns the settings of the session's account.
func (s *Session) Settings() AccountSettings { return AccountSettings{s} }

// Read returns the settings.
func (a AccountSettings) Read(ctx context.Context) (schema.AccountSettings, error) {
	ctx, id := named(ctx, "")
	owner, err := a.session.owner()
	var out schema.AccountSettings
	if err == nil {
		bounded, cancel := a.session.bounded(ctx)
		defer cancel()
		out, err = a.session.settings(bounded, owner)
	}
	if err != nil {
		return schema.AccountSettings{}, a.session.fail(ctx, settling, operation.Call{RequestID: id}, err)
	}
	return out, nil
}

// Put replaces all settings and returns them.
func (a AccountSettings) Put(ctx context.Context, want schema.AccountSettings) (schema.AccountSettings, error) {
	ctx, id := named(ctx, "")
	if err := a.put(ctx, want); err != nil {
		return schema.AccountSettings{}, a.session.fail(ctx, settling, operation.Call{RequestID: id}, err)
	}
	return want, nil
}

func (a AccountSettings) put(ctx context.Context, want schema.AccountSettings) error {
	owner, err := a.session.owner()
	if err != nil {
		return err
	}
	if n := want.CreditsLow; n != nil && (*n < 0 || *n > credits.MaxBalance) {
		return problem.New(problem.InvalidRequest, "credits_low must be 0 to %d credits", int64(credits.MaxBalance))
	}
	value, err := json.Marshal(want)
	if err != nil {
		return err
	}
	ctx, cancel := a.session.bounded(ctx)
	defer cancel()
	r := records.Record{Key: settingsKey(owner), Value: value}
	if _, err := a.session.cfg.Records.Put(ctx, r, secretTTL); err != nil {
		return err
	}
	a.session.accountEvents.changed(owner)
	return nil
}

// settings returns the settings of an account. Without any they are the zero ones.
func (e *Engine) settings(ctx context.Context, account string) (out schema.AccountSettings, err error) {
	r, err := e.cfg.Records.Get(ctx, settingsKey(account))
	if errors.Is(err, records.ErrAbsent) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(r.Value, &out)
	}
	if err != nil {
		return out, fmt.Errorf("socialdata: the settings of the account: %w", err)
	}
	return out, nil
}

func settingsKey(account string) string { return records.Key("settings", account) }
