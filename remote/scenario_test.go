package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/socialdatatest"
)

// step is a call of clients/scenario.json, which the tests of all clients make, and what it is expected to answer.
type step struct {
	Name    string
	Sandbox string // the header X-Sandbox of every request
	Method  string // of a route below /manage
	Path    string
	Params  map[string]any
	Body    json.RawMessage
	Pages   int            // how many are read; 0 for one answer
	Want    map[string]any // by path; "*" means anything except null, null means null or absent
	Problem *struct {
		Code   problem.Code
		Status int
	}
}

// TestTheScenarioOfAllClients makes the calls of the scenario to a sandbox.
func TestTheScenarioOfAllClients(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../clients/scenario.json")
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	if err := json.Unmarshal(b, &steps); err != nil {
		t.Fatal(err)
	}
	s := socialdatatest.Start(t)
	for _, step := range steps {
		answers, err := step.call(t, s)
		if want := step.Problem; want != nil {
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != want.Code || p.HTTPStatus() != want.Status {
				t.Errorf("%s: %v, want %v", step.Name, err, *want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", step.Name, err)
			continue
		}
		ids := map[any]bool{}
		for _, answer := range answers {
			for path, want := range step.Want {
				got := member(answer, path)
				if want == "*" && got != nil {
					continue
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", step.Name, path, diff)
				}
			}
			if step.Pages > 0 {
				for _, object := range member(answer, "data").([]any) {
					id := member(object, "id")
					if ids[id] {
						t.Errorf("%s: %v comes twice", step.Name, id)
					}
					ids[id] = true
				}
			}
		}
		if len(answers) != max(1, step.Pages) {
			t.Errorf("%s: %d pages; want %d", step.Name, len(answers), max(1, step.Pages))
		}
	}
}

// asking adds the header X-Sandbox to requests.
type asking string

func (a asking) RoundTrip(r *http.Request) (*http.Response, error) {
	if a != "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Sandbox", string(a))
	}
	return http.DefaultTransport.RoundTrip(r) //nolint:forbidigo // of a test
}

// call makes the call and returns its answer, or its pages, as decoded JSON.
func (s step) call(t *testing.T, sandbox *socialdatatest.Server) (answers []any, err error) {
	t.Helper()
	client, err := remote.New(sandbox.URL, remote.Config{
		Key: sandbox.Key, HTTPClient: &http.Client{Transport: asking(s.Sandbox)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Method != "" {
		changes := socialdata.Changes()
		i := slices.IndexFunc(changes, func(c *operation.Change) bool {
			return strings.EqualFold(c.Method, s.Method) && c.Path == s.Path
		})
		answer, _, err := client.Change(t.Context(), changes[i], fmt.Sprint(s.Params[changes[i].Target()]), s.Body)
		return []any{decoded(t, answer)}, err
	}
	call := operation.Call{Params: map[string][]string{}}
	for name, value := range s.Params {
		text := fmt.Sprint(value)
		if list, ok := value.([]any); ok {
			text = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ","), "[]")
		}
		if name == "platform" {
			call.Platform = text
			continue
		}
		call.Params[name] = []string{text}
	}
	rows := socialdata.Operations()
	i := slices.IndexFunc(rows, func(o *operation.Operation) bool { return o.Path == s.Path })
	for range max(1, s.Pages) {
		answer, err := client.Do(t.Context(), rows[i], call)
		if err != nil {
			return answers, err
		}
		if rows[i].Bare {
			return []any{decoded(t, answer.Data)}, nil
		}
		answers = append(answers, decoded(t, map[string]any{"data": answer.Data, "meta": answer.Meta}))
		next, _ := member(answers[len(answers)-1], "meta.next_cursor").(string)
		call.Params["cursor"] = []string{next}
	}
	return answers, nil
}

// decoded returns v as what its JSON decodes to.
func decoded(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// member returns the value at a path, such as data.0.id; nil if there is none.
func member(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}
