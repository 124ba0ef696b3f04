package server

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/describe"
)

// WithEndpoints serves the routes below /manage that make, test and end the endpoints to which an account has its
// changes sent, and those of the account's settings: see [WithManaging]. Endpoints and deliveries are read below /v1 in
// any case.
func WithEndpoints() Option {
	return option{"WithEndpoints", func(c *config) error {
		return serveManaged(c, slices.Concat(endpointRoutes, settingRoutes))
	}}
}

var endpointRoutes = []managed{
	{putEndpoint, describe.Managed{
		Method: "PUT", Path: "/manage/endpoints/{name}", ID: "putEndpoint",
		Summary: "Create an endpoint, or change the one with that name",
		Doc: "A new endpoint gets the changes from then on; the answer shows its secret, only this once. An endpoint that " +
			"was disabled becomes active and continues at its position.",
		Body: reflect.TypeFor[endpointBody](), Answer: reflect.TypeFor[schema.MadeEndpoint](), Status: http.StatusOK,
		New: true,
	}},
	{newSecret, describe.Managed{
		Method: "POST", Path: "/manage/endpoints/{name}/secret", ID: "newEndpointSecret",
		Summary: "Give an endpoint a new secret",
		Doc:     "The answer shows it, only this once. The previous secret also signs for 24 hours.",
		Answer:  reflect.TypeFor[schema.MadeEndpoint](), Status: http.StatusOK,
	}},
	{testEndpoint, describe.Managed{
		Method: "POST", Path: "/manage/endpoints/{name}/test", ID: "testEndpoint", Summary: "Send a test to an endpoint",
		Doc:    "Sends one change of the type test now, without retries; the answer is the result.",
		Answer: reflect.TypeFor[schema.Delivery](), Status: http.StatusOK,
	}},
	{endEndpoint, describe.Managed{
		Method: "DELETE", Path: "/manage/endpoints/{name}", ID: "endEndpoint", Summary: "End an endpoint",
		Doc: "Its pending deliveries are removed.", Status: http.StatusNoContent,
	}},
	{deliverAgain, describe.Managed{
		Method: "POST", Path: "/manage/deliveries/{id}/again", ID: "deliverAgain", Summary: "Repeat a delivery",
		Doc:    "Whatever its result was, it is due at once, as if it had never been attempted.",
		Answer: reflect.TypeFor[schema.Delivery](),
		Status: http.StatusOK,
	}},
}

// endpointBody is the body of PUT /manage/endpoints/{name}.
type endpointBody struct {
	URL      string   `json:"url" min:"1" doc:"Where changes are sent; it begins with https://."`
	Types    []string `json:"types,omitempty" doc:"The types of changes to send; all types without it."`
	Monitors []string `json:"monitors,omitempty" doc:"The monitors whose changes to send; without it all, and changes that concern the account."`
}

// putEndpoint makes an endpoint, or changes the one with its name.
func putEndpoint(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	var body endpointBody
	if err := readBody(r, &body); err != nil {
		return err
	}
	made, secret, isNew, err := who.Endpoints().Make(r.Context(), socialdata.EndpointRequest{
		Name: r.PathValue("name"), URL: body.URL, Types: body.Types, Monitors: body.Monitors,
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
	}
	return writeMade(w, status, madeEndpoint(made, secret))
}

func madeEndpoint(e schema.Endpoint, secret string) schema.MadeEndpoint {
	made := schema.MadeEndpoint{Endpoint: e}
	if secret != "" {
		made.Secret = &secret
	}
	return made
}

func newSecret(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	e, secret, err := who.Endpoints().NewSecret(r.Context(), r.PathValue("name"))
	return cmp.Or(err, writeUnless(err, w, madeEndpoint(e, secret)))
}

func testEndpoint(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	d, err := who.Endpoints().Test(r.Context(), r.PathValue("name"))
	return cmp.Or(err, writeUnless(err, w, d))
}

func deliverAgain(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	d, err := who.Endpoints().Again(r.Context(), r.PathValue("id"))
	return cmp.Or(err, writeUnless(err, w, d))
}

func endEndpoint(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	err := who.Endpoints().End(r.Context(), r.PathValue("name"))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
