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
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/requests"
)

//go:generate go tool qtc -skipLineComments

// second writes t to the second.
func second(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// minuteLayout is how a time to the minute is written and typed.
const minuteLayout = "2006-01-02 15:04"

// minute writes t to the minute.
func minute(t time.Time) string { return t.UTC().Format(minuteLayout) }

// milliseconds writes how long a call took.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(requests.Milliseconds(d), 'f', -1, 64) + " ms"
}

// short writes d without the digits that do not matter.
func short(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

// ownAddress returns an address of these pages, to be followed by a click. Any other is "#": its scheme could run a script.
func ownAddress(address string) string {
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

// numberOf writes a number of things.
func numberOf(n int64, thing string) string {
	switch {
	case n == 1:
	case thing == "entry":
		thing = "entries"
	default:
		thing += "s"
	}
	return number(n) + " " + thing
}

// partsOfWord returns the parts of a long word between which a line may break: behind _ and /.
func partsOfWord(word string) (parts []string) {
	for word != "" {
		end := strings.IndexAny(word, "_/") + 1
		if end == 0 {
			end = len(word)
		}
		parts, word = append(parts, word[:end]), word[end:]
	}
	return parts
}

// sentence writes a detail as a sentence.
func sentence(detail string) string {
	first, size := utf8.DecodeRuneInString(detail)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(detail[size:], ".") + "."
}

// inCredits writes a number of credits.
func inCredits(n int64) string { return numberOf(n, "credit") }

// frame is the common part of all pages.
type frame struct {
	Title    string
	Signed   bool   // whether there is a session
	Operator bool   // whether the operator has signed in
	Own      string // the account that has signed in; "" for the operator
	Of       string // the account whose page it is; "" for none
	Path     string // of the page
	Data     page
}

// current returns the value of aria-current of a link to path: "page" if it is this page, "true" if this page is below
// it, else "". Nothing is below the overview and the page of an account, which have links beside theirs.
func (f frame) current(path string) string {
	switch {
	case f.Path == path:
		return "page"
	case path != Root && path != Root+"/accounts/"+cmp.Or(f.Own, f.Of) && strings.HasPrefix(f.Path, path+"/"):
		return "true"
	}
	return ""
}

// show answers with a page.
func (d *Dashboard) show(w http.ResponseWriter, r *http.Request, status int, f frame) {
	v := viewerOf(r)
	if f.Signed, f.Operator = v != nil, v.operator(); v != nil && v.key != nil {
		f.Own = v.key.Account
	}
	if r.URL != nil {
		f.Path = r.URL.Path
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	writewhole(w, f)
}

// fail answers an internal error. Its text is logged; the page has the request's id.
func (d *Dashboard) fail(w http.ResponseWriter, r *http.Request, err error) {
	d.log.ErrorContext(r.Context(), "dashboard", "error", err, "request_id", callctx.Of(r.Context()).ID)
	d.refuse(w, r, http.StatusInternalServerError, "Something went wrong on our side. The log says more under "+
		cmp.Or(callctx.Of(r.Context()).ID, "this time")+".")
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
	default:
		if status, words := explained(err); status != 0 {
			d.refuse(w, r, status, words)
			return
		}
		d.fail(w, r, err)
	}
}

// newFormID returns a value that makes a form count once.
func newFormID() string { return rand.Text() }

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

// accountPage is the content of the page of an account.
type accountPage struct {
	FormID  string // an id that makes a form take effect once
	Sent    sentForm
	Account keys.Account
	Balance int64
	Keys    table[keys.Key]      // newest first
	Entries table[credits.Entry] // newest first
	Usage   usage
}

// usage is the usage of one account, or of all, in the last days.
type usage struct {
	Chart   chart
	Rates   table[usageRow] // by platform and operation, most expensive first
	By      requests.Dimension
	Rows    table[usageRow]   // by By, most expensive first
	Dropped int64             // calls that the request log has lost
	Days    []requests.Rollup // newest first, with the requests to upstreams; none for one account

	ByPlatform []requests.Rollup // by day and platform
	Spent      map[string]int64  // credits, by By
}

// usageRow is the usage of one key, one account or one operation.
type usageRow struct {
	Name string // of the key or account, or the platform and operation
	ID   string // of a key; "" for others
	Link string // to its page; "" for none
	requests.Rollup
}

// usageColumns are those of a table of usage, of which word says what has a row.
func usageColumns(word string) []column[usageRow] {
	return []column[usageRow]{
		{"name", word, "", func(u usageRow) any { return u.Name }},
		{"calls", "Calls", "n", func(u usageRow) any { return u.Calls }},
		{"hits", "From the cache", "n more", func(u usageRow) any { return u.Hits }},
		{"failed", "Failed", "n more", func(u usageRow) any { return u.Failed }},
		{"problems", "Problems", "more", func(u usageRow) any { return u.problems() }},
		{"p50", "p50", "n more", func(u usageRow) any { return u.P50 }},
		{"p95", "p95", "n more", func(u usageRow) any { return u.P95 }},
		{"credits", "Credits", "n", func(u usageRow) any { return u.Credits }},
	}
}

// problems writes the codes of the problems with the number of each.
func (u usageRow) problems() string {
	var words []string
	for code, n := range byName(u.Errors) {
		words = append(words, code+" "+number(n))
	}
	return strings.Join(words, ", ")
}

const (
	days        = 14 // days of usage
	pageEntries = 50 // entries in the list
)

func (d *Dashboard) account(w http.ResponseWriter, r *http.Request) {
	d.showAccount(w, r, http.StatusOK, sentForm{})
}

// showAccount shows the page of the account that the path names, with a form that was not accepted.
func (d *Dashboard) showAccount(w http.ResponseWriter, r *http.Request, status int, sent sentForm) {
	ctx := r.Context()
	p := accountPage{FormID: newFormID(), Sent: sent}
	var err error
	if p.Account, err = d.cfg.Keys.Account(ctx, r.PathValue("account")); err == nil {
		p.Balance, err = d.cfg.Ledger.Balance(ctx, p.Account.ID)
	}
	var all []keys.Key
	if err == nil {
		all, err = d.cfg.Keys.Keys(ctx, p.Account.ID)
	}
	var entries []credits.Entry
	if err == nil {
		entries, err = d.cfg.Ledger.Entries(ctx, credits.Query{
			Account: p.Account.ID, Since: d.shownSince(), Limit: pageEntries,
		})
	}
	path := Root + "/accounts/" + p.Account.ID
	if err == nil {
		p.Usage, err = d.usage(r, path, p.Account.ID, requests.ByKey)
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	slices.Reverse(all) // newest first
	p.Keys, p.Entries = keyTable(r, path, all), entryTable(r, path, entries)
	d.show(w, r, status, frame{Title: p.Account.Name, Of: p.Account.ID, Data: p})
}

// shownSince returns the beginning of the first of the last days.
func (d *Dashboard) shownSince() time.Time {
	return d.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
}

// usage returns the usage of an account, or of all for "", in the last days, with a row for each key or account, for the
// page at path.
func (d *Dashboard) usage(r *http.Request, path, account string, of requests.Dimension) (u usage, err error) {
	ctx, since := r.Context(), d.shownSince()
	by := func(by ...requests.Dimension) ([]requests.Rollup, error) {
		return d.cfg.Client.Operator().Rollups(ctx, requests.SumQuery{Account: account, Since: requests.DayOf(since), By: by})
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
	u = usage{Chart: creditsByDay(perDay, since, days), ByPlatform: perDay, By: of}
	var calls []usageRow
	onlyRefunds := func(r requests.Rollup) bool { return r.Calls == 0 && r.Credits == 0 }
	for _, rate := range slices.DeleteFunc(byCost(rates), onlyRefunds) {
		calls = append(calls, usageRow{Name: strings.TrimSpace(rate.Platform + " " + rate.Operation), Rollup: rate})
	}
	u.Rates = newTable(r, path, "rates", calls, usageColumns("Operation"))
	if account == "" {
		if u.Days, err = by(requests.ByDay); err != nil {
			return u, err
		}
		slices.Reverse(u.Days)
	}
	u.Spent = map[string]int64{}
	for _, row := range rows {
		u.Dropped += row.Dropped
		u.Spent[row.Group(of)] = row.Credits
	}
	rows = slices.DeleteFunc(byCost(rows), onlyRefunds)
	shown, word := []usageRow{}, "Key"
	for _, row := range rows[:min(len(rows), shownUsage)] {
		shown = append(shown, usageRow{Name: row.Group(of), Rollup: row})
	}
	switch of {
	case requests.ByKey:
		err = d.nameKeys(ctx, account, shown)
	case requests.ByAccount:
		word = "Account"
		err = d.nameAccounts(ctx, shown)
	case requests.ByDay, requests.ByPlatform, requests.ByOperation: // they are named by what they are
	}
	u.Rows = newTable(r, path, "usage", shown, usageColumns(word))
	return u, err
}

// nameKeys sets the names of rows of an account's keys.
func (d *Dashboard) nameKeys(ctx context.Context, account string, rows []usageRow) error {
	all, err := d.cfg.Keys.Keys(ctx, account)
	for i, row := range rows {
		rows[i].ID = row.Name
		if at := slices.IndexFunc(all, func(k keys.Key) bool { return k.ID == row.Name }); at >= 0 && all[at].Name != "" {
			rows[i].Name = all[at].Name
		}
	}
	return err
}

// nameAccounts sets the names of rows of accounts, and their links.
func (d *Dashboard) nameAccounts(ctx context.Context, rows []usageRow) error {
	names, err := d.accountNames(ctx)
	for i, row := range rows {
		if name, ok := names[row.Name]; ok {
			rows[i].Name, rows[i].Link = name, Root+"/accounts/"+row.Name
		}
	}
	return err
}

// accountNames returns the names of all accounts, by id.
func (d *Dashboard) accountNames(ctx context.Context) (map[string]string, error) {
	all, err := d.cfg.Keys.Accounts(ctx)
	names := make(map[string]string, len(all))
	for _, a := range all {
		names[a.ID] = a.Name
	}
	return names, err
}

// isNewForm reports whether the form of r is sent for the first time. A form that is sent again, such as by reloading the
// page, changes nothing.
func (d *Dashboard) isNewForm(w http.ResponseWriter, r *http.Request) bool {
	id := r.PostFormValue("form_id")
	if id == "" || len(id) > 64 {
		d.refuse(w, r, http.StatusBadRequest, "This form is not from this page. Open the page again.")
		return false
	}
	_, added, err := d.cfg.Records.Add(r.Context(),
		records.Record{Key: records.Key("admin-form", id), Value: []byte{1}}, longest)
	switch {
	case err != nil:
		d.fail(w, r, err)
	case !added:
		d.refuse(w, r, http.StatusConflict, "This was done already; it was not done again. A key's value is shown once only.")
	}
	return err == nil && added
}

func (d *Dashboard) createAccount(w http.ResponseWriter, r *http.Request) {
	amount, ok := creditsOf(r.PostFormValue("credits"))
	if !ok {
		d.showOverview(w, r, http.StatusBadRequest, rejected(r, "account", "credits", wantsAmount))
		return
	}
	if !d.isNewForm(w, r) {
		return
	}
	a, err := d.cfg.Keys.OpenAccount(r.Context(), strings.TrimSpace(r.PostFormValue("name")), amount,
		"opened in the dashboard")
	if status, words := explained(err); status != 0 {
		d.showOverview(w, r, status, rejected(r, "account", fieldIn(words, "name", [2]string{"credits", "credits"}), words))
		return
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+a.ID, http.StatusSeeOther)
}

// creditsOf returns a number of credits that was typed; "" is 0.
func creditsOf(typed string) (int64, bool) {
	n, err := strconv.ParseInt(cmp.Or(strings.NewReplacer(",", "", " ", "").Replace(typed), "0"), 10, 64)
	return n, err == nil && n >= 0 && n <= credits.MaxBalance
}

func (d *Dashboard) give(w http.ResponseWriter, r *http.Request) {
	n, ok := creditsOf(r.PostFormValue("credits"))
	if !ok {
		d.showAccount(w, r, http.StatusBadRequest, rejected(r, "give", "credits", wantsAmount))
		return
	}
	if !d.isNewForm(w, r) {
		return
	}
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err == nil {
		_, err = d.cfg.Ledger.Grant(r.Context(), a.ID, n,
			cmp.Or(strings.TrimSpace(r.PostFormValue("reason")), "granted in the dashboard"))
	}
	d.granted(w, r, a, "give", "credits", err)
}

// granted leads to the page of an account after its ledger was changed, or shows the form again if it was not.
func (d *Dashboard) granted(w http.ResponseWriter, r *http.Request, a keys.Account, form, field string, err error) {
	if status, words := explained(err); status != 0 {
		d.showAccount(w, r, status, rejected(r, form, fieldIn(words, field, [2]string{"reason", "reason"}), words))
		return
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+a.ID, http.StatusSeeOther)
}

// refund returns to an account what a request was charged, or a part of it.
func (d *Dashboard) refund(w http.ResponseWriter, r *http.Request) {
	wrong := func(field, words string) {
		d.showAccount(w, r, http.StatusBadRequest, rejected(r, "refund", field, words))
	}
	n, ok := creditsOf(r.PostFormValue("credits"))
	if !ok {
		wrong("credits", wantsAmount)
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
		wrong("request", "This request was charged nothing, or was given back already.")
		return
	case n > most:
		wrong("credits", "Of this request, "+inCredits(most)+" can be given back.")
		return
	}
	if !d.isNewForm(w, r) {
		return
	}
	reason := cmp.Or(strings.TrimSpace(r.PostFormValue("reason")), "refunded in the dashboard")
	_, err = d.cfg.Ledger.Refund(r.Context(), a.ID, n, request, reason)
	d.granted(w, r, a, "refund", "request", err)
}

// reverse takes back a grant that was made by mistake.
func (d *Dashboard) reverse(w http.ResponseWriter, r *http.Request) {
	wrong := func(status int, words string) {
		d.showAccount(w, r, status, rejected(r, "reverse", "entry", words))
	}
	seq, err := strconv.ParseInt(strings.TrimSpace(r.PostFormValue("entry")), 10, 64)
	if err != nil || seq < 1 {
		wrong(http.StatusBadRequest, "This must be a number of the ledger, such as 12.")
		return
	}
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err == nil {
		reason := cmp.Or(strings.TrimSpace(r.PostFormValue("reason")), "taken back in the dashboard")
		_, err = d.cfg.Ledger.Reverse(r.Context(), a.ID, seq, reason) // the ledger does it once
	}
	switch {
	case errors.Is(err, credits.ErrInsufficient):
		wrong(http.StatusConflict, "The account can spend less than this grant was. Nothing was taken back.")
	case errors.Is(err, credits.ErrNotGrant):
		wrong(http.StatusBadRequest, fmt.Sprintf("Entry %d is not a grant.", seq))
	default:
		d.granted(w, r, a, "reverse", "entry", err)
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
