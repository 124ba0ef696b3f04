package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

const (
	shownMonitors = 1000 // of an account
	shownChanges  = 200  // on the page of changes
	shownPoints   = 1000 // of one number of a monitor
)

// clientOf returns the client of an account, as which the viewer acts.
func (d *Dashboard) clientOf(r *http.Request, account string) *socialdata.Client {
	if v := viewerOf(r); !v.operator() {
		return d.cfg.Client.As(*v.key)
	}
	return d.cfg.Client.As(keys.Key{Account: account, Manage: true})
}

// accountInPath returns the account that the path names, or answers why there is none.
func (d *Dashboard) accountInPath(w http.ResponseWriter, r *http.Request) (keys.Account, bool) {
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err != nil {
		d.answer(w, r, err)
	}
	return a, err == nil
}

// monitorsPage is the content of the page of an account's monitors.
type monitorsPage struct {
	Account  keys.Account
	Monitors table[schema.Monitor] // by name
	Most     int64                 // the sum of what they cost in 30 days, at most
}

func (d *Dashboard) monitors(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	p := monitorsPage{Account: a}
	all, err := monitorsOf(r.Context(), d.clientOf(r, a.ID))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Monitors = newTable(r, Root+"/accounts/"+a.ID+"/monitors", "monitors", all, []column[schema.Monitor]{
		{"name", "Name", "", func(m schema.Monitor) any { return m.Name }},
		{"state", "State", "", func(m schema.Monitor) any { return m.State }},
		{"what", "What", "more", func(m schema.Monitor) any { return readsOf(&m) }},
		{"every", "Every", "more", func(m schema.Monitor) any { return interval(m.Every) }},
		{"last", "Last poll (UTC)", "more", func(m schema.Monitor) any { return timeOf(m.LastAt) }},
		{"next", "Next poll (UTC)", "more", func(m schema.Monitor) any { return timeOf(m.NextAt) }},
		{"credits", "Credits this month", "n more", func(m schema.Monitor) any { return m.Credits }},
		{"price", "30 days cost up to", "n", func(m schema.Monitor) any { return m.Price.Most }},
	})
	for _, m := range all {
		if m.NextAt != nil {
			p.Most += m.Price.Most
		}
	}
	d.show(w, r, http.StatusOK, frame{Title: "Monitors of " + a.Name, Of: a.ID, Data: p})
}

// readsOf writes what a monitor reads, such as "mock profile".
func readsOf(m *schema.Monitor) string {
	if m.Platform == nil {
		return m.Operation
	}
	return *m.Platform + " " + m.Operation
}

// monitorsOf returns the monitors of a client's account, by name.
func monitorsOf(ctx context.Context, client *socialdata.Client) (list []schema.Monitor, err error) {
	for m, err := range socialdata.Walk(ctx, client.Account().Monitors().List, accounts.MonitorsRequest{}) {
		if err != nil || len(list) == shownMonitors {
			return list, err
		}
		list = append(list, m)
	}
	return list, nil
}

// foundPage is the content of the page of what can be watched at an address.
type foundPage struct {
	FormID  string
	Account keys.Account
	URL     string
	Payers  []keys.Key // from which the operator chooses the one that pays; none for an account that has signed in
	Choices []choice
	Others  []schema.Resolved // cannot be watched, or not now
}

// choice is a call that a monitor can make.
type choice struct {
	schema.Resolved

	ID     string // of its form
	Name   string // proposed for the monitor, or the one that was typed
	List   bool
	Quotes []schema.Monitor // for each interval, shortest first

	Field, Problem string // what is wrong with the form that was sent, and its field: name or every; "" for nothing
	Every, Key     string // that were sent in it
}

// checked reports whether an interval is marked: the one that was sent, or else the second shortest.
func (c choice) checked(i int) bool {
	if slices.ContainsFunc(c.Quotes, func(q schema.Monitor) bool { return q.Every == c.Every }) {
		return c.Quotes[i].Every == c.Every
	}
	return i == min(1, len(c.Quotes)-1)
}

// intervals are those that a form offers beside the shortest of an operation.
func intervals() []time.Duration {
	return []time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}
}

