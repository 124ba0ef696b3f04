package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/observe"
)

// jobsPage is the content of the page of jobs.
type jobsPage struct {
	Account string
	Jobs    table[observe.Job]
	Of      int // how many there are
}

// shownJobs is how many jobs a page shows.
const shownJobs = 200

func (d *Dashboard) jobs(w http.ResponseWriter, r *http.Request) {
	p := jobsPage{Account: strings.TrimSpace(r.URL.Query().Get("account"))}
	if v := viewerOf(r); !v.operator() {
		p.Account = v.key.Account
	}
	all, of, err := d.cfg.Client.Operator().Jobs(r.Context(), p.Account, shownJobs)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	p.Of = of
	columns := []column[observe.Job]{
		{"begun", "Begun (UTC)", "more", func(j observe.Job) any { return j.Begun }},
		{"job", "Job", "", func(j observe.Job) any { return j.ID }},
		{"account", "Account", "more", func(j observe.Job) any { return j.Account }},
		{"key", "Key", "more", func(j observe.Job) any { return j.Key }},
		{"state", "State", "", func(j observe.Job) any { return string(j.State) }},
		{"deadline", "Deadline (UTC)", "more", func(j observe.Job) any { return j.Deadline }},
		{"ended", "Ended (UTC)", "more", func(j observe.Job) any { return j.Ended }},
		{"platforms", "Platforms", "", func(j observe.Job) any { return partsOf(j) }},
		{"held", "Credits held", "n more", func(j observe.Job) any { return j.Held }},
		{"charged", "Credits charged", "n", func(j observe.Job) any { return j.Charged }},
	}
	if !viewerOf(r).operator() { // it has one account
		columns = slices.DeleteFunc(columns, func(c column[observe.Job]) bool { return c.Name == "account" })
	}
	p.Jobs = newTable(r, Root+"/jobs", "jobs", all, columns)
	d.show(w, r, http.StatusOK, frame{Title: "Searches", Data: p})
}

// partsOf writes the state of each platform of a job.
func partsOf(j observe.Job) string {
	words := make([]string, len(j.Parts))
	for i, p := range j.Parts {
		words[i] = string(p.Platform) + " " + string(p.State)
	}
	return strings.Join(words, ", ")
}
