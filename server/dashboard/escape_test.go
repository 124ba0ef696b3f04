package dashboard

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
)

// hostile closes an attribute, an element and a script.
const hostile = `"'><script>alert(1)</script><a href="javascript:x" onclick='y'>&amp;</title>`

// TestTextsCannotBecomeMarkup shows pages with a hostile text as a title, in an element, in an attribute and in an
// address.
func TestTextsCannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	harmless := pagesWith("x")
	for name, p := range pagesWith(hostile) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsed(t, whole(frame{Title: hostile, Own: hostile, Data: p}))
			want := parsed(t, whole(frame{Title: "x", Own: "x", Data: harmless[name]}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the elements of the page and their attributes (-harmless +hostile):\n%s", diff)
			}
		})
	}
}

// pagesWith returns pages that show a text wherever they show one of others.
func pagesWith(text string) map[string]page {
	account := keys.Account{ID: text, Name: text}
	monitor := schema.Monitor{
		Name: text, Operation: text, Platform: &text, Params: map[string]string{text: text}, Every: text, Fields: []string{text},
		Alerts: []string{text}, State: text, Problem: &schema.MonitorProblem{Code: text, Detail: text},
	}
	endpoint := schema.Endpoint{
		Name: text, URL: text, Types: []string{text}, Monitors: []string{text}, State: text, Detail: &text,
	}
	changed := schema.Change{
		ID: text, Monitor: &text, Type: text, Key: &text, Fields: []schema.FieldChange{{Field: text, Before: []byte(text)}},
	}
	delivery := schema.Delivery{ID: text, Endpoint: text, Type: text, State: text, Detail: &text, Seq: 1}
	sent := deliveries{FormID: text, Account: text, Next: text, List: tableOf(text, delivery)}
	job := schema.BulkJob{ID: text, State: text, WaitingFor: &text}
	call := schema.Resolved{Platform: platform.ID(text), Operation: text, Params: map[string]string{"handle": text}}
	points := []schema.HistoryPoint{{Value: 1}, {Value: 2, At: time.Unix(0, 0)}}
	return map[string]page{
		"calls": calls{Account: text, Calls: tableOf(text, requests.Request{ID: text, Key: text, Code: text, Detail: text})},
		"call": callPage{
			Request: requests.Request{ID: text, Account: text, Code: text, Detail: text}, Why: text,
			Asked: []requests.Provider{{Name: text, Cause: text}},
		},
		"problem":  problemPage{text},
		"login":    loginPage{text},
		"account":  accountPage{FormID: text, Sent: sentForm{"give", url.Values{"credits": {text}}, "credits", text}, Account: account, Keys: tableOf(text, keys.Key{ID: text, Name: text})},
		"key":      keyPage{Secret: text, Account: account, Base: text},
		"change":   changePage{Account: account, Key: keys.Key{ID: text, Name: text}},
		"monitors": monitorsPage{Account: account, Monitors: tableOf(text, monitor)},
		"found": foundPage{
			FormID: text, Account: account, URL: text, Payers: []keys.Key{{ID: text, Name: text}},
			Choices: []choice{
				{Resolved: call, ID: text, Name: text, Quotes: []schema.Monitor{monitor}},
				{Resolved: call, ID: text, Name: text, Quotes: []schema.Monitor{monitor}, Field: "every", Problem: text, Every: text},
				{Resolved: call, ID: text, Name: text, Quotes: []schema.Monitor{monitor}, Field: "name", Problem: text, Key: text},
			},
			Others: []schema.Resolved{{Operation: text, Reason: &text}},
		},
		"monitor": monitorPage{
			FormID: text, Account: account, Monitor: monitor, Plots: []plot{plotOf(text, points)},
			Single: []single{{text, text}}, Changes: tableOf(text, changed), Address: &text,
		},
		"changes": changesPage{
			Account: account, Filter: accounts.ChangesRequest{Monitor: text, Type: text},
			Monitors: []schema.Monitor{monitor}, Changes: tableOf(text, changed),
		},
		"endpoints": endpointsPage{
			Account: account, Endpoints: tableOf(text, endpoint), Deliveries: sent,
		},
		"endpoint": endpointPage{
			FormID: text, Account: account, Endpoint: endpoint, Secret: text, Tested: &delivery, Deliveries: sent,
		},
		"bulk jobs": bulkJobsPage{
			Account: account, Jobs: tableOf(text, observe.BulkJob{Account: text, BulkJob: job}),
			Payers: []keys.Key{{ID: text, Name: text}},
			Sent:   sentForm{"bulk", url.Values{"name": {text}, "lines": {text}}, "lines", text},
		},
		"bulk job": bulkJobPage{
			Account: account, BulkJob: job, Results: tableOf(text, schema.BulkResult{Key: text, Data: []byte(`{}`)}),
			Started: &schema.BulkStart{Refused: []schema.BulkRefusal{{Problem: problem.New(problem.NotFound, "%s", text)}}},
		},
		"ask": askPage{Question: text, Words: text, Action: text, Button: text, Back: text, Keep: text},
	}
}

// tableOf returns a table whose surroundings have a text, too.
func tableOf[R any](text string, row R) table[R] {
	return table[R]{tableFrame{
		Name: text, Path: text, Find: text, Clear: text, Kept: [][2]string{{text, text}}, All: 1,
		Heads: []tableHead{{Text: text, Class: text, Link: text, Sorted: text}},
	}, []R{row}}
}

// parsed returns the elements of a page with the names of their attributes, as a browser would see them.
func parsed(t *testing.T, page string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data == "wbr" { // where a line may break depends on the text
			continue
		}
		words := []string{n.Data}
		for _, a := range n.Attr {
			words = append(words, a.Key)
			if scheme := strings.ToLower(strings.TrimSpace(a.Val)); strings.HasPrefix(scheme, "javascript:") {
				t.Errorf("%s has the address %q", n.Data, a.Val)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func TestOnlyOurOwnAddressesAreLinks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/dashboard": "/dashboard", "/dashboard?from=50": "/dashboard?from=50", "/dashboard/accounts/a": "/dashboard/accounts/a",
		"javascript:alert(1)": "#", "//evil.example": "#", "https://evil.example": "#", "/dashboardx": "#", "": "#",
	} {
		if got := ownAddress(address); got != want {
			t.Errorf("ownAddress(%q) = %q, want %q", address, got, want)
		}
	}
}
