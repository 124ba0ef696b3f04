package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// WithMonitors serves what makes, pauses and ends the monitors of an account, below /manage: see [WithManaging]. What they
// are and what they tell is read below /v1 in any case.
func WithMonitors() Option {
	return option{"WithMonitors", func(c *config) error {
		var failed error
		for pattern, h := range map[string]Managing{
			"PUT /manage/monitors/{name}":         putMonitor,
			"POST /manage/monitors/{name}/pause":  pauseMonitor,
			"POST /manage/monitors/{name}/resume": resumeMonitor,
			"DELETE /manage/monitors/{name}":      endMonitor,
		} {
			failed = errors.Join(failed, WithManaging(pattern, h).apply(c))
		}
		return failed
	}}
}

// monitorBody is the body of PUT /manage/monitors/{name}.
type monitorBody struct {
	Operation string            `json:"operation"`
	Platform  platform.ID       `json:"platform"`
	Params    map[string]string `json:"params"`
	Every     string            `json:"every"`
	Pages     int               `json:"pages"`
	Follow    int               `json:"follow"`
	Fields    []string          `json:"fields"`
	Alerts    []string          `json:"alerts"`
}

// putMonitor makes a monitor, or changes the one of its name.
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

// writeUnless writes what there is, unless it could not be had.
func writeUnless(err error, w http.ResponseWriter, v any) error {
	if err != nil {
		return nil
	}
	return writeMade(w, http.StatusOK, v)
}

// writeMade answers with what was made or changed.
func writeMade(w http.ResponseWriter, status int, v any) error {
	b, err := schema.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a caller who has gone reads it below /v1
	return nil
}

// readBody reads the one JSON object that the body of a request must be, without fields that v does not have.
func readBody(r *http.Request, v any) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return problem.Wrap(err, problem.InvalidRequest, "the body of the request did not arrive whole; send it again")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = d.Decode(v); err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("there is more than one object in it")
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s cannot be a %s", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	return problem.Wrap(err, problem.InvalidRequest, "the body must be a JSON object: %v", err)
}
