package server

import (
	"net/http"
	"reflect"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/describe"
)

// WithKeys serves the routes below /manage that make, change, rotate and revoke the keys of an account: see
// [WithManaging]. The keys are listed below /v1 in any case.
func WithKeys() Option {
	return option{"WithKeys", func(c *config) error {
		return serveManaged(c, keyRoutes)
	}}
}

var keyRoutes = []managed{
	{putKey, describe.Managed{
		Method: "PUT", Path: "/manage/keys/{name}", ID: "putKey", Summary: "Create a key, or change the one with that name",
		Doc: "The answer shows a new key, only this once. A limit that is left out is as high as the operator of the " +
			"service allows; no limit can be higher.",
		Body: reflect.TypeFor[keyBody](), Answer: reflect.TypeFor[schema.MadeKey](), Status: http.StatusOK, New: true,
	}},
	{changeKey, describe.Managed{
		Method: "POST", Path: "/manage/keys/{id}", ID: "changeKey", Summary: "Change the key with an id",
		Doc:  "Sets its limits and its mark as PUT does; its name stays the same.",
		Body: reflect.TypeFor[keyBody](), Answer: reflect.TypeFor[schema.Key](), Status: http.StatusOK,
	}},
	{rotateKey, describe.Managed{
		Method: "POST", Path: "/manage/keys/{id}/rotate", ID: "rotateKey", Summary: "Give a key a new value",
		Doc: "The answer shows it, only this once. The previous value works until the overlap ends. Everything else about " +
			"the key stays, including what was spent of its caps.",
		Body: reflect.TypeFor[rotateBody](), Optional: true, Answer: reflect.TypeFor[schema.MadeKey](), Status: http.StatusOK,
	}},
	{revokeKey, describe.Managed{
		Method: "DELETE", Path: "/manage/keys/{id}", ID: "revokeKey", Summary: "Revoke a key for good",
		Doc: "It is refused from the next call.", Answer: reflect.TypeFor[schema.Key](), Status: http.StatusOK,
	}},
}

// keyBody is the body of PUT /manage/keys/{name} and POST /manage/keys/{id}.
type keyBody struct {
	Environment schema.KeyEnvironment `json:"environment,omitempty" doc:"The environment of a new key, which cannot be changed later; live without it."`
	Manage      bool                  `json:"manage,omitempty" doc:"Whether the key can also manage the account."`
	DayCap      *int64                `json:"day_cap,omitempty" min:"0" doc:"Credits that it may spend in one UTC day."`
	TotalCap    *int64                `json:"total_cap,omitempty" min:"0" doc:"Credits that it may spend in total."`
	Rate        *schema.KeyRate       `json:"rate,omitempty" doc:"How often it may call."`
}

// rotateBody is the body of POST /manage/keys/{id}/rotate.
type rotateBody struct {
	Overlap string `json:"overlap,omitempty" doc:"How long the previous value works: a duration such as 24h, at most 720h; 24h without it."`
}

// readKey reads a keyBody.
func readKey(r *http.Request) (req socialdata.KeyRequest, err error) {
	var body keyBody
	if err := readBody(r, &body); err != nil {
		return req, err
	}
	req = socialdata.KeyRequest{
		Environment: keys.Environment(body.Environment), DayCap: body.DayCap, TotalCap: body.TotalCap, Manage: body.Manage,
	}
	if body.Rate != nil {
		req.Rate = &keys.Rate{Capacity: body.Rate.Capacity, Refill: body.Rate.RefillPerS}
	}
	return req, nil
}

func changeKey(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	req, err := readKey(r)
	if err != nil {
		return err
	}
	k, err := who.Keys().Change(r.Context(), r.PathValue("id"), req)
	if err != nil {
		return err
	}
	return writeMade(w, http.StatusOK, k)
}

func putKey(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	req, err := readKey(r)
	if err != nil {
		return err
	}
	req.Name = r.PathValue("name")
	made, isNew, err := who.Keys().Make(r.Context(), req)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
	}
	return writeMade(w, status, made)
}

// usualOverlap is the default overlap of a rotation.
const usualOverlap = 24 * time.Hour

func rotateKey(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	var body rotateBody
	if r.ContentLength != 0 {
		if err := readBody(r, &body); err != nil {
			return err
		}
	}
	overlap := usualOverlap
	if body.Overlap != "" {
		var err error
		if overlap, err = time.ParseDuration(body.Overlap); err != nil {
			return problem.New(problem.InvalidRequest, "overlap must be a duration such as 0s, 15m or 24h")
		}
	}
	made, err := who.Keys().Rotate(r.Context(), r.PathValue("id"), overlap)
	if err != nil {
		return err
	}
	return writeMade(w, http.StatusOK, made)
}

func revokeKey(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	k, err := who.Keys().Revoke(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeMade(w, http.StatusOK, k)
}
