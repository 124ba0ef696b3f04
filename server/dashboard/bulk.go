package dashboard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

const (
	shownBulkJobs    = 200
	shownResults     = 50
	shownRefusals    = 20
	bulkFormBytes    = 256 << 10 // what a server accepts for its handlers by default
	resultsPerPart   = 1000
	resultsPatience  = 30 * time.Second // to send one part of a file of results
	renewBulkSeconds = "5"
)

// bulkJobsPage is the content of the page of the bulk jobs of an account, or of all accounts.
type bulkJobsPage struct {
	Account keys.Account // without an ID for all accounts
	Jobs    table[observe.BulkJob]
	Sent    sentForm
	Payers  []keys.Key        // as in foundPage
	Names   map[string]string // of all accounts, by id
}

// nameOf returns the name of an account, or its id if it has none.
func (p bulkJobsPage) nameOf(account string) string { return cmp.Or(p.Names[account], account) }

// bulkJobPage is the content of the page of one bulk job.
type bulkJobPage struct {
	Account keys.Account
	schema.BulkJob

	Started *schema.BulkStart // what became of the file that was sent just now; nil for none
	Results table[schema.BulkResult]
	Renew   bool // whether the page reloads by itself
}

// isOver reports whether the job gets no more results.
func isOver(j *schema.BulkJob) bool {
	return j.State == string(bulkjob.Done) || j.State == string(bulkjob.Ended)
}

// bulkPath returns the address of the bulk jobs of an account, or of one of them.
func bulkPath(account, name string) string {
	path := Root + "/accounts/" + url.PathEscape(account) + "/bulk"
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// allBulk shows the bulk jobs of all accounts.
func (d *Dashboard) allBulk(w http.ResponseWriter, r *http.Request) {
	var p bulkJobsPage
	var err error
	if p.Names, err = d.accountNames(r.Context()); err != nil {
		d.fail(w, r, err)
		return
	}
	if d.listBulk(w, r, &p) {
		d.show(w, r, http.StatusOK, frame{Title: "Bulk jobs", Data: p})
	}
}

// bulk shows the bulk jobs of an account.
func (d *Dashboard) bulk(w http.ResponseWriter, r *http.Request) {
	if a, ok := d.accountInPath(w, r); ok {
		d.showBulk(w, r, http.StatusOK, a, sentForm{})
	}
}

func (d *Dashboard) showBulk(w http.ResponseWriter, r *http.Request, status int, a keys.Account, sent sentForm) {
	p := bulkJobsPage{Account: a, Sent: sent}
	var err error
	if p.Payers, err = d.payers(r, a.ID); err != nil {
		d.answer(w, r, err)
		return
	}
	if d.listBulk(w, r, &p) {
		d.show(w, r, status, frame{Title: "Bulk jobs of " + a.Name, Of: a.ID, Data: p})
	}
}

// listBulk sets the jobs of a page, or answers why there are none.
func (d *Dashboard) listBulk(w http.ResponseWriter, r *http.Request, p *bulkJobsPage) bool {
	jobs, err := d.cfg.Client.Operator().BulkJobs(r.Context(), p.Account.ID, shownBulkJobs)
	if isProblem(err, problem.PlatformUnavailable) {
		d.refuse(w, r, http.StatusNotFound, "This service has no bulk jobs: its operator has not set them up.")
		return false
	}
	if err != nil {
		d.fail(w, r, err)
		return false
	}
	path := Root + "/bulk"
	columns := []column[observe.BulkJob]{
		{"name", "Name", "", func(j observe.BulkJob) any { return j.ID }},
		{"account", "Account", "more", func(j observe.BulkJob) any { return p.nameOf(j.Account) }},
		{"state", "State", "", func(j observe.BulkJob) any { return j.State }},
		{"lines", "Lines", "n", func(j observe.BulkJob) any { return j.Lines }},
		{"found", "Found", "n more", func(j observe.BulkJob) any { return j.Found }},
		{"missing", "Missing", "n more", func(j observe.BulkJob) any { return j.Missing }},
		{"failed", "Failed", "n more", func(j observe.BulkJob) any { return j.Failed }},
		{"left", "Left", "n", func(j observe.BulkJob) any { return j.Left }},
		{"credits", "Credits", "n more", func(j observe.BulkJob) any { return j.CreditsUsed }},
		{"most", "At most", "n more", func(j observe.BulkJob) any { return j.Most }},
		{"created", "Created (UTC)", "more", func(j observe.BulkJob) any { return j.CreatedAt }},
	}
	if p.Account.ID != "" {
		path = bulkPath(p.Account.ID, "")
		columns = slices.DeleteFunc(columns, func(c column[observe.BulkJob]) bool { return c.Name == "account" })
	}
	p.Jobs = newTable(r, path, "jobs", jobs, columns)
	return true
}

// startBulk starts the bulk job of a form. The same form sent twice starts one job.
func (d *Dashboard) startBulk(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	wrong := func(field, words string) {
		d.showBulk(w, r, http.StatusBadRequest, a, rejected(r, "bulk", field, words))
	}
	name, text := strings.TrimSpace(r.PostFormValue("name")), r.PostFormValue("lines")
	client, ok := d.payingClient(w, r, a.ID)
	if !ok {
		return
	}
	most, ok := creditsOf(r.PostFormValue("max_credits"))
	if !ok {
		wrong("max_credits", wantsAmount)
		return
	}
	if words := wrongName(name); words != "" {
		wrong("name", words)
		return
	}
	if file, err := sentFile(r); err != nil {
		d.fail(w, r, err)
		return
	} else if file != "" {
		text += "\n" + file
	}
	deadline, err := deadlineOf(r.PostFormValue("deadline"))
	if err != nil {
		wrong("deadline", "This must be a time such as 2027-01-31 06:00, in UTC.")
		return
	}
	started, err := client.Account().Bulk().Start(r.Context(), accounts.BulkRequest{
		Name: name, File: bulkLines(text), MaxCredits: most, Fresh: r.PostFormValue("fresh") != "",
		Enrich: r.PostFormValue("enrich"), Fields: strings.TrimSpace(r.PostFormValue("fields")), Deadline: deadline,
	})
	switch status, words := explained(err); {
	case errors.Is(err, bulkjob.ErrConflict):
		wrong("name", "A bulk job of that name with other lines is not done yet.")
	case status != 0:
		wrong(fieldIn(words, "lines", [2]string{"fields", `"fields"`}, [2]string{"deadline", `"deadline"`}), words)
	case err != nil:
		d.answer(w, r, err)
	case started.RefusedLines > 0:
		started.Refused = started.Refused[:min(len(started.Refused), shownRefusals)]
		d.showBulkJob(w, r, a, started.ID, &started)
	default:
		http.Redirect(w, r, bulkPath(a.ID, started.ID), http.StatusSeeOther)
	}
}

// deadlineOf reads a time in UTC, to the minute; "" is the zero time.
func deadlineOf(text string) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	return time.Parse(minuteLayout, strings.Replace(text, "T", " ", 1))
}

