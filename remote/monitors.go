package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Monitors makes, pauses and ends the monitors of the key's account. The key must have the mark manage: without it
// every call is unauthorized. Changes are read with [Client.Changes].
func (c *Client) Monitors() Monitors { return Monitors{c} }

// Monitors are the monitors of one account. Every error of its methods is a *[problem.Error].
type Monitors struct{ client *Client }

// Make is like [socialdata.Monitors.Make].
func (m Monitors) Make(ctx context.Context, req socialdata.WatchRequest) (made schema.Monitor, isNew bool, err error) {
	every := ""
	if req.Every > 0 {
		every = req.Every.String()
	}
	body, err := json.Marshal(map[string]any{
		"operation": req.Operation, "platform": req.Platform, "params": req.Params, "every": every, "pages": req.Pages,
		"follow": req.Follow, "fields": req.Fields, "alerts": req.Alerts,
	})
	if err != nil {
		return made, false, problem.Wrap(err, problem.InvalidRequest, "the monitor cannot be written as JSON")
	}
	status, err := m.send(ctx, http.MethodPut, req.Name, "", body, &made)
	return made, status == http.StatusCreated, err
}

// List returns one page of the monitors, by name. It is [Client.ListMonitors].
func (m Monitors) List(
	ctx context.Context, req socialdata.MonitorsRequest,
) (*schema.Envelope[[]schema.Monitor], error) {
	return m.client.ListMonitors(ctx, req)
}

// Pause pauses the polls of a monitor until it is resumed.
func (m Monitors) Pause(ctx context.Context, name string) (out schema.Monitor, err error) {
	_, err = m.send(ctx, http.MethodPost, name, "/pause", nil, &out)
	return out, err
}

// Resume resumes the polls of a paused monitor.
func (m Monitors) Resume(ctx context.Context, name string) (out schema.Monitor, err error) {
	_, err = m.send(ctx, http.MethodPost, name, "/resume", nil, &out)
	return out, err
}

// End ends a monitor and removes its history. Its changes stay in the feed.
func (m Monitors) End(ctx context.Context, name string) error {
	_, err := m.send(ctx, http.MethodDelete, name, "", nil, nil)
	return err
}

// managing is the operation in problems of calls below /manage.
var managing = &operation.Operation{Name: "monitors", Func: "Monitors", Path: "/manage/monitors/{name}", Service: true}

// send makes a request about a monitor. It decodes the answer into out unless that is nil, and returns its status.
func (m Monitors) send(
	ctx context.Context, method, name, what string, body []byte, out *schema.Monitor,
) (status int, err error) {
	path := "/manage/monitors/" + url.PathEscape(name) + what
	if out == nil {
		status, err = m.client.change(ctx, method, path, body, nil, nil)
	} else {
		status, err = m.client.change(ctx, method, path, body, out, func() bool { return out.Name != "" })
	}
	return status, failed(ctx, managing, operation.Call{}, err)
}

// change makes a request below /manage that may be repeated, until it is answered. It decodes the answer into out
// unless that is nil, and returns its status. The function is reports whether out is the expected answer.
func (c *Client) change(
	ctx context.Context, method, path string, body []byte, out any, is func() bool,
) (status int, err error) {
	return c.changeOnce(ctx, "", method, path, body, out, is)
}

// changeOnce is like change, for a request that must not be handled twice: once is its idempotency key; "" sends none.
func (c *Client) changeOnce(
	ctx context.Context, once, method, path string, body []byte, out any, is func() bool,
) (status int, err error) {
	_, err = c.repeat(ctx, func() (*operation.Answer, error) {
		resp, answer, err := c.manage(ctx, once, method, path, body) //nolint:bodyclose // it is closed there
		if err != nil {
			return nil, err
		}
		status = resp.StatusCode
		switch {
		case status < 200 || status > 299:
			return nil, refusal(resp, answer)
		case out == nil:
			return nil, nil
		}
		if err := json.Unmarshal(answer, out); err != nil || !is() {
			return nil, problem.Wrap(errors.Join(err, errForeign), problem.PlatformUnavailable,
				"the server answered %d with an unexpected body; check its address", status)
		}
		return nil, nil
	})
	return status, err
}

// manage sends a request that changes something and reads its answer.
func (c *Client) manage(
	ctx context.Context, once, method, path string, body []byte,
) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, problem.New(problem.InvalidRequest, "the name cannot be part of a URL")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "socialdata-go")
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if once != "" {
		r.Header.Set("Idempotency-Key", once)
	}
	c.authorize(r.Header)
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, nil, silent(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, nil, silent(err)
	}
	return resp, answer, nil
}
