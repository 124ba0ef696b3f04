package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/requests"
)

// calls is the content of the page of recent calls.
type calls struct {
	Account  string
	Filter   accounts.RequestsRequest
	Narrowed bool // whether the viewer has narrowed the calls down
	Renew    bool // whether the page reloads by itself
	Calls    table[requests.Request]
}

// columns are those of the table of calls.
func (c calls) columns(operator bool) []column[requests.Request] {
	columns := []column[requests.Request]{
		{"at", "Time (UTC)", "", func(r requests.Request) any { return r.At }},
		{"status", "Status", "", func(r requests.Request) any { return strconv.Itoa(r.Status) + " " + r.Code }},
		{"call", "Call", "", func(r requests.Request) any { return r.Platform + " " + r.Operation }},
		{"detail", "Detail", "more", func(r requests.Request) any { return r.Detail }},
		{"credits", "Credits", "n", func(r requests.Request) any { return r.Credits }},
		{"took", "Took (ms)", "n more", func(r requests.Request) any { return r.Took }},
		{"cache", "Cache", "more", func(r requests.Request) any { return r.Cache }},
		{"source", "Source", "more", func(r requests.Request) any { return r.Source }},
		{"key", "Key", "more", func(r requests.Request) any { return r.Key }},
	}
	if operator {
		columns = append(columns, column[requests.Request]{
			"account", "Account", "more", func(r requests.Request) any { return r.Account },
		})
	}
	return columns
}

// shownCalls is how many calls a page shows.
const shownCalls = 200

func (d *Dashboard) calls(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	status, _ := strconv.Atoi(q.Get("status")) // any other text selects all
	c := calls{Account: q.Get("account"), Renew: q.Has("renew"), Filter: accounts.RequestsRequest{
		RequestID: q.Get("request"), KeyID: q.Get("key"), Operation: q.Get("operation"),
		Platform: platform.ID(q.Get("platform")),
		Status:   status,
	}}
	c.Narrowed = c.Account != "" || c.Filter != accounts.RequestsRequest{}
	if v := viewerOf(r); !v.operator() {
		c.Account = v.key.Account
	}
	found, err := d.cfg.Client.Operator().Requests(r.Context(), c.Account, c.Filter, shownCalls)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	c.Calls = newTable(r, Root+"/calls", "calls", found, c.columns(viewerOf(r).operator()))
	if c.Renew {
		w.Header().Set("Refresh", "5")
	}
	d.show(w, r, http.StatusOK, frame{Title: "Calls", Data: c})
}

// callPage is the content of the page of one request.
type callPage struct {
	requests.Request

	KeyName string              // "" for a key that no longer exists
	Why     string              // what its problem means and what to do, "" for an answer
	Asked   []requests.Provider // as the viewer may see them (D94): only the operator sees those that were passed over
	Entries table[credits.Entry]
}

// call shows one request of the log with its entries in the ledger.
func (d *Dashboard) call(w http.ResponseWriter, r *http.Request) {
	account := ""
	if v := viewerOf(r); !v.operator() {
		account = v.key.Account
	}
	found, err := d.cfg.Client.Operator().Requests(r.Context(), account,
		accounts.RequestsRequest{RequestID: r.PathValue("request")}, 1)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	if len(found) == 0 {
		d.refuse(w, r, http.StatusNotFound, "The log has no such request. By default, it has the last 100,000 of 7 days.")
		return
	}
	p := callPage{Request: found[0]}
	shown := p.Request
	p.Asked = p.Providers
	if !viewerOf(r).operator() {
		shown.Upstream, shown.Providers = 0, nil
		p.Asked = slices.DeleteFunc(slices.Clone(p.Asked), func(asked requests.Provider) bool { return asked.Calls == 0 })
	}
	why := shown.Explain()
	if viewerOf(r).operator() && shown.Code == string(problem.PlatformUnavailable) {
		why = append(why, d.usedUp(shown.Platform)...)
	}
	p.Why = strings.Join(why, " ")
	if k, err := d.cfg.Keys.Key(r.Context(), p.Key); err == nil {
		p.KeyName = k.Name
	}
	entries, err := d.cfg.Ledger.Entries(r.Context(), credits.Query{Account: p.Account, RequestID: p.ID})
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Entries = entryTable(r, Root+"/calls/"+url.PathEscape(p.ID), entries)
	d.show(w, r, http.StatusOK, frame{Title: "Request " + p.ID, Data: p})
}

// usedUp writes which limits of a platform's upstreams are used up now, and when each resets.
func (d *Dashboard) usedUp(on string) (words []string) {
	for _, q := range d.cfg.Client.Operator().Quotas() {
		if string(q.Platform) == on && q.Limit > 0 && q.Left == 0 && q.Resets.After(d.now()) {
			words = append(words, "The limit "+q.Name+" of "+q.Provider+" ("+number(q.Limit)+") is used up, and resets at "+
				second(q.Resets)+" (UTC).")
		}
	}
	return words
}

// shortID shortens an id to what distinguishes it in a list.
func shortID(id string) string {
	const shown = 12
	if len(id) <= shown {
		return id
	}
	return id[:shown] + "…"
}