// sentFile returns the file of a form; "" for none.
func sentFile(r *http.Request) (string, error) {
	file, _, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func(f multipart.File) { _ = f.Close() }(file)
	b, err := io.ReadAll(file)
	return string(b), err
}

// bulkLines returns lines of text as the file of a bulk job: a line that is not a JSON object is a web address.
func bulkLines(text string) io.Reader {
	var out bytes.Buffer
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '{' {
			b, _ := json.Marshal(schema.BulkLine{URL: line}) // a string is always JSON
			line = string(b)
		}
		out.WriteString(line + "\n")
	}
	return &out
}

func (d *Dashboard) bulkJob(w http.ResponseWriter, r *http.Request) {
	if a, ok := d.accountInPath(w, r); ok {
		d.showBulkJob(w, r, a, r.PathValue("job"), nil)
	}
}

// showBulkJob shows the page of a bulk job with its first results.
func (d *Dashboard) showBulkJob(
	w http.ResponseWriter, r *http.Request, a keys.Account, name string, started *schema.BulkStart,
) {
	all := d.clientOf(r, a.ID).Account().Bulk()
	p := bulkJobPage{Account: a, Started: started, Renew: r.URL.Query().Has("renew")}
	var err error
	if p.BulkJob, err = all.Status(r.Context(), name); err != nil {
		d.answer(w, r, err)
		return
	}
	req := accounts.BulkResultsRequest{Name: name}
	req.Limit = shownResults
	first, err := all.Results(r.Context(), req)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	p.Results = newTable(r, bulkPath(a.ID, name), "results", first.Data, []column[schema.BulkResult]{
		{"line", "Line", "n", func(b schema.BulkResult) any { return b.Line }},
		{"key", "Asked for", "", func(b schema.BulkResult) any { return b.Key }},
		{"result", "Result", "", func(b schema.BulkResult) any { return outcomeOf(&b) }},
		{"what", "What", "more", func(b schema.BulkResult) any { return resultSummary(&b) }},
		{"credits", "Credits", "n", func(b schema.BulkResult) any { return b.CreditsUsed }},
	})
	if p.Renew = p.Renew && !isOver(&p.BulkJob); p.Renew {
		w.Header().Set("Refresh", renewBulkSeconds)
	}
	d.show(w, r, http.StatusOK, frame{Title: p.ID, Of: a.ID, Data: p})
}

