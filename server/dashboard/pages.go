package dashboard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/records"
)

//go:generate go tool qtc -skipLineComments

// second writes t to the second.
func second(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// minute writes t to the minute.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// took writes how long a call took.
func took(d time.Duration) string {
	return strconv.FormatFloat(requests.Milliseconds(d), 'f', -1, 64) + " ms"
}

// short writes d without the digits that do not matter.
func short(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

// ours returns an address of these pages, to be followed by a click. Any other is "#": its scheme could run a script.
func ours(address string) string {
	if address == Root || strings.HasPrefix(address, Root+"/") || strings.HasPrefix(address, Root+"?") {
		return address
	}
	return "#"
}

// byName returns what a map has, in the order of its keys.
func byName[V any](of map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if !yield(name, of[name]) {
				return
			}
		}
	}
}

// number writes n with separators between thousands.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if sign {
		return "−" + s
	}
	return s
}

// frame is the common part of all pages.
type frame struct {
	Title    string
	Signed   bool   // whether there is a session
	Operator bool   // whether the operator has signed in
	Own      string // the account that has signed in; "" for the operator
	Data     page
}

// show answers with a page.
func (d *Dashboard) show(w http.ResponseWriter, r *http.Request, status int, f frame) {
	v := viewerOf(r)
	if f.Signed, f.Operator = v != nil, v.operator(); v != nil && v.key != nil {
		f.Own = v.key.Account
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	writewhole(w, f)
}

// fail answers an internal error. Its text is logged; the page has the request's id.
func (d *Dashboard) fail(w http.ResponseWriter, r *http.Request, err error) {
	d.log.ErrorContext(r.Context(), "dashboard", "error", err, "request_id", operation.RequestID(r.Context()))
	d.refuse(w, r, http.StatusInternalServerError, "Something went wrong on our side. The log says more under "+
		cmp.Or(operation.RequestID(r.Context()), "this time")+".")
}

// problemPage is the content of a page that says what is wrong.
type problemPage struct{ Words string }

// refuse answers with a page that says what is wrong and what to do.
func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request, status int, words string) {
	d.show(w, r, status, frame{Title: http.StatusText(status), Data: problemPage{words}})
}

// answer answers an error: what the caller can correct is shown, anything else is an internal error.
func (d *Dashboard) answer(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, keys.ErrAbsent), errors.Is(err, credits.ErrUnknownAccount):
		d.refuse(w, r, http.StatusNotFound, "There is no such account or key.")
	case errors.Is(err, keys.ErrTaken):
		d.refuse(w, r, http.StatusConflict, "An account of that name exists already. Go back and choose another name.")
	case errors.Is(err, keys.ErrInvalid), errors.Is(err, credits.ErrInvalid), errors.Is(err, credits.ErrAmount):
		_, words, _ := strings.Cut(err.Error(), ": ")
		d.refuse(w, r, http.StatusBadRequest, "This cannot be used: "+words+". Go back and change it.")
	default:
		if p, ok := errors.AsType[*problem.Error](err); ok && p.HTTPStatus() < http.StatusInternalServerError {
			d.refuse(w, r, p.HTTPStatus(), "This cannot be done: "+p.Detail+". Go back and change it.")
			return
		}
		d.fail(w, r, err)
	}
}

// newOnce returns a value that makes a form count once.
func newOnce() string { return rand.Text() }

func (d *Dashboard) showLogin(w http.ResponseWriter, r *http.Request) {
	if v, err := d.sessions.known(r); err == nil && v != nil {
		http.Redirect(w, r, Root, http.StatusSeeOther)
		return
	}
	d.showForm(w, http.StatusOK, "")
}

// loginPage is the content of the page that asks for a secret.
type loginPage struct {
	Problem string // with the last attempt; "" for none
}

func (d *Dashboard) showForm(w http.ResponseWriter, status int, problem string) {
	d.show(w, &http.Request{}, status, frame{Title: "Sign in", Data: loginPage{problem}})
}

