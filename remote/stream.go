package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/cenkalti/backoff/v5"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// stream makes a call that answers with server-sent events. Until the first event, it is repeated if the service has
// refused it temporarily, which is not charged.
func (c *Client) stream(
	ctx context.Context, o *operation.Operation, call operation.Call, yield func(operation.Event) bool,
) error {
	_, err := c.repeat(ctx, func() (*operation.Answer, error) {
		r, err := c.request(ctx, o, call)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Accept", "text/event-stream")
		resp, err := c.http.Do(r)
		if err != nil {
			return nil, lost(silent(err)) // a problem: the stream may have been charged, and so is not repeated
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
			if err != nil {
				return nil, lost(silent(err))
			}
			return nil, refusal(resp, body)
		}
		if err := events(io.LimitReader(resp.Body, maxAnswer), yield); err != nil {
			return nil, backoff.Permanent(err) // the caller has received a part of it
		}
		return nil, nil
	})
	return err
}

// events calls yield with each event of a stream.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func events(body io.Reader, yield func(operation.Event) bool) error {
	lines, name := bufio.NewReader(body), ""
	var data []byte
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return lost(errors.New("the stream broke off"))
		}
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(field) == "event":
			name = string(value)
		case string(field) == "data":
			data = append(data, value...)
		case len(line) == 0 && name != "":
			over, err := deliver(name, data, yield)
			if over || err != nil {
				return err
			}
			name, data = "", nil
		}
	}
}

// deliver passes one event to yield. over reports that it is the last one.
func deliver(name string, data []byte, yield func(operation.Event) bool) (over bool, err error) {
	var said struct {
		Platform platform.ID
		State    schema.PlatformState
		Meta     *schema.Meta
	}
	switch name {
	case "result":
		return !yield(operation.Event{Result: data}), nil
	case "error":
		p := new(problem.Error)
		if err := json.Unmarshal(data, p); err != nil {
			return true, lost(err)
		}
		return true, p
	case "platform", "done":
		if err := json.Unmarshal(data, &said); err != nil {
			return true, lost(err)
		}
		more := yield(operation.Event{Platform: said.Platform, State: said.State, Meta: said.Meta})
		return !more || name == "done", nil
	}
	return false, nil // an event of a later version
}