// bulkResults answers the results that are there as lines of JSON.
func (d *Dashboard) bulkResults(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	req := accounts.BulkResultsRequest{Name: r.PathValue("job")}
	req.Limit = resultsPerPart
	all := d.clientOf(r, a.ID).Account().Bulk()
	part, err := all.Results(r.Context(), req)
	if err != nil {
		d.answer(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", `attachment; filename="`+req.Name+`.ndjson"`)
	control := http.NewResponseController(w)
	for len(part.Data) > 0 {
		_ = control.SetWriteDeadline(time.Now().Add(resultsPatience)) // not every response supports it
		for i := range part.Data {
			line, err := schema.Marshal(&part.Data[i])
			if err == nil {
				_, err = w.Write(append(line, '\n'))
			}
			if err != nil {
				panic(http.ErrAbortHandler) // a truncated file must not look complete
			}
		}
		req.After = part.Data[len(part.Data)-1].Line
		if part, err = all.Results(r.Context(), req); err != nil {
			d.log.ErrorContext(r.Context(), "dashboard: results of a bulk job", "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

func (d *Dashboard) askStopBulk(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	j, err := d.clientOf(r, a.ID).Account().Bulk().Status(r.Context(), r.PathValue("job"))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	path := bulkPath(a.ID, j.ID)
	d.show(w, r, http.StatusOK, frame{Title: "Stop a bulk job", Of: a.ID, Data: askPage{
		Question: "Stop " + j.ID + "?", Button: "Stop the job", Action: path + "/stop", Keep: "Let it go on", Back: path,
		Words: "What is under way is finished and charged. Lines without a result, now " + number(j.Left) +
			", are not read. Its results stay.",
	}})
}

func (d *Dashboard) stopBulk(w http.ResponseWriter, r *http.Request) {
	a, ok := d.accountInPath(w, r)
	if !ok {
		return
	}
	j, err := d.clientOf(r, a.ID).Account().Bulk().Stop(r.Context(), r.PathValue("job"))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, bulkPath(a.ID, j.ID), http.StatusSeeOther)
}

// waitsFor writes what a job waits for, and what to do.
func waitsFor(j *schema.BulkJob) string {
	if j.WaitingFor == nil {
		return ""
	}
	switch *j.WaitingFor {
	case bulkjob.ForCredits:
		return "It waits for credits: the account, or the key that pays, can spend too few. It continues after a grant."
	case bulkjob.ForMaxCredits:
		return "It has reached its own limit of credits. Start it again under another name, with a higher one, to read the rest."
	case bulkjob.ForRetry:
		return "The lines that are left have failed for a reason that may pass. They are tried again, for a day."
	case bulkjob.ForSpace:
		return "The results of the account fill their space. It continues when an older job is removed after its time."
	}
	return "The limit of " + *j.WaitingFor + " is used up, or " + *j.WaitingFor + " is down. It continues by itself."
}

// waitsShortly writes the same in a table.
func waitsShortly(what string) string {
	switch what {
	case bulkjob.ForMaxCredits:
		return "at its limit of credits"
	case bulkjob.ForRetry:
		return "to try lines again"
	}
	return "for " + what
}

// etaOf writes how long a job still takes; "" if that is not known, or it is over.
func etaOf(j *schema.BulkJob) string {
	if j.EtaS == nil || isOver(j) {
		return ""
	}
	d := time.Duration(*j.EtaS) * time.Second
	switch {
	case d < 2*time.Minute:
		return "about " + numberOf(*j.EtaS, "second")
	case d < 2*time.Hour:
		return "about " + numberOf(int64(d.Round(time.Minute)/time.Minute), "minute")
	}
	return "about " + numberOf(int64(d.Round(time.Hour)/time.Hour), "hour")
}

// outcomeOf writes how a line has ended.
func outcomeOf(b *schema.BulkResult) string {
	switch {
	case b.Problem == nil:
		return string(bulkjob.LineFound)
	case b.Problem.Code == problem.NotFound:
		return string(bulkjob.LineMissing)
	}
	return string(bulkjob.LineFailed)
}

// resultSummary writes what was found at a line, or why nothing was.
func resultSummary(b *schema.BulkResult) string {
	if b.Problem != nil {
		return b.Problem.Detail
	}
	var list []json.RawMessage
	if json.Unmarshal(b.Data, &list) == nil {
		return numberOf(int64(len(list)), "object")
	}
	return calledIn(b.Data)
}

// barPart is one part of the bar that shows how far a job is.
type barPart struct {
	Name, Class string
	N           int64
	X, Width    int // in thousandths
}

// bar returns the parts of the bar of a job.
func (p bulkJobPage) bar() []barPart {
	parts := []barPart{
		{Name: "found", Class: "ok", N: p.Found},
		{Name: "missing", Class: "c5", N: p.Missing},
		{Name: "failed", Class: "down", N: p.Failed},
		{Name: "left", Class: "none", N: p.Left},
	}
	sum := int64(0)
	for i := range parts {
		part := &parts[i]
		part.X = int(1000 * sum / max(1, p.Lines))
		sum += part.N
		part.Width = int(1000*sum/max(1, p.Lines)) - part.X
	}
	return parts
}

// percent returns how much of a job is done, in percent.
func (p bulkJobPage) percent() int64 { return 100 * (p.Lines - p.Left) / max(1, p.Lines) }