// overview is the content of the first page.
type overview struct {
	Once      string
	Search    string
	Next      string // the address of the next page; "" on the last one
	Found     int    // number of accounts that match the search
	Accounts  []accountRow
	Platforms []platformRow
	Drifted   []observe.Drifted
	Quotas    []observe.Quota
	Usage     usage // of all accounts
	Upstreams []Upstream
	Hits      int64
	Reads     int64
	Share     string // of answers from the cache, in percent; "" before the first
}

type accountRow struct {
	keys.Account
	Balance int64
	Keys    int // that are valid
}

type platformRow struct {
	ID      platform.ID
	State   schema.HealthState
	Breaker string // "" when all are closed
	Idle    bool   // no platform can be read, because settings are missing
}

const (
	shownDrift    = 20
	shownUsage    = 100 // keys or accounts
	shownAccounts = 50  // on a page
)

func (d *Dashboard) overview(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if v := viewerOf(r); !v.operator() {
		http.Redirect(w, r, Root+"/accounts/"+v.key.Account, http.StatusSeeOther)
		return
	}
	o := overview{
		Once: rand.Text(), Drifted: d.cfg.Client.Drifted(), Quotas: d.cfg.Client.Quotas(),
		Upstreams: d.cfg.Activity.Upstreams(),
	}
	o.Drifted = o.Drifted[:min(len(o.Drifted), shownDrift)]
	hits, misses := d.cfg.Activity.Cache()
	if o.Hits, o.Reads = hits, hits+misses; o.Reads > 0 {
		o.Share = strconv.FormatInt(100*o.Hits/o.Reads, 10)
	}
	accounts, err := d.cfg.Keys.Accounts(ctx)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if o.Usage, err = d.usage(ctx, "", requests.ByAccount); err != nil {
		d.fail(w, r, err)
		return
	}
	for i, row := range o.Usage.Rows {
		for _, a := range accounts {
			if a.ID == row.Account {
				o.Usage.Rows[i].Name, o.Usage.Rows[i].Link = a.Name, Root+"/accounts/"+a.ID
			}
		}
	}
	all, err := d.cfg.Keys.Keys(ctx, "")
	if err != nil {
		d.fail(w, r, err)
		return
	}
	o.Search = strings.TrimSpace(r.URL.Query().Get("search"))
	accounts = slices.DeleteFunc(accounts, func(a keys.Account) bool {
		return !strings.Contains(strings.ToLower(a.Name), strings.ToLower(o.Search)) && a.ID != o.Search
	})
	from, _ := strconv.Atoi(r.URL.Query().Get("from")) // another word is the beginning
	o.Found, from = len(accounts), min(max(from, 0), len(accounts))
	if accounts = accounts[from:]; len(accounts) > shownAccounts {
		accounts = accounts[:shownAccounts]
		o.Next = Root + "?" + url.Values{"search": {o.Search}, "from": {strconv.Itoa(from + shownAccounts)}}.Encode()
	}
	for _, a := range accounts {
		row := accountRow{Account: a}
		if row.Balance, err = d.cfg.Ledger.Balance(ctx, a.ID); err != nil {
			d.fail(w, r, err)
			return
		}
		for _, k := range all {
			if k.Account == a.ID && k.RevokedAt == nil {
				row.Keys++
			}
		}
		o.Accounts = append(o.Accounts, row)
	}
	broken := d.cfg.Activity.Broken()
	health := d.cfg.Client.Health(ctx)
	served, err := served(ctx, d.cfg.Client)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	for _, id := range slices.Sorted(maps.Keys(health.Platforms)) {
		row := platformRow{ID: id, State: health.Platforms[id], Idle: !served[id]}
		for b, state := range broken {
			if b.Platform == id {
				row.Breaker = strings.TrimSpace(row.Breaker + " " + b.Provider + " " + string(state))
			}
		}
		o.Platforms = append(o.Platforms, row)
	}
	slices.SortStableFunc(o.Platforms, func(a, b platformRow) int {
		if a.Idle != b.Idle {
			if a.Idle {
				return 1
			}
			return -1
		}
		return worst(a.State) - worst(b.State)
	})
	d.show(w, r, http.StatusOK, frame{Title: "Overview", Data: o})
}

