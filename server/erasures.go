package server

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/describe"
)

// erasuresPath is the path at which the operator erases.
const erasuresPath = "/manage/erasures"

// WithErasures serves POST /manage/erasures, which erases what is stored about a person, and GET /manage/erasures,
// which lists the receipts, to the requests that may allows. An error of may is answered like one of [Auth]. Both are
// for the operator only, since an erasure concerns all accounts. By default neither is served.
func WithErasures(may func(*http.Request) error) Option {
	return option{"WithErasures", func(c *config) error {
		if may == nil {
			return errors.New("may is nil: pass a function that decides who may erase")
		}
		c.mayErase = may
		c.described = append(c.described, erasureRoutes...)
		return nil
	}}
}

var erasureRoutes = []describe.Managed{
	{
		Method: "POST", Path: erasuresPath, ID: "eraseSubject", Operator: true,
		Summary: "Erase what is stored about a person or an object",
		Doc:     "It erases from the data of all accounts. The answer has the receipt in the envelope of the API.",
		Body:    reflect.TypeFor[erasureBody](), Status: http.StatusOK,
	},
	{
		Method: "GET", Path: erasuresPath, ID: "listErasures", Summary: "List the receipts of erasures", Operator: true,
		Status: http.StatusOK, Query: []string{"after"},
	},
}

// erasureBody is the body of POST /manage/erasures.
type erasureBody struct {
	Platform platform.ID `json:"platform,omitempty" doc:"The platform; left out with url."`
	Handle   string      `json:"handle,omitempty" doc:"The handle of the account to erase."`
	ID       string      `json:"id,omitempty" doc:"The id of the object to erase."`
	URL      string      `json:"url,omitempty" doc:"The public URL of the account or object to erase."`
	Block    bool        `json:"block,omitempty" doc:"Whether to block later reads of it as well."`
	Reason   string      `json:"reason,omitempty" doc:"The reason, for the receipt."`
	DryRun   bool        `json:"dry_run,omitempty" doc:"Whether to count what would be erased, without erasing it."`
}

// erasures answers a request at erasuresPath.
func (s *Server) erasures(rw http.ResponseWriter, r *http.Request) {
	w := rw.(*response)
	w.set("Cache-Control", "no-store")
	data, err := s.erasure(w, r)
	var body []byte
	if err == nil {
		body, err = schema.Marshal(struct {
			Data any         `json:"data"`
			Meta schema.Meta `json:"meta"`
		}{data, schema.Meta{Cache: schema.Miss, RequestID: requestID(r)}})
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.write(w, r, http.StatusOK, "application/json", body)
}

// erasure erases, or lists receipts.
func (s *Server) erasure(w *response, r *http.Request) (data any, err error) {
	if err := s.mayErase(r); err != nil {
		return nil, err
	}
	switch r.Method {
	case http.MethodPost:
		in, err := readErasure(r)
		if err != nil {
			return nil, err
		}
		return s.client.Erase(r.Context(), socialdata.EraseRequest{
			Platform: in.Platform, Handle: in.Handle, ID: in.ID, URL: in.URL, Block: in.Block, Reason: in.Reason,
			DryRun: in.DryRun, By: "http",
		})
	case http.MethodGet, http.MethodHead:
		after := int64(0)
		if given := r.URL.Query().Get("after"); given != "" {
			if after, err = strconv.ParseInt(given, 10, 64); err != nil {
				return nil, problem.New(problem.InvalidRequest, "parameter \"after\" must be the number of a receipt")
			}
		}
		return s.client.Erasures(r.Context(), after, receiptsPage)
	}
	w.set("Allow", "GET, HEAD, POST")
	return nil, &problem.Error{
		Code: problem.InvalidRequest, Status: http.StatusMethodNotAllowed, Detail: "only GET and POST are allowed here",
	}
}

// receiptsPage is the maximum number of receipts in one answer.
const receiptsPage = 500

// readErasure reads the body of a request. An unknown field is an error, because it could be a mistyped dry_run.
func readErasure(r *http.Request) (in erasureBody, err error) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, problem.Wrap(err, problem.InvalidRequest,
			"the body must be a JSON object with platform and one of handle, id and url, "+
				"and may have block, reason and dry_run: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in, problem.New(problem.InvalidRequest, "the body must be one JSON object")
	}
	return in, nil
}
