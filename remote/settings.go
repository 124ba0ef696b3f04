package remote

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Settings reads and replaces the settings of the key's account. The key must have the mark manage: without it every
// call is unauthorized.
func (c *Client) Settings() Settings { return Settings{c} }

// Settings are the settings of one account. Every error of its methods is a *[problem.Error].
type Settings struct{ client *Client }

// Read returns the settings; those that were never set are nil.
func (s Settings) Read(ctx context.Context) (schema.AccountSettings, error) {
	return s.send(ctx, http.MethodGet, nil)
}

// Put replaces all settings and returns them. A nil one gets its default again.
func (s Settings) Put(ctx context.Context, want schema.AccountSettings) (schema.AccountSettings, error) {
	body, err := json.Marshal(want)
	if err != nil {
		return schema.AccountSettings{}, problem.Wrap(err, problem.InvalidRequest, "the settings cannot be written as JSON")
	}
	return s.send(ctx, http.MethodPut, body)
}

// settling is the operation in problems of the settings.
var settling = &operation.Operation{Name: "account", Func: "Settings", Path: "/manage/account", Service: true}

func (s Settings) send(ctx context.Context, method string, body []byte) (schema.AccountSettings, error) {
	var out struct {
		CreditsLow json.RawMessage `json:"credits_low"` // null is a valid value, a missing field is not
	}
	_, err := s.client.change(ctx, method, settling.Path, body, &out, func() bool { return out.CreditsLow != nil })
	if err != nil {
		return schema.AccountSettings{}, failed(ctx, settling, operation.Call{}, err)
	}
	var settings schema.AccountSettings
	if err := json.Unmarshal(out.CreditsLow, &settings.CreditsLow); err != nil {
		return settings, failed(ctx, settling, operation.Call{},
			problem.Wrap(err, problem.PlatformUnavailable, "the server answered with settings that cannot be decoded"))
	}
	return settings, nil
}