// findMonitors shows what can be watched at the address that was sent, and what each would cost. The address is never
// part of a URL: it may name a person.
func (d *Dashboard) findMonitors(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	p := foundPage{FormID: newFormID(), Account: a, URL: strings.TrimSpace(r.PostFormValue("url"))}
	payer, ok := d.quotingKey(w, r, &p)
	if !ok {
		return
	}
	found, err := d.clientOf(r, a.ID).Resolve(r.Context(), socialdata.ResolveRequest{URL: p.URL})
	if err != nil {
		d.answer(w, r, err)
		return
	}
	for i, call := range found.Data {
		o := socialdata.Operation(call.Operation)
		if o == nil || !o.Watched || !call.Available {
			p.Others = append(p.Others, call)
			continue
		}
		c := choice{Resolved: call, ID: "c" + strconv.Itoa(i), List: o.List(), Name: nameOf(&call)}
		if c.Quotes, err = d.quotes(r.Context(), payer, &call, c.Name); err != nil {
			d.answer(w, r, err)
			return
		}
		p.Choices = append(p.Choices, c)
	}
	d.show(w, r, http.StatusOK, frame{Title: "New monitor of " + a.Name, Of: a.ID, Data: p})
}

// quotes returns the monitor of a call with its price for each interval, shortest first.
func (d *Dashboard) quotes(
	ctx context.Context, payer keys.Key, call *schema.Resolved, name string,
) (quotes []schema.Monitor, err error) {
	for _, every := range append([]time.Duration{0}, intervals()...) {
		quote, err := d.cfg.Client.Operator().QuoteMonitor(ctx, payer, requestOf(call, name, every))
		if err != nil && every != 0 { // shorter than the answers live
			continue
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(quotes, func(q schema.Monitor) bool { return q.Every == quote.Every }) {
			quotes = append(quotes, quote)
		}
	}
	return quotes, nil
}

// askAgain shows the form of a monitor again with what was typed, and beside a field what is wrong with it.
func (d *Dashboard) askAgain(
	w http.ResponseWriter, r *http.Request, status int, a keys.Account, req accounts.WatchRequest, field, words string,
) {
	p := foundPage{FormID: newFormID(), Account: a}
	payer, ok := d.quotingKey(w, r, &p)
	if !ok {
		return
	}
	c := choice{
		Resolved: schema.Resolved{Operation: req.Operation, Platform: req.Platform, Params: req.Params}, ID: "c0",
		Name: req.Name, Field: field, Problem: words, Every: r.PostFormValue("every"), Key: r.PostFormValue("key"),
	}
	var err error
	if c.Quotes, err = d.quotes(r.Context(), payer, &c.Resolved, nameOf(&c.Resolved)); err != nil {
		d.answer(w, r, err)
		return
	}
	p.Choices = []choice{c}
	d.show(w, r, status, frame{Title: "New monitor of " + a.Name, Of: a.ID, Data: p})
}

// payers returns the keys of an account from which the operator chooses the one that pays, newest first; none for an
// account that has signed in.
func (d *Dashboard) payers(r *http.Request, account string) ([]keys.Key, error) {
	if !viewerOf(r).operator() {
		return nil, nil
	}
	all, err := d.cfg.Keys.Keys(r.Context(), account)
	all = slices.DeleteFunc(all, func(k keys.Key) bool { return k.RevokedAt != nil })
	slices.Reverse(all)
	return all, err
}

// quotingKey sets the keys from which the operator chooses, and returns one for which prices are shown.
func (d *Dashboard) quotingKey(w http.ResponseWriter, r *http.Request, p *foundPage) (keys.Key, bool) {
	if v := viewerOf(r); !v.operator() {
		return *v.key, true
	}
	var err error
	if p.Payers, err = d.payers(r, p.Account.ID); err != nil {
		d.answer(w, r, err)
		return keys.Key{}, false
	}
	if len(p.Payers) == 0 {
		d.refuse(w, r, http.StatusConflict, "A key pays for the polls of a monitor, and this account has none in use. Create one first.")
		return keys.Key{}, false
	}
	return p.Payers[0], true
}

// payingClient returns the client of the key that pays: of the one that the operator has chosen in a form, or of the one
// with which an account has signed in.
func (d *Dashboard) payingClient(w http.ResponseWriter, r *http.Request, account string) (*socialdata.Client, bool) {
	if !viewerOf(r).operator() {
		return d.clientOf(r, account), true
	}
	k, err := d.cfg.Keys.Key(r.Context(), r.PostFormValue("key"))
	if err == nil && k.Account != account {
		err = keys.ErrAbsent
	}
	if err != nil {
		d.answer(w, r, err)
		return nil, false
	}
	return d.cfg.Client.As(k), true
}

// requestOf returns the monitor that makes a call.
func requestOf(call *schema.Resolved, name string, every time.Duration) accounts.WatchRequest {
	return accounts.WatchRequest{
		Name: name, Operation: call.Operation, Platform: call.Platform, Params: call.Params, Every: every,
	}
}

// interval writes how often a monitor polls: whole days, if there are several, as days.
func interval(every string) string {
	d, err := time.ParseDuration(every)
	if day := 24 * time.Hour; err == nil && d > day && d%day == 0 {
		return numberOf(int64(d/day), "day")
	}
	return every
}

// nameOf proposes a name for the monitor of a call, such as github-posts-octocat.
func nameOf(call *schema.Resolved) string {
	words := []string{string(call.Platform), call.Operation}
	for _, value := range byName(call.Params) {
		words = append(words, value)
	}
	const most = 48
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(strings.Join(words, "-")))
	name = strings.Trim(name[:min(len(name), most)], "-")
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return name
}

