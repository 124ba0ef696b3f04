package socialdata_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/appstore"
)

// stores answers look-ups of an app with the country of the store that was asked.
type stores struct{ asked []string }

func (s *stores) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.URL.Query().Get("country")
	s.asked = append(s.asked, in)
	body := `{"resultCount":0,"results":[]}`
	if in != "aq" {
		body = `{"resultCount":1,"results":[{"wrapperType":"software","kind":"software","trackId":7,"bundleId":"com.example.app",
			"trackName":"` + in + `","artistId":9,"trackViewUrl":"https://apps.apple.com/` + in + `/app/x/id7"}]}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
		Request: r,
	}, nil
}

func TestCountriesInIdentifiersEqualTheParameter(t *testing.T) {
	t.Parallel()
	upstream := &stores{}
	client, err := socialdata.New(socialdata.WithProviders(
		appstore.New(appstore.Config{HTTP: &http.Client{Transport: upstream}}),
	))
	if err != nil {
		t.Fatal(err)
	}
	call := func(params string) (*operation.Answer, error) {
		values, err := url.ParseQuery(params)
		if err != nil {
			t.Fatal(err)
		}
		return socialdata.FrontEnd(client).Do(t.Context(), socialdata.Operation("profile"), operation.Call{Platform: "appstore", Params: values})
	}
	tag := ""
	for _, params := range []string{
		"handle=7&region=SA", "handle=7&region=sa", "handle=sa:7", "handle=SA:7", "handle=https://apps.apple.com/sa/app/x/id7",
		"handle=https://apps.apple.com/sa/app/x/id7&region=SA", "handle=sa:7&region=SA", "handle=https://apps.apple.com/app/x/id7&region=SA",
	} {
		answer, err := call(params)
		if err != nil {
			t.Errorf("%s: %v; want an answer", params, err)
			continue
		}
		if !strings.Contains(string(answer.Data), `"id":"sa:7"`) || tag != "" && answer.Tag != tag {
			t.Errorf("%s: %s with the tag %s, want %s", params, answer.Data, answer.Tag, tag)
		}
		tag = answer.Tag
	}
	for _, params := range []string{"handle=7", "handle=us:7", "handle=7&region=US", "handle=https://apps.apple.com/us/app/x/id7"} {
		if answer, err := call(params); err != nil || !strings.Contains(string(answer.Data), `"id":"7"`) {
			t.Errorf("%s: %v, %v; want the id 7", params, answer, err)
		}
	}
	if got := strings.Join(upstream.asked, " "); got != "sa us" {
		t.Errorf("the stores %s were asked, want each once", got)
	}
	for params, want := range map[string]problem.Code{
		"handle=sa:7&region=DE": problem.InvalidRequest, "handle=us:7&region=DE": problem.InvalidRequest,
		"handle=https://apps.apple.com/us/app/x/id7&region=SA": problem.InvalidRequest, "handle=7&region=XX": problem.InvalidRequest,
		"handle=7&region=USA": problem.InvalidRequest, "handle=aq:7": problem.NotFound,
	} {
		answer, err := call(params)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, %v, want %s", params, answer, err, want)
		}
		if want == problem.NotFound && (err == nil || !strings.Contains(err.Error(), "AQ")) {
			t.Errorf("%s: %v does not name the store", params, err)
		}
	}
}
