package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Endpoints makes, tests and ends the endpoints of the key's account. The key must have the mark manage: without it
// every call is unauthorized. [Client.Deliveries] lists their deliveries.
func (c *Client) Endpoints() Endpoints { return Endpoints{c} }

// Endpoints are the endpoints of one account. Every error of its methods is a *[problem.Error].
type Endpoints struct{ client *Client }

// shownEndpoint is an endpoint with the secret that is shown once.
type shownEndpoint struct {
	schema.Endpoint

	Secret string `json:"secret"`
}

// Make is like [socialdata.Endpoints.Make]. When the answer to the first attempt is lost, the second one finds the
// endpoint and returns no secret: [Endpoints.NewSecret] makes a new one.
func (e Endpoints) Make(
	ctx context.Context, req socialdata.EndpointRequest,
) (made schema.Endpoint, secret string, isNew bool, err error) {
	body, err := json.Marshal(map[string]any{"url": req.URL, "types": req.Types, "monitors": req.Monitors})
	if err != nil {
		return made, "", false, problem.Wrap(err, problem.InvalidRequest, "the endpoint cannot be written as JSON")
	}
	var out shownEndpoint
	status, err := e.send(ctx, http.MethodPut, endpointPath(req.Name), body, &out, func() bool { return out.Name != "" })
	return out.Endpoint, out.Secret, status == http.StatusCreated, err
}

// List returns one page of the endpoints, by name. It is [Client.ListEndpoints].
func (e Endpoints) List(
	ctx context.Context, req socialdata.EndpointsRequest,
) (*schema.Envelope[[]schema.Endpoint], error) {
	return e.client.ListEndpoints(ctx, req)
}

// NewSecret is like [socialdata.Endpoints.NewSecret].
func (e Endpoints) NewSecret(ctx context.Context, name string) (of schema.Endpoint, secret string, err error) {
	var out shownEndpoint
	_, err = e.send(ctx, http.MethodPost, endpointPath(name)+"/secret", nil, &out, func() bool { return out.Secret != "" })
	return out.Endpoint, out.Secret, err
}

// Test is like [socialdata.Endpoints.Test].
func (e Endpoints) Test(ctx context.Context, name string) (out schema.Delivery, err error) {
	_, err = e.send(ctx, http.MethodPost, endpointPath(name)+"/test", nil, &out, func() bool { return out.ID != "" })
	return out, err
}

// Again is like [socialdata.Endpoints.Again].
func (e Endpoints) Again(ctx context.Context, delivery string) (out schema.Delivery, err error) {
	path := "/manage/deliveries/" + url.PathEscape(delivery) + "/again"
	_, err = e.send(ctx, http.MethodPost, path, nil, &out, func() bool { return out.ID != "" })
	return out, err
}

// End is like [socialdata.Endpoints.End].
func (e Endpoints) End(ctx context.Context, name string) error {
	_, err := e.send(ctx, http.MethodDelete, endpointPath(name), nil, nil, nil)
	return err
}

func endpointPath(name string) string { return "/manage/endpoints/" + url.PathEscape(name) }

// endpointing is the operation in problems of calls about endpoints.
var endpointing = &operation.Operation{
	Name: "endpoints", Func: "Endpoints", Path: "/manage/endpoints/{name}", Service: true,
}

// send makes a request about an endpoint, like [Client.change].
func (e Endpoints) send(ctx context.Context, method, path string, body []byte, out any, is func() bool) (int, error) {
	status, err := e.client.change(ctx, method, path, body, out, is)
	return status, failed(ctx, endpointing, operation.Call{}, err)
}