// makeMonitor makes the monitor of a form.
func (d *Dashboard) makeMonitor(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	req := accounts.WatchRequest{
		Name: strings.TrimSpace(r.PostFormValue("name")), Operation: r.PostFormValue("operation"),
		Platform: platform.ID(r.PostFormValue("platform")), Params: map[string]string{},
	}
	req.Pages, _ = strconv.Atoi(r.PostFormValue("pages"))
	for name, values := range r.PostForm {
		if param, ok := strings.CutPrefix(name, "param."); ok {
			req.Params[param] = values[0]
		}
	}
	client, ok := d.payingClient(w, r, a.ID)
	if !ok {
		return
	}
	every, err := time.ParseDuration(strings.TrimSpace(r.PostFormValue("every")))
	if err != nil {
		d.askAgain(w, r, http.StatusBadRequest, a, req, "every", "This is not an interval, such as 45m or 6h.")
		return
	}
	req.Every = every
	if words := wrongName(req.Name); words != "" {
		d.askAgain(w, r, http.StatusBadRequest, a, req, "name", words)
		return
	}
	switch _, err := client.Account().Monitors().Get(r.Context(), req.Name); {
	case err == nil:
		d.askAgain(w, r, http.StatusConflict, a, req, "name", "A monitor of that name exists already.")
		return
	case !isProblem(err, problem.NotFound):
		d.answer(w, r, err)
		return
	}
	made, err := client.Account().Monitors().Make(r.Context(), req)
	if p, ok := errors.AsType[*problem.Error](err); ok && strings.HasPrefix(p.Detail, "every ") {
		d.askAgain(w, r, p.HTTPStatus(), a, req, "every", p.Detail+".")
		return
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, monitorPath(a.ID, made.Name), http.StatusSeeOther)
}

// isProblem reports whether err is a problem with a code.
func isProblem(err error, code problem.Code) bool {
	p, ok := errors.AsType[*problem.Error](err)
	return ok && p.Code == code
}

// monitorPath returns the address of the page of a monitor.
func monitorPath(account, name string) string {
	return Root + "/accounts/" + url.PathEscape(account) + "/monitors/" + url.PathEscape(name)
}

// monitorPage is the content of the page of one monitor.
type monitorPage struct {
	FormID  string
	Account keys.Account
	schema.Monitor

	Plots   []plot
	Single  []single             // the numbers with one value so far
	Changes table[schema.Change] // newest first
	Address *string              // of a new feed, without its ending; nil if it was not made just now
}

// single is a number that has not moved yet.
type single struct{ Field, Value string }

// parameters writes the parameters of a monitor in a line, by name.
func (p monitorPage) parameters() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		words = append(words, name+"="+p.Params[name])
	}
	return strings.Join(words, " ")
}

func (d *Dashboard) monitor(w http.ResponseWriter, r *http.Request) {
	if p, ok := d.oneMonitor(w, r); ok {
		d.showMonitor(w, r, p)
	}
}

