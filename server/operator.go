package server

import (
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// WithOperator serves what the operator manages, to the requests that may allows: /manage/accounts, and
// /manage/erasures, which erases what is stored about a person and lists the receipts. An error of may is answered like
// one of [Auth]. Both concern all accounts, so no API key allows them. By default neither is served.
func WithOperator(may func(*http.Request) error) Option {
	return option{"WithOperator", func(c *config) error {
		if may == nil {
			return errors.New("may is nil: pass a function that decides who may manage all accounts")
		}
		c.mayOperate, c.operated = may, map[string]bool{}
		var failed error
		for _, change := range socialdata.Changes() {
			if change.Operator {
				failed = errors.Join(failed, c.operate(change, c.changing(change)))
			}
		}
		for i, h := range []Managing{erase, listErasures} {
			failed = errors.Join(failed, c.operate(erasures[i], h))
		}
		return failed
	}}
}

// operate serves a row of the operator.
func (c *config) operate(row *operation.Change, h Managing) error {
	c.operated[row.Group()] = true
	c.changes = append(c.changes, row)
	return WithManaging(row.Method+" "+row.Path, h).apply(c)
}

// forOperator reports whether a path below /manage is for the operator.
func (s *Server) forOperator(path string) bool {
	group, _, _ := strings.Cut(strings.TrimPrefix(path, managePath), "/")
	return s.operated[group]
}

const erasuresPath = "/manage/erasures"

// erasures are the rows of erasing, whose answers are envelopes.
var erasures = []*operation.Change{
	{
		Name: "eraseSubject", Method: "POST", Path: erasuresPath, Operator: true,
		Summary: "Erase what is stored about a person or an object",
		Doc:     "It erases from the data of all accounts. The answer has the receipt in the envelope of the API.",
		Body:    reflect.TypeFor[schema.EraseRequest](),
		Example: `{"platform": "mock", "handle": "salma", "dry_run": true}`,
	},
	{
		Name: "listErasures", Method: "GET", Path: erasuresPath, Operator: true, Summary: "List the receipts of erasures",
		Query: "after", QueryDoc: "Where the page starts: the number of the last receipt before it.",
	},
}

// erase erases and answers with the receipt.
func erase(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	in := schema.EraseRequest{By: "http"}
	if err := readBody(r, &in); err != nil {
		return err
	}
	receipt, err := who.Operator().Erase(r.Context(), in)
	if err != nil {
		return err
	}
	return writeEnvelope(w, r, receipt)
}

// receiptsPage is the maximum number of receipts in one answer.
const receiptsPage = 500

// listErasures lists receipts.
func listErasures(w http.ResponseWriter, r *http.Request, who *socialdata.Client) (err error) {
	after := int64(0)
	if given := r.URL.Query().Get("after"); given != "" {
		if after, err = strconv.ParseInt(given, 10, 64); err != nil {
			return problem.New(problem.InvalidRequest, "parameter \"after\" must be the number of a receipt")
		}
	}
	receipts, err := who.Operator().Erasures(r.Context(), after, receiptsPage)
	if err != nil {
		return err
	}
	return writeEnvelope(w, r, receipts)
}

// writeEnvelope answers with data in the envelope of the API.
func writeEnvelope(w http.ResponseWriter, r *http.Request, data any) error {
	return writeMade(w, http.StatusOK, struct {
		Data any         `json:"data"`
		Meta schema.Meta `json:"meta"`
	}{data, schema.Meta{Cache: schema.Miss, RequestID: requestID(r)}})
}