// calls is the content of the page of recent calls.
type calls struct {
	Account string
	Filter  socialdata.RequestsRequest
	Renew   bool // whether the page reloads by itself
	Calls   []schema.Request
}

// shownCalls is how many calls a page shows.
const shownCalls = 200

func (d *Dashboard) calls(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	status, _ := strconv.Atoi(q.Get("status")) // any other text selects all
	c := calls{Account: q.Get("account"), Renew: q.Has("renew"), Filter: socialdata.RequestsRequest{
		RequestID: q.Get("request"), KeyID: q.Get("key"), Operation: q.Get("operation"),
		Platform: platform.ID(q.Get("platform")),
		Status:   status,
	}}
	if v := viewerOf(r); !v.operator() {
		c.Account = v.key.Account
	}
	var err error
	if c.Calls, err = d.cfg.Client.LastRequests(r.Context(), c.Account, c.Filter, shownCalls); err != nil {
		d.fail(w, r, err)
		return
	}
	if c.Renew {
		w.Header().Set("Refresh", "5")
	}
	d.show(w, r, http.StatusOK, frame{Title: "Calls", Data: c})
}

// served returns the platforms with at least one operation that can be called.
func served(ctx context.Context, client *socialdata.Client) (map[platform.ID]bool, error) {
	got, err := client.Platforms(ctx, socialdata.PlatformsRequest{})
	if err != nil {
		return nil, err
	}
	served := map[platform.ID]bool{}
	for _, p := range got.Data {
		served[p.Platform] = slices.ContainsFunc(p.Operations, func(o schema.OperationInfo) bool { return o.Available })
	}
	return served, nil
}

// worst orders states by how urgent they are.
func worst(s schema.HealthState) int {
	return slices.Index([]schema.HealthState{schema.Down, schema.Degraded, schema.Healthy, schema.Unknown}, s)
}

// accountPage is the content of the page of an account.
type accountPage struct {
	Once     string // an id that makes a form take effect once
	Account  keys.Account
	Balance  int64
	Keys     []keys.Key
	Monitors []schema.Monitor
	Outlets  []outlet
	Entries  []credits.Entry
	Usage    usage
}

// usage is the usage of one account, or of all, in the last days.
type usage struct {
	Chart   chart
	Rates   []requests.Rollup // by platform and operation, most expensive first
	By      requests.Dimension
	Word    string            // of By, as the head of a column
	Rows    []usageRow        // by By, most expensive first
	Dropped int64             // calls that the request log has lost
	Days    []requests.Rollup // newest first, with the requests to upstreams; none for one account
}

// usageRow is the usage of one key or account.
type usageRow struct {
	Name string
	Link string // to its page; "" for none
	requests.Rollup
}

// outlet is an endpoint with the latest delivery to it.
type outlet struct {
	schema.Endpoint

	Latest *schema.Delivery // nil when it is not among the latest deliveries of the account
}

const (
	days        = 14 // days of usage
	pageEntries = 50 // entries in the list
)