// oneMonitor returns the monitor that the path names, or answers why there is none.
func (d *Dashboard) oneMonitor(w http.ResponseWriter, r *http.Request) (p monitorPage, ok bool) {
	if p.Account, ok = d.accountInPath(w, r); !ok {
		return p, false
	}
	var err error
	if p.Monitor, err = d.clientOf(r, p.Account.ID).Account().Monitors().Get(r.Context(), r.PathValue("monitor")); err != nil {
		d.answer(w, r, err)
		return p, false
	}
	p.FormID = newFormID()
	return p, true
}

// showMonitor shows the page of a monitor with its numbers and its latest changes.
func (d *Dashboard) showMonitor(w http.ResponseWriter, r *http.Request, p monitorPage) {
	ctx, client := r.Context(), d.clientOf(r, p.Account.ID)
	if o := socialdata.Operation(p.Operation); o != nil && !o.List() {
		for _, field := range watch.NumbersOf(o.Data) {
			points, err := historyOf(ctx, client, p.Name, field)
			if err != nil {
				d.answer(w, r, err)
				return
			}
			switch len(points) {
			case 0:
			case 1:
				p.Single = append(p.Single, single{strings.ReplaceAll(field, "_", " "), figure(points[0].Value)})
			default:
				p.Plots = append(p.Plots, plotOf(strings.ReplaceAll(field, "_", " "), points))
			}
		}
	}
	found, err := d.cfg.Client.Operator().Changes(ctx, p.Account.ID, accounts.ChangesRequest{Monitor: p.Name}, pageEntries)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Changes = changeTable(r, monitorPath(p.Account.ID, p.Name), found, false)
	d.show(w, r, http.StatusOK, frame{Title: p.Name, Of: p.Account.ID, Data: p})
}

// historyOf returns what a monitor has read of a number, oldest first.
func historyOf(
	ctx context.Context, client *socialdata.Client, monitor, field string,
) (points []schema.HistoryPoint, err error) {
	req := accounts.HistoryRequest{Monitor: monitor, Field: field}
	for point, err := range socialdata.Walk(ctx, client.Account().History, req) {
		if err != nil || len(points) == shownPoints {
			return points, err
		}
		points = append(points, point)
	}
	return points, nil
}

// changeMonitor returns a handler of a form that changes a monitor and leads back to its page.
func (d *Dashboard) changeMonitor(change func(context.Context, accounts.Monitors, string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, ok := d.accountInPath(w, r)
		if !ok {
			return
		}
		name := r.PathValue("monitor")
		if err := change(r.Context(), d.clientOf(r, a.ID).Account().Monitors(), name); err != nil {
			d.answer(w, r, err)
			return
		}
		http.Redirect(w, r, monitorPath(a.ID, name), http.StatusSeeOther)
	}
}

func pauseMonitor(ctx context.Context, all accounts.Monitors, name string) error {
	_, err := all.Pause(ctx, name)
	return err
}

func resumeMonitor(ctx context.Context, all accounts.Monitors, name string) error {
	_, err := all.Resume(ctx, name)
	return err
}

func endFeed(ctx context.Context, all accounts.Monitors, name string) error {
	return all.EndFeed(ctx, name)
}

// makeFeed gives a monitor a feed and shows its address, once.
func (d *Dashboard) makeFeed(w http.ResponseWriter, r *http.Request) {
	p, ok := d.oneMonitor(w, r)
	if !ok || !d.isNewForm(w, r) {
		return
	}
	made, err := d.clientOf(r, p.Account.ID).Account().Monitors().MakeFeed(r.Context(), p.Name)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	if p.Address, p.Feed = made.Secret, true; p.Address != nil && strings.HasPrefix(*p.Address, "/") {
		*p.Address = base(r) + *p.Address
	}
	d.showMonitor(w, r, p)
}

func (d *Dashboard) askRemoveMonitor(w http.ResponseWriter, r *http.Request) {
	p, ok := d.oneMonitor(w, r)
	if !ok {
		return
	}
	path := monitorPath(p.Account.ID, p.Name)
	d.show(w, r, http.StatusOK, frame{Title: "Remove a monitor", Of: p.Account.ID, Data: askPage{
		Question: "Remove " + p.Name + "?", Action: path + "/remove", Button: "Remove the monitor", Back: path, Keep: "Keep it",
		Words: "It is read no more, and its history and its feed are removed. Its changes stay until they are 30 days old.",
	}})
}

