package remote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Keys makes, changes, rotates and revokes the keys of the account of the client's key, which must have the mark
// manage: without it every call is unauthorized.
func (c *Client) Keys() Keys { return Keys{c} }

// Keys are the keys of one account. Every error of its methods is a *[problem.Error].
type Keys struct{ client *Client }

// Make is like [socialdata.Keys.Make]. When the answer to the first attempt is lost, the Secret of the new key is nil:
// [Keys.Rotate] gives it another one. A name with a slash is not_found, because it cannot be part of a path.
func (k Keys) Make(
	ctx context.Context, req socialdata.KeyRequest,
) (made schema.MadeKey, isNew bool, err error) {
	made, status, err := k.send(ctx, http.MethodPut, keyPath(req.Name), bodyOf(req))
	return made, status == http.StatusCreated, err
}

// Change is like [socialdata.Keys.Change].
func (k Keys) Change(ctx context.Context, id string, req socialdata.KeyRequest) (out schema.Key, err error) {
	changed, _, err := k.send(ctx, http.MethodPost, keyPath(id), bodyOf(req))
	return changed.Key, err
}

// List returns one page of the keys, oldest first. It is [Client.ListKeys].
func (k Keys) List(ctx context.Context, req socialdata.KeysRequest) (*schema.Envelope[[]schema.Key], error) {
	return k.client.ListKeys(ctx, req)
}

// Rotate is like [socialdata.Keys.Rotate]. When the answer to the first attempt is lost, the Secret is nil: the key has
// a new one that no one knows, and the previous one is accepted for overlap.
func (k Keys) Rotate(ctx context.Context, id string, overlap time.Duration) (out schema.MadeKey, err error) {
	out, _, err = k.send(ctx, http.MethodPost, keyPath(id)+"/rotate", map[string]any{"overlap": overlap.String()})
	return out, err
}

// Revoke is like [socialdata.Keys.Revoke].
func (k Keys) Revoke(ctx context.Context, id string) (out schema.Key, err error) {
	revoked, _, err := k.send(ctx, http.MethodDelete, keyPath(id), nil)
	return revoked.Key, err
}

func keyPath(nameOrID string) string { return "/manage/keys/" + url.PathEscape(nameOrID) }

// bodyOf returns the body of a request that makes or changes a key.
func bodyOf(req socialdata.KeyRequest) map[string]any {
	body := map[string]any{"manage": req.Manage}
	if req.Environment != "" {
		body["environment"] = req.Environment
	}
	if req.DayCap != nil {
		body["day_cap"] = *req.DayCap
	}
	if req.TotalCap != nil {
		body["total_cap"] = *req.TotalCap
	}
	if req.Rate != nil {
		body["rate"] = schema.KeyRate{Capacity: req.Rate.Capacity, RefillPerS: req.Rate.Refill}
	}
	return body
}

// keying is the operation in problems of calls about keys.
var keying = &operation.Operation{Name: "keys", Func: "Keys", Path: "/manage/keys/{name}", Service: true}

// send makes a request about a key, which the service handles once, however often it is repeated: a key that is
// rotated twice loses the secret that is in use.
func (k Keys) send(
	ctx context.Context, method, path string, body map[string]any,
) (out schema.MadeKey, status int, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return out, 0, failed(ctx, keying, operation.Call{},
				problem.Wrap(err, problem.InvalidRequest, "the key cannot be written as JSON"))
		}
	}
	once := ""
	if k.client.retries >= 0 {
		once = rand.Text()
	}
	status, err = k.client.changeOnce(ctx, once, method, path, text, &out, func() bool { return out.ID != "" })
	return out, status, failed(ctx, keying, operation.Call{}, err)
}
