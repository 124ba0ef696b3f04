package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// endpointsPage is the content of the page of an account's endpoints.
type endpointsPage struct {
	Sent       sentForm
	Account    keys.Account
	Endpoints  table[schema.Endpoint] // by name
	Deliveries deliveries
}

// deliveries are a page of what became of sending changes, those of the latest changes first.
type deliveries struct {
	FormID  string // for the forms that send one again
	Account string
	List    table[schema.Delivery]
	Next    string // the address of the next page; "" on the last one
}

// sendAgain returns the address of the form that sends a delivery again.
func (l deliveries) sendAgain(id string) string {
	return Root + "/accounts/" + url.PathEscape(l.Account) + "/deliveries/" + url.PathEscape(id) + "/again"
}

// endpointPath returns the address of the page of an endpoint.
func endpointPath(account, name string) string {
	return Root + "/accounts/" + url.PathEscape(account) + "/endpoints/" + url.PathEscape(name)
}

// deliveriesTo returns a page of the deliveries to an endpoint, or to all for "".
func (d *Dashboard) deliveriesTo(r *http.Request, account, endpoint, path string) (deliveries, error) {
	req := accounts.DeliveriesRequest{Endpoint: endpoint}
	req.Cursor = r.URL.Query().Get("cursor")
	got, err := d.clientOf(r, account).Account().Deliveries(r.Context(), req)
	if err != nil {
		return deliveries{}, err
	}
	columns := []column[schema.Delivery]{
		{"queued", "Queued (UTC)", "", func(d schema.Delivery) any { return d.QueuedAt }},
		{"endpoint", "Endpoint", "more", func(d schema.Delivery) any { return d.Endpoint }},
		{"type", "Type", "", func(d schema.Delivery) any { return d.Type }},
		{"state", "State", "", func(d schema.Delivery) any { return d.State }},
		{"attempts", "Attempts", "n more", func(d schema.Delivery) any { return d.Attempts }},
		{"last", "Last attempt (UTC)", "more", func(d schema.Delivery) any { return timeOf(d.LastAt) }},
		{"next", "Next attempt (UTC)", "more", func(d schema.Delivery) any { return timeOf(d.NextAt) }},
		{"answer", "Answer", "more", func(d schema.Delivery) any { return answerOf(&d) }},
		{"do", "What to do", "", nil},
	}
	if endpoint != "" {
		columns = slices.DeleteFunc(columns, func(c column[schema.Delivery]) bool { return c.Name == "endpoint" })
	}
	out := deliveries{FormID: newFormID(), Account: account, List: newTable(r, path, "deliveries", got.Data, columns)}
	if got.Meta.NextCursor != "" {
		out.Next = path + "?" + url.Values{"cursor": {got.Meta.NextCursor}}.Encode()
	}
	return out, nil
}

