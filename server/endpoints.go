package server

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/schema"
)

// WithEndpoints serves what makes, tries and ends the endpoints to which an account has its changes sent, below /manage: see
// [WithManaging]. They and their deliveries are read below /v1 in any case.
func WithEndpoints() Option {
	return option{"WithEndpoints", func(c *config) error {
		var failed error
		for pattern, h := range map[string]Managing{
			"PUT /manage/endpoints/{name}":         putEndpoint,
			"POST /manage/endpoints/{name}/secret": newSecret,
			"POST /manage/endpoints/{name}/test":   testEndpoint,
			"DELETE /manage/endpoints/{name}":      endEndpoint,
			"POST /manage/deliveries/{id}/again":   deliverAgain,
		} {
			failed = errors.Join(failed, WithManaging(pattern, h).apply(c))
		}
		return failed
	}}
}

// endpointBody is the body of PUT /manage/endpoints/{name}.
type endpointBody struct {
	URL      string   `json:"url"`
	Types    []string `json:"types"`
	Monitors []string `json:"monitors"`
}

// shownSecret is an endpoint with its secret, which is shown once.
type shownSecret struct {
	schema.Endpoint

	Secret string `json:"secret,omitempty"`
}

// putEndpoint makes an endpoint, or changes the one of its name.
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
	return writeMade(w, status, shownSecret{made, secret})
}

func newSecret(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	e, secret, err := who.Endpoints().NewSecret(r.Context(), r.PathValue("name"))
	return cmp.Or(err, writeUnless(err, w, shownSecret{e, secret}))
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
