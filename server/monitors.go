package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/describe"
)

// WithMonitors serves the routes below /manage that create, pause and end the monitors of an account: see
// [WithManaging]. The monitors and their changes can be read below /v1 in any case.
func WithMonitors() Option {
	return option{"WithMonitors", func(c *config) error {
		return serveManaged(c, monitorRoutes)
	}}
}

var monitorRoutes = []managed{
	{putMonitor, describe.Managed{
		Method: "PUT", Path: "/manage/monitors/{name}", ID: "putMonitor",
		Summary: "Create a monitor, or change the one with that name",
		Doc: "Repeating the request changes nothing. With another operation, platform or parameters the monitor starts " +
			"over.",
		Body: reflect.TypeFor[monitorBody](), Answer: reflect.TypeFor[schema.Monitor](), Status: http.StatusOK, New: true,
	}},
	{pauseMonitor, describe.Managed{
		Method: "POST", Path: "/manage/monitors/{name}/pause", ID: "pauseMonitor", Summary: "Pause a monitor",
		Doc: "It does not poll until it is resumed.", Answer: reflect.TypeFor[schema.Monitor](), Status: http.StatusOK,
	}},
	{resumeMonitor, describe.Managed{
		Method: "POST", Path: "/manage/monitors/{name}/resume", ID: "resumeMonitor", Summary: "Resume a monitor",
		Doc: "It polls at once if a poll is due.", Answer: reflect.TypeFor[schema.Monitor](), Status: http.StatusOK,
	}},
	{endMonitor, describe.Managed{
		Method: "DELETE", Path: "/manage/monitors/{name}", ID: "endMonitor", Summary: "End a monitor",
		Doc: "Its history is removed; its changes stay in the feed.", Status: http.StatusNoContent,
	}},
}

// monitorBody is the body of PUT /manage/monitors/{name}.
type monitorBody struct {
	Operation string            `json:"operation" min:"1" doc:"The operation that is repeated, such as posts."`
	Platform  platform.ID       `json:"platform,omitempty" doc:"The platform; left out for a search of several platforms."`
	Params    map[string]string `json:"params,omitempty" doc:"The parameters of the operation."`
	Every     string            `json:"every,omitempty" doc:"The interval between polls, as a duration such as 15m; by default 15m, or the lifetime of answers if that is longer."`
	Pages     int               `json:"pages,omitempty" min:"1" max:"10" doc:"The maximum number of pages that a poll reads; 2 without it."`
	Follow    int               `json:"follow,omitempty" min:"0" max:"100" doc:"How many of the newest items are compared as well."`
	Fields    []string          `json:"fields,omitempty" doc:"The fields that are compared; all without it."`
	Alerts    []string          `json:"alerts,omitempty" doc:"The numbers that raise an alert, such as followers:5%."`
}

// putMonitor creates a monitor, or changes the one with its name.
func putMonitor(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	var body monitorBody
	if err := readBody(r, &body); err != nil {
		return err
	}
	req := socialdata.WatchRequest{
		Name: r.PathValue("name"), Operation: body.Operation, Platform: body.Platform, Params: body.Params,
		Pages: body.Pages, Follow: body.Follow, Fields: body.Fields, Alerts: body.Alerts,
	}
	if body.Every != "" {
		var err error
		if req.Every, err = time.ParseDuration(body.Every); err != nil || req.Every <= 0 {
			return problem.New(problem.InvalidRequest, "every must be a duration such as 30s, 15m or 24h")
		}
	}
	m, isNew, err := who.Monitors().Make(r.Context(), req)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
	}
	return writeMade(w, status, m)
}

func pauseMonitor(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	m, err := who.Monitors().Pause(r.Context(), r.PathValue("name"))
	return cmp.Or(err, writeUnless(err, w, m))
}

func resumeMonitor(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	m, err := who.Monitors().Resume(r.Context(), r.PathValue("name"))
	return cmp.Or(err, writeUnless(err, w, m))
}

func endMonitor(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	err := who.Monitors().End(r.Context(), r.PathValue("name"))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// writeUnless writes v, unless there is an error.
func writeUnless(err error, w http.ResponseWriter, v any) error {
	if err != nil {
		return nil
	}
	return writeMade(w, http.StatusOK, v)
}

// writeMade answers with what was created or changed.
func writeMade(w http.ResponseWriter, status int, v any) error {
	b, err := schema.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // fails if the caller is gone
	return nil
}

// readBody reads the body of a request, which must be one JSON object without fields that v does not have.
func readBody(r *http.Request, v any) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return problem.Wrap(err, problem.InvalidRequest, "the body of the request is incomplete; send it again")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = d.Decode(v); err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("it has more than one object")
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s cannot be a %s", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	return problem.Wrap(err, problem.InvalidRequest, "the body must be a JSON object: %v", err)
}
