package dashboard

import (
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/observe"
)

// jobsPage is the content of the page of jobs.
type jobsPage struct {
	Account string
	Jobs    []observe.Job
	Of      int // how many there are
}

// shownJobs is how many jobs a page shows.
const shownJobs = 200

func (d *Dashboard) jobs(w http.ResponseWriter, r *http.Request) {
	p := jobsPage{Account: strings.TrimSpace(r.URL.Query().Get("account"))}
	if v := viewerOf(r); !v.operator() {
		p.Account = v.key.Account
	}
	var err error
	if p.Jobs, p.Of, err = d.cfg.Client.Jobs(r.Context(), p.Account, shownJobs); err != nil {
		d.fail(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, frame{Title: "Jobs", Data: p})
}