func (d *Dashboard) removeMonitor(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	if err := d.clientOf(r, a.ID).Account().Monitors().End(r.Context(), r.PathValue("monitor")); err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+a.ID+"/monitors", http.StatusSeeOther)
}

// changesPage is the content of the page of what an account's monitors have found.
type changesPage struct {
	Account  keys.Account
	Filter   accounts.ChangesRequest
	Monitors []schema.Monitor
	Changes  table[schema.Change] // newest first
}

// changeTable returns the table of changes on the page at path, with their monitors if they are of several.
func changeTable(r *http.Request, path string, found []schema.Change, several bool) table[schema.Change] {
	columns := []column[schema.Change]{
		{"at", "Time (UTC)", "", func(c schema.Change) any { return c.At }},
		{"type", "Type", "", func(c schema.Change) any { return c.Type }},
		{"monitor", "Monitor", "more", func(c schema.Change) any { return orDash(c.Monitor) }},
		{"object", "Object", "more", func(c schema.Change) any { return orDash(c.Key) }},
		{"what", "What", "", func(c schema.Change) any { return changeSummary(&c) }},
	}
	if !several {
		columns = slices.DeleteFunc(columns, func(c column[schema.Change]) bool { return c.Name == "monitor" })
	}
	return newTable(r, path, "changes", found, columns)
}

func (d *Dashboard) changes(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	q := r.URL.Query()
	p := changesPage{Account: a, Filter: accounts.ChangesRequest{Monitor: q.Get("monitor"), Type: q.Get("type")}}
	var err error
	var found []schema.Change
	if p.Monitors, err = monitorsOf(r.Context(), d.clientOf(r, a.ID)); err == nil {
		found, err = d.cfg.Client.Operator().Changes(r.Context(), a.ID, p.Filter, shownChanges)
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Changes = changeTable(r, Root+"/accounts/"+a.ID+"/changes", found, true)
	d.show(w, r, http.StatusOK, frame{Title: "Changes of " + a.Name, Of: a.ID, Data: p})
}

// changeTypes are the types by which changes can be selected.
func changeTypes() []string {
	return []string{
		watch.Ready, watch.New, watch.Changed, watch.Gone, watch.Back, watch.Alerted, watch.Gap, watch.Recovered,
		watch.Failing, watch.Starved, watch.Stopped, watch.EndpointDisabled, watch.CreditsLow, watch.CreditsExhausted,
		watch.KeyRevoked, watch.PlatformDown, watch.PlatformUp, watch.BulkWaiting, watch.BulkDone, watch.BulkEnded,
	}
}

// changeSummary writes what a change says of its object in a line: the fields that have changed, or else its detail, or else
// what the object is called.
func changeSummary(c *schema.Change) string {
	var words []string
	for _, f := range c.Fields {
		words = append(words, f.Field+": "+clip(string(f.Before))+" → "+clip(string(f.After)))
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, "; ")
	case c.Detail != nil:
		return *c.Detail
	case c.Type == watch.Ready:
		return "the first poll, with which later ones are compared"
	}
	return calledIn(c.Object)
}

// calledIn writes what an object is called.
func calledIn(object json.RawMessage) string {
	var called struct{ Title, Name, Text, Handle string }
	_ = json.Unmarshal(object, &called) // an object without them, or none, has no name
	return clip(cmp.Or(called.Title, called.Name, called.Text, called.Handle))
}

// clip shortens a value to fit in a table.
func clip(value string) string {
	const most = 80
	runes := []rune(strings.Join(strings.Fields(value), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return cmp.Or(string(runes), "–")
}

// orDash returns s, or a dash for nil.
func orDash(s *string) string {
	if s == nil {
		return "–"
	}
	return *s
}

// changesPath returns the address of the changes of a monitor.
func changesPath(account, monitor string) string {
	return Root + "/accounts/" + url.PathEscape(account) + "/changes?" + url.Values{"monitor": {monitor}}.Encode()
}
