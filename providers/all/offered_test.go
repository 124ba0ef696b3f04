package all

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// TestUnavailableOperationsNameOnlyTheirRoute calls every operation that a platform lacks, with identifiers that no platform
// uses: the answer names the route, and does not describe the form of such identifiers (D75).
func TestUnavailableOperationsNameOnlyTheirRoute(t *testing.T) {
	t.Parallel()
	client := clientWith(t, &http.Client{}, nil)
	lacking := 0
	for _, p := range platformsWith(t, nil) {
		for _, o := range p.Operations {
			if o.Available {
				continue
			}
			lacking++
			op := socialdata.Operation(o.Operation)
			for _, params := range odd(op) {
				_, err := socialdata.FrontEnd(client).Do(t.Context(), op, operation.Call{Platform: string(p.Platform), Params: params})
				enginetest.WantProblem(t, err, problem.PlatformUnavailable, op.On(string(p.Platform)).HTTP)
			}
		}
	}
	if lacking < len(platform.All()) {
		t.Errorf("only %d operations are lacking", lacking)
	}
}

// odd returns calls of an operation whose parameters have a valid form but are not identifiers of any platform: one for
// each parameter of which one is required, and one with a cursor that was never issued.
func odd(o *operation.Operation) []url.Values {
	const noIdentifier = "https://example.com/~/\u00bfque?"
	always, calls := url.Values{}, []url.Values{}
	for _, p := range o.Params {
		if p.Required {
			always.Set(p.Name, noIdentifier)
		}
	}
	for _, p := range o.Params {
		if p.OneOf {
			calls = append(calls, with(always, p.Name, noIdentifier))
		}
	}
	if len(calls) == 0 {
		calls = append(calls, always)
	}
	if o.Paged() {
		calls = append(calls, with(calls[0], "cursor", noIdentifier))
	}
	return calls
}

// with returns a copy of params with one more.
func with(params url.Values, name, value string) url.Values {
	out := maps.Clone(params)
	out.Set(name, value)
	return out
}

func TestNewIsInTheOrderOfThePlatformTable(t *testing.T) {
	t.Parallel()
	var got []platform.ID
	for _, p := range slices.Concat(New(Config{})...) {
		if p.Name != "scrapecreators" && !slices.Contains(got, p.Platform) {
			got = append(got, p.Platform)
		}
	}
	var want []platform.ID
	for _, p := range platform.All() {
		want = append(want, p.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}
