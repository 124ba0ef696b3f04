package dashboard

import (
	"net/http"
	"sync"
	"time"
)

// Audited is the result of an audit of the books.
type Audited struct {
	Accounts, Keys, Entries int64
	Credits                 int64    // sum of all balances
	Problems                []string // none when everything is in order
	Losses                  []Loss   // accepted losses, oldest first
}

// Loss is data that a store has lost, and whose loss the operator has accepted.
type Loss struct {
	Accepted               time.Time // when it was accepted
	At                     time.Time // when the store last had the data
	HadEntries, HadCredits int64
	Entries, Credits       int64 // present when it was accepted
}

// audits is the result of the last audit that was made on the page. Only one audit runs at a time.
type audits struct {
	running sync.Mutex

	mu   sync.Mutex
	last *finished
}

// finished is an audit that has ended.
type finished struct {
	At     time.Time
	Took   time.Duration
	Report Audited
}

// auditPage is the content of the page of the audit.
type auditPage struct {
	Can    bool        // whether the store can be audited
	Last   *finished   // nil before the first since the process began
	Losses table[Loss] // of it
}

func (d *Dashboard) showAudit(w http.ResponseWriter, r *http.Request) {
	d.audits.mu.Lock()
	p := auditPage{Can: d.cfg.Audit != nil, Last: d.audits.last}
	d.audits.mu.Unlock()
	var losses []Loss
	if p.Last != nil {
		losses = p.Last.Report.Losses
	}
	p.Losses = newTable(r, Root+"/audit", "losses", losses, []column[Loss]{
		{"accepted", "Accepted (UTC)", "", func(l Loss) any { return l.Accepted }},
		{"complete", "Last complete (UTC)", "", func(l Loss) any { return l.At }},
		{"entries_then", "Entries then", "n", func(l Loss) any { return l.HadEntries }},
		{"credits_then", "Credits then", "n", func(l Loss) any { return l.HadCredits }},
		{"entries_left", "Entries left", "n", func(l Loss) any { return l.Entries }},
		{"credits_left", "Credits left", "n", func(l Loss) any { return l.Credits }},
	})
	d.show(w, r, http.StatusOK, frame{Title: "Audit", Data: p})
}

// audit audits the books. It ends when the operator leaves the page.
func (d *Dashboard) audit(w http.ResponseWriter, r *http.Request) {
	if d.cfg.Audit == nil {
		d.refuse(w, r, http.StatusNotFound, "The books of this service cannot be audited here.")
		return
	}
	if !d.audits.running.TryLock() {
		d.refuse(w, r, http.StatusConflict, "An audit is in progress already. Open the page of the audit later.")
		return
	}
	defer d.audits.running.Unlock()
	began := d.now()
	report, err := d.cfg.Audit(r.Context())
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.audits.mu.Lock()
	d.audits.last = &finished{At: began, Took: d.now().Sub(began), Report: report}
	d.audits.mu.Unlock()
	http.Redirect(w, r, Root+"/audit", http.StatusSeeOther)
}