func (d *Dashboard) account(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	p := accountPage{Once: rand.Text()}
	var err error
	if p.Account, err = d.cfg.Keys.Account(ctx, r.PathValue("account")); err == nil {
		p.Balance, err = d.cfg.Ledger.Balance(ctx, p.Account.ID)
	}
	if err == nil {
		p.Keys, err = d.cfg.Keys.Keys(ctx, p.Account.ID)
	}
	if err == nil {
		p.Monitors, err = monitors(ctx, d.cfg.Client, p.Account.ID)
	}
	if err == nil {
		p.Outlets, err = outlets(ctx, d.cfg.Client, p.Account.ID)
	}
	if err == nil {
		p.Entries, err = d.cfg.Ledger.Entries(ctx, credits.Query{
			Account: p.Account.ID, Since: d.shownSince(), Limit: pageEntries,
		})
	}
	if err == nil {
		p.Usage, err = d.usage(ctx, p.Account.ID, requests.ByKey)
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	slices.Reverse(p.Keys) // newest first
	d.show(w, r, http.StatusOK, frame{Title: p.Account.Name, Data: p})
}

// shownSince returns the beginning of the first of the last days.
func (d *Dashboard) shownSince() time.Time {
	return d.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
}

// usage returns the usage of an account, or of all for "", in the last days, with a row for each key or account.
func (d *Dashboard) usage(ctx context.Context, account string, of requests.Dimension) (u usage, err error) {
	since := d.shownSince()
	by := func(by ...requests.Dimension) ([]requests.Rollup, error) {
		return d.cfg.Client.Rollups(ctx, requests.SumQuery{Account: account, Since: requests.DayOf(since), By: by})
	}
	perDay, err := by(requests.ByDay, requests.ByPlatform)
	if err != nil {
		return u, err
	}
	rates, err := by(requests.ByPlatform, requests.ByOperation)
	if err != nil {
		return u, err
	}
	rows, err := by(of)
	if err != nil {
		return u, err
	}
	idle := func(r requests.Rollup) bool { return r.Idle() }
	rates, rows = slices.DeleteFunc(rates, idle), slices.DeleteFunc(rows, idle)
	u = usage{Chart: plot(perDay, since, days), Rates: dearest(rates), By: of, Word: "Key"}
	if of == requests.ByAccount {
		u.Word = "Account"
	}
	if account == "" {
		if u.Days, err = by(requests.ByDay); err != nil {
			return u, err
		}
		slices.Reverse(u.Days)
	}
	for _, r := range rows {
		u.Dropped += r.Dropped
	}
	rows = dearest(rows)
	for _, r := range rows[:min(len(rows), shownUsage)] {
		u.Rows = append(u.Rows, usageRow{Name: r.Group(of), Rollup: r})
	}
	return u, nil
}

// shownMonitors is how many monitors of an account are listed.
const shownMonitors = 100

// monitors returns the first monitors of an account, by name.
func monitors(ctx context.Context, client *socialdata.Client, account string) ([]schema.Monitor, error) {
	list, err := client.As(keys.Key{Account: account}).ListMonitors(ctx, socialdata.MonitorsRequest{})
	if err != nil {
		return nil, err
	}
	return list.Data[:min(len(list.Data), shownMonitors)], nil
}

// outlets returns the endpoints of an account, by name.
func outlets(ctx context.Context, client *socialdata.Client, account string) ([]outlet, error) {
	client = client.As(keys.Key{Account: account})
	list, err := client.ListEndpoints(ctx, socialdata.EndpointsRequest{})
	if err != nil || len(list.Data) == 0 {
		return nil, err
	}
	sent, err := client.Deliveries(ctx, socialdata.DeliveriesRequest{})
	if err != nil {
		return nil, err
	}
	out := make([]outlet, len(list.Data))
	for i, e := range list.Data {
		out[i].Endpoint = e
		to := func(of schema.Delivery) bool { return of.Endpoint == e.Name }
		if at := slices.IndexFunc(sent.Data, to); at >= 0 {
			out[i].Latest = &sent.Data[at]
		}
	}
	return out, nil
}

// once reports whether the form of r is new. A form that is sent again, such as by reloading the page, changes nothing.
func (d *Dashboard) once(w http.ResponseWriter, r *http.Request) bool {
	token := r.PostFormValue("once")
	if token == "" || len(token) > 64 {
		d.refuse(w, r, http.StatusBadRequest, "This form is not from this page. Open the page again.")
		return false
	}
	_, added, err := d.cfg.Records.Add(r.Context(),
		records.Record{Key: records.Key("admin-form", token), Value: []byte{1}}, longest)
	switch {
	case err != nil:
		d.fail(w, r, err)
	case !added:
		d.refuse(w, r, http.StatusConflict, "This was done already; it was not done again. A key's value is shown once only.")
	}
	return err == nil && added
}

func (d *Dashboard) createAccount(w http.ResponseWriter, r *http.Request) {
	amount, ok := d.amount(w, r, "credits")
	if !ok || !d.once(w, r) {
		return
	}
	a, err := d.cfg.Keys.OpenAccount(r.Context(), strings.TrimSpace(r.PostFormValue("name")), amount,
		"opened in the dashboard")
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+a.ID, http.StatusSeeOther)
}

