package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Change makes a change of a row of [socialdata.Changes], and repeats it until it is answered. Every error is a
// *[problem.Error].
func (c *Client) Change(
	ctx context.Context, change *operation.Change, target string, body any,
) (answer any, isNew bool, err error) {
	answer, isNew, err = c.change(ctx, change, target, body)
	about := &operation.Operation{Name: change.Group(), Path: change.Path, Service: true}
	return answer, isNew, failed(ctx, about, operation.Call{}, err)
}

func (c *Client) change(
	ctx context.Context, change *operation.Change, target string, body any,
) (answer any, isNew bool, err error) {
	var text []byte
	if change.Body != nil {
		if text, err = json.Marshal(body); err != nil {
			return nil, false, problem.Wrap(err, problem.InvalidRequest, "the body of %s cannot be written as JSON", change.Name)
		}
	}
	key := ""
	if change.Once && c.retries >= 0 {
		key = rand.Text()
	}
	if change.Answer != nil {
		answer = reflect.New(change.Answer).Interface()
	}
	file, isFile := body.(*operation.File)
	attempts := c.repeat
	if isFile { // it can be read once
		attempts = func(_ context.Context, attempt func() (*operation.Answer, error)) (*operation.Answer, error) {
			return attempt()
		}
	}
	_, err = attempts(ctx, func() (*operation.Answer, error) {
		sent := io.Reader(bytes.NewReader(text))
		if isFile {
			sent = file.Lines
		}
		resp, b, err := c.send(ctx, change, target, key, sent, file) //nolint:bodyclose // it is closed there
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			return nil, refusal(resp, b)
		}
		isNew = resp.StatusCode == http.StatusCreated
		if answer != nil {
			if err := decodeChanged(b, answer); err != nil {
				return nil, problem.Wrap(errors.Join(err, errForeign), problem.PlatformUnavailable,
					"the server answered %d with an unexpected body; check its address", resp.StatusCode)
			}
		}
		return nil, nil
	})
	return answer, isNew, err
}

// decodeChanged decodes the answer to a change. An object without the first member of the type is not one.
func decodeChanged(b []byte, answer any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	first := schema.Fields(reflect.TypeOf(answer).Elem())[0].Name
	if members[first] == nil {
		return errors.New("it has no " + first)
	}
	return json.Unmarshal(b, answer)
}

// send sends the request of a change and reads its answer. Sending a file, if it is one, has no time limit but ctx.
func (c *Client) send(
	ctx context.Context, change *operation.Change, target, key string, body io.Reader, file *operation.File,
) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, change.Method, c.base+change.At(target), body)
	if err != nil {
		return nil, nil, problem.New(problem.InvalidRequest, "the name cannot be part of a URL")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", operation.UserAgent)
	caller := c.http
	switch {
	case file != nil:
		patient := *c.http
		patient.Timeout = 0
		caller = &patient
		r.Header.Set("Content-Type", operation.Lines)
		r.URL.RawQuery = file.Pairs.Values().Encode()
	case r.ContentLength > 0:
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	c.authorize(r.Header)
	resp, err := caller.Do(r)
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