// endpointsOf returns the endpoints of a client's account, by name.
func endpointsOf(r *http.Request, client *socialdata.Client) (list []schema.Endpoint, err error) {
	for e, err := range socialdata.Walk(r.Context(), client.Account().Endpoints().List, accounts.EndpointsRequest{}) {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (d *Dashboard) endpoints(w http.ResponseWriter, r *http.Request) {
	if a, ok := d.accountInPath(w, r); ok {
		d.showEndpoints(w, r, http.StatusOK, a, sentForm{})
	}
}

// showEndpoints shows the endpoints of an account, with a form that was not accepted.
func (d *Dashboard) showEndpoints(w http.ResponseWriter, r *http.Request, status int, a keys.Account, sent sentForm) {
	p := endpointsPage{Sent: sent, Account: a}
	path := Root + "/accounts/" + a.ID + "/endpoints"
	all, err := endpointsOf(r, d.clientOf(r, a.ID))
	if err == nil {
		p.Deliveries, err = d.deliveriesTo(r, a.ID, "", path)
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Endpoints = newTable(r, path, "endpoints", all, []column[schema.Endpoint]{
		{"name", "Name", "", func(e schema.Endpoint) any { return e.Name }},
		{"state", "State", "", func(e schema.Endpoint) any { return e.State }},
		{"url", "URL", "", func(e schema.Endpoint) any { return e.URL }},
		{"types", "Types", "more", func(e schema.Endpoint) any { return namesOrAll(e.Types) }},
		{"monitors", "Monitors", "more", func(e schema.Endpoint) any { return namesOrAll(e.Monitors) }},
	})
	d.show(w, r, status, frame{Title: "Endpoints of " + a.Name, Of: a.ID, Data: p})
}

// namesIn returns the names in a field, which commas or spaces separate; nil for none.
func namesIn(field string) []string {
	return strings.FieldsFunc(field, func(r rune) bool { return r == ',' || r == ' ' })
}

// endpointPage is the content of the page of one endpoint.
type endpointPage struct {
	FormID  string
	Account keys.Account
	schema.Endpoint

	Secret     string           // shown once; "" if there is no new one
	Tested     *schema.Delivery // the result of a test; nil if none was sent just now
	Deliveries deliveries
}

// makeEndpoint makes the endpoint of a form and shows its secret, once.
func (d *Dashboard) makeEndpoint(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	again := func(status int, field, words string) {
		d.showEndpoints(w, r, status, a, rejected(r, "endpoint", field, words))
	}
	name, client := strings.TrimSpace(r.PostFormValue("name")), d.clientOf(r, a.ID)
	if words := wrongName(name); words != "" {
		again(http.StatusBadRequest, "name", words)
		return
	}
	switch _, err := client.Account().Endpoints().Get(r.Context(), name); {
	case err == nil:
		again(http.StatusConflict, "name", "An endpoint of that name exists already.")
		return
	case !isProblem(err, problem.NotFound):
		d.answer(w, r, err)
		return
	}
	made, err := client.Account().Endpoints().Make(r.Context(), name, schema.EndpointSpec{
		URL: strings.TrimSpace(r.PostFormValue("url")), Types: namesIn(r.PostFormValue("types")),
		Monitors: namesIn(r.PostFormValue("monitors")),
	})
	if status, words := explained(err); status != 0 {
		again(status, fieldIn(words, "url", [2]string{"types", "types"}, [2]string{"monitors", "monitors"}), words)
		return
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p := endpointPage{Account: a, Endpoint: made.Endpoint}
	if made.Secret != nil { // a concurrent form has not made it
		p.Secret = *made.Secret
	}
	d.showEndpoint(w, r, p)
}

// oneEndpoint returns the endpoint that the path names, or answers why there is none.
func (d *Dashboard) oneEndpoint(w http.ResponseWriter, r *http.Request) (p endpointPage, ok bool) {
	if p.Account, ok = d.accountInPath(w, r); !ok {
		return p, false
	}
	var err error
	if p.Endpoint, err = d.clientOf(r, p.Account.ID).Account().Endpoints().Get(r.Context(), r.PathValue("endpoint")); err != nil {
		d.answer(w, r, err)
		return p, false
	}
	return p, true
}

func (d *Dashboard) endpoint(w http.ResponseWriter, r *http.Request) {
	if p, ok := d.oneEndpoint(w, r); ok {
		d.showEndpoint(w, r, p)
	}
}

// showEndpoint shows the page of an endpoint with the deliveries to it.
func (d *Dashboard) showEndpoint(w http.ResponseWriter, r *http.Request, p endpointPage) {
	p.FormID = newFormID()
	var err error
	if p.Deliveries, err = d.deliveriesTo(r, p.Account.ID, p.Name, endpointPath(p.Account.ID, p.Name)); err != nil {
		d.answer(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, frame{Title: p.Name, Of: p.Account.ID, Data: p})
}

// testEndpoint sends a test and shows what came of it.
func (d *Dashboard) testEndpoint(w http.ResponseWriter, r *http.Request) {
	p, ok := d.oneEndpoint(w, r)
	if !ok || !d.isNewForm(w, r) {
		return
	}
	tested, err := d.clientOf(r, p.Account.ID).Account().Endpoints().Test(r.Context(), p.Name)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Tested = &tested
	d.showEndpoint(w, r, p)
}

// rekeyEndpoint gives an endpoint a new secret and shows it, once.
func (d *Dashboard) rekeyEndpoint(w http.ResponseWriter, r *http.Request) {
	p, ok := d.oneEndpoint(w, r)
	if !ok || !d.isNewForm(w, r) {
		return
	}
	made, err := d.clientOf(r, p.Account.ID).Account().Endpoints().NewSecret(r.Context(), p.Name)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Secret = *made.Secret
	d.showEndpoint(w, r, p)
}

// deliverAgain makes a delivery due again and leads to the page of its endpoint.
func (d *Dashboard) deliverAgain(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok || !d.isNewForm(w, r) {
		return
	}
	again, err := d.clientOf(r, a.ID).Account().Endpoints().Again(r.Context(), r.PathValue("delivery"))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, endpointPath(a.ID, again.Endpoint), http.StatusSeeOther)
}

func (d *Dashboard) askRemoveEndpoint(w http.ResponseWriter, r *http.Request) {
	p, ok := d.oneEndpoint(w, r)
	if !ok {
		return
	}
	path := endpointPath(p.Account.ID, p.Name)
	d.show(w, r, http.StatusOK, frame{Title: "Remove an endpoint", Of: p.Account.ID, Data: askPage{
		Question: "Remove " + p.Name + "?", Action: path + "/remove", Button: "Remove the endpoint", Back: path, Keep: "Keep it",
		Words: "Nothing more is sent to " + p.URL + ", and the deliveries to it are removed.",
	}})
}

func (d *Dashboard) removeEndpoint(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	if err := d.clientOf(r, a.ID).Account().Endpoints().End(r.Context(), r.PathValue("endpoint")); err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+a.ID+"/endpoints", http.StatusSeeOther)
}

// answerOf writes how the last attempt of a delivery was answered.
func answerOf(d *schema.Delivery) string {
	switch {
	case d.Detail != nil:
		return *d.Detail
	case d.Status != nil:
		return strconv.FormatInt(*d.Status, 10)
	}
	return ""
}

// namesOrAll writes the names that an endpoint selects.
func namesOrAll(names []string) string {
	if len(names) == 0 {
		return "all"
	}
	return strings.Join(names, ", ")
}