// amount reads a field that holds credits; "" is 0.
func (d *Dashboard) amount(w http.ResponseWriter, r *http.Request, field string) (int64, bool) {
	s := strings.NewReplacer(",", "", " ", "").Replace(r.PostFormValue(field))
	n, err := strconv.ParseInt(cmp.Or(s, "0"), 10, 64)
	if err != nil || n < 0 || n > credits.MaxBalance {
		d.refuse(w, r, http.StatusBadRequest, "The number of credits must be a whole number, such as 10000.")
		return 0, false
	}
	return n, true
}

func (d *Dashboard) give(w http.ResponseWriter, r *http.Request) {
	n, ok := d.amount(w, r, "credits")
	if !ok || !d.once(w, r) {
		return
	}
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err == nil {
		_, err = d.cfg.Ledger.Grant(r.Context(), a.ID, n,
			cmp.Or(strings.TrimSpace(r.PostFormValue("reason")), "granted in the dashboard"))
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+a.ID, http.StatusSeeOther)
}

// refund returns to an account what a request was charged, or a part of it.
func (d *Dashboard) refund(w http.ResponseWriter, r *http.Request) {
	n, ok := d.amount(w, r, "credits")
	if !ok {
		return
	}
	request := strings.TrimSpace(r.PostFormValue("request"))
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	var most int64
	if err == nil {
		most, err = credits.Refundable(r.Context(), d.cfg.Ledger, a.ID, request)
	}
	switch n = cmp.Or(n, most); {
	case err != nil:
		d.answer(w, r, err)
		return
	case most == 0:
		d.refuse(w, r, http.StatusBadRequest,
			"This request was charged nothing, or was given back already. Go back and change it.")
		return
	case n > most:
		d.refuse(w, r, http.StatusBadRequest,
			fmt.Sprintf("Of this request, %d credits can be given back. Go back and change it.", most))
		return
	}
	if !d.once(w, r) {
		return
	}
	reason := cmp.Or(strings.TrimSpace(r.PostFormValue("reason")), "refunded in the dashboard")
	if _, err := d.cfg.Ledger.Refund(r.Context(), a.ID, n, request, reason); err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+a.ID, http.StatusSeeOther)
}

// reverse takes back a grant that was made by mistake.
func (d *Dashboard) reverse(w http.ResponseWriter, r *http.Request) {
	seq, err := strconv.ParseInt(strings.TrimSpace(r.PostFormValue("entry")), 10, 64)
	if err != nil || seq < 1 {
		d.refuse(w, r, http.StatusBadRequest, "The entry must be a number of the ledger, such as 12. Go back and change it.")
		return
	}
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err == nil {
		reason := cmp.Or(strings.TrimSpace(r.PostFormValue("reason")), "taken back in the dashboard")
		_, err = d.cfg.Ledger.Reverse(r.Context(), a.ID, seq, reason) // the ledger does it once
	}
	switch {
	case errors.Is(err, credits.ErrInsufficient):
		d.refuse(w, r, http.StatusConflict, "The account can spend less than this grant was. Nothing was taken back.")
	case errors.Is(err, credits.ErrNotGrant):
		d.refuse(w, r, http.StatusBadRequest, fmt.Sprintf("Entry %d is not a grant. Go back and change it.", seq))
	case err != nil:
		d.answer(w, r, err)
	default:
		http.Redirect(w, r, Root+"/accounts/"+a.ID, http.StatusSeeOther)
	}
}

// keyPage is the content of the page that shows a new key.
type keyPage struct {
	Secret  string
	Key     keys.Key
	Account keys.Account
	Base    string // the address of this service
	Rotated bool   // it has a new value, and is no new key
}
