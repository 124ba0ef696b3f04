package dashboard

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
)

// ledgerPage is what the page of an account's ledger shows.
type ledgerPage struct {
	Account keys.Account
	Filter  url.Values
	CSV     string // the address of all of it as CSV
	Next    string // the address of the next page; "" on the last one
	Entries table[credits.Entry]
}

// entryTable returns the table of entries of a ledger on the page at path.
func entryTable(r *http.Request, path string, entries []credits.Entry) table[credits.Entry] {
	return newTable(r, path, "entries", entries, []column[credits.Entry]{
		{"no", "No.", "more", func(e credits.Entry) any { return e.Seq }},
		{"at", "Time (UTC)", "", func(e credits.Entry) any { return e.At }},
		{"kind", "Kind", "", func(e credits.Entry) any { return string(e.Kind) }},
		{"what", "What", "", func(e credits.Entry) any { return e.Platform + " " + e.Operation + e.Reason }},
		{"cache", "Cache", "more", func(e credits.Entry) any { return e.Cache }},
		{"key", "Key", "more", func(e credits.Entry) any { return e.Key }},
		{"credits", "Credits", "n", func(e credits.Entry) any { return e.Amount }},
		{"balance", "Balance", "n more", func(e credits.Entry) any { return e.Balance }},
	})
}

const (
	ledgerEntries = 200    // on a page
	csvEntries    = 50_000 // in a file
)

// selected returns the query of a request, and its filter for the links of the page.
func selected(r *http.Request, account string) (q credits.Query, filter url.Values) {
	given, filter := r.URL.Query(), url.Values{}
	for _, name := range []string{"since", "until", "platform", "request"} {
		if v := strings.TrimSpace(given.Get(name)); v != "" {
			filter.Set(name, v)
		}
	}
	q = credits.Query{
		Account: account, RequestID: filter.Get("request"), Platform: filter.Get("platform"), Limit: ledgerEntries,
	}
	q.Since, _ = time.Parse(time.DateOnly, filter.Get("since")) // another word selects from the beginning
	if until, err := time.Parse(time.DateOnly, filter.Get("until")); err == nil {
		q.Until = until.AddDate(0, 0, 1) // a day that is named is shown whole
	}
	q.Before, _ = strconv.ParseInt(given.Get("before"), 10, 64)
	return q, filter
}

func (d *Dashboard) ledger(w http.ResponseWriter, r *http.Request) {
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	q, filter := selected(r, a.ID)
	p := ledgerPage{Account: a, Filter: filter, CSV: Root + "/accounts/" + a.ID + "/ledger.csv?" + filter.Encode()}
	entries, err := d.cfg.Ledger.Entries(r.Context(), q)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Entries = entryTable(r, Root+"/accounts/"+a.ID+"/ledger", entries)
	if len(entries) == ledgerEntries {
		filter.Set("before", strconv.FormatInt(entries[ledgerEntries-1].Seq, 10))
		p.Next = Root + "/accounts/" + a.ID + "/ledger?" + filter.Encode()
		filter.Del("before")
	}
	d.show(w, r, http.StatusOK, frame{Title: "Ledger of " + a.Name, Of: a.ID, Data: p})
}

// ledgerCSV answers the entries that are selected as CSV, newest first.
func (d *Dashboard) ledgerCSV(w http.ResponseWriter, r *http.Request) {
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	q, _ := selected(r, a.ID)
	page, err := d.cfg.Ledger.Entries(r.Context(), q)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="ledger.csv"`)
	out := csv.NewWriter(w)
	_ = out.Write([]string{
		"seq", "time", "kind", "amount", "balance", "platform", "operation", "cache", "request_id", "key", "reason",
	})
	for n := 0; n < csvEntries; {
		for _, e := range page {
			_ = out.Write([]string{
				strconv.FormatInt(e.Seq, 10), e.At.UTC().Format(time.RFC3339Nano), string(e.Kind), strconv.FormatInt(e.Amount, 10),
				strconv.FormatInt(e.Balance, 10), cell(e.Platform), cell(e.Operation), e.Cache, cell(e.RequestID), cell(e.Key),
				cell(e.Reason),
			})
		}
		if n += len(page); len(page) < ledgerEntries {
			break
		}
		q.Before = page[len(page)-1].Seq
		if page, err = d.cfg.Ledger.Entries(r.Context(), q); err != nil {
			d.log.ErrorContext(r.Context(), "dashboard: ledger", "error", err)
			panic(http.ErrAbortHandler) // a truncated file must not look complete
		}
	}
	out.Flush()
}

// cell guards a text against spreadsheets that would interpret it as a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
