package dashboard

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/schema"
)

// overview is the content of the first page.
type overview struct {
	FormID    string
	Sent      sentForm
	Search    string
	Next      string // the address of the next page; "" on the last one
	Accounts  table[accountRow]
	Platforms table[platformRow] // with a known state
	Uncalled  table[platformRow] // the others
	Drifted   table[observe.Drifted]
	Limits    table[observe.Quota] // whose size is known
	Unknown   table[observe.Quota] // the others
	Served    int                  // number of platforms
	Usage     usage                // of all accounts
	Hours     []hour
	Strip     table[stripRow]
	Today     requests.Rollup        // since midnight UTC
	Down      int                    // platforms that are down or degraded
	Days      table[requests.Rollup] // of all accounts, newest first
	Upstreams table[Upstream]
	Hits      int64
	Reads     int64
	Share     string // of answers from the cache, in percent; "" before the first
}

// Charts returns the charts of the last hours.
func (o overview) Charts() []chart { return []chart{callsByHour(o.Hours), durationsByHour(o.Hours)} }

// partition returns the rows for which first is true, and the others.
func partition[R any](rows []R, first func(R) bool) (yes, no []R) {
	for _, row := range rows {
		if first(row) {
			yes = append(yes, row)
		} else {
			no = append(no, row)
		}
	}
	return yes, no
}

// platformTable returns a table of platforms.
func platformTable(r *http.Request, name string, rows []platformRow) table[platformRow] {
	return newTable(r, Root, name, rows, []column[platformRow]{
		{"platform", "Platform", "", func(p platformRow) any { return string(p.ID) }},
		{"state", "State", "", func(p platformRow) any { return string(p.State) }},
		{"sources", "Sources not asked for now", "", func(p platformRow) any { return p.Breaker }},
	})
}

// limitTable returns a table of limits of upstreams.
func limitTable(r *http.Request, name string, rows []observe.Quota) table[observe.Quota] {
	return newTable(r, Root, name, rows, []column[observe.Quota]{
		{"platform", "Platform", "", func(q observe.Quota) any { return string(q.Platform) }},
		{"provider", "Provider", "more", func(q observe.Quota) any { return q.Provider }},
		{"limit", "Limit", "more", func(q observe.Quota) any { return q.Name }},
		{"share", "As a bar", "", func(q observe.Quota) any { return float64(q.Left) / float64(max(1, q.Limit)) }},
		{"left", "Left", "n", func(q observe.Quota) any { return q.Left }},
		{"of", "Of", "n", func(q observe.Quota) any { return q.Limit }},
		{"resets", "Resets (UTC)", "more", func(q observe.Quota) any { return q.Resets }},
	})
}

// stripRow is one platform in the last hours.
type stripRow struct {
	Platform string
	Hours    []stripHour
	Calls    int64
	Failed   int64
}

// stripHour is one platform in one hour. Its state is ok, warn (some calls failed), down (half of them, or more) or none.
type stripHour struct {
	State, Title string
}

// strip returns a row for each platform that was called in the last hours up to now, of usage by day and platform.
func strip(usage []requests.Rollup, now time.Time) []stripRow {
	byPlatform := map[string][]requests.Rollup{}
	for _, day := range usage {
		if day.Platform != "" {
			byPlatform[day.Platform] = append(byPlatform[day.Platform], day)
		}
	}
	var out []stripRow
	for name, days := range byName(byPlatform) {
		row := stripRow{Platform: name}
		for _, h := range lastHours(days, now) {
			state := "ok"
			switch {
			case h.Calls == 0:
				state = "none"
			case 2*h.Failed >= h.Calls:
				state = "down"
			case h.Failed > 0:
				state = "warn"
			}
			row.Hours = append(row.Hours, stripHour{state, fmt.Sprintf("%s %s: %s, %s failed", name,
				h.At.Format("15:04"), numberOf(h.Calls, "call"), number(h.Failed))})
			row.Calls, row.Failed = row.Calls+h.Calls, row.Failed+h.Failed
		}
		if row.Calls > 0 {
			out = append(out, row)
		}
	}
	return out
}

type accountRow struct {
	keys.Account
	Balance int64
	Keys    int64  // that are valid
	Until   string // the day on which the credits run out at the pace of the last days; "" if none were spent
}

// until returns the day on which a balance runs out if each day costs as much as the mean of the last days.
func until(balance, spent int64, now time.Time) string {
	if spent <= 0 {
		return ""
	}
	left := balance * days / spent
	if left > 365 {
		return "in more than a year"
	}
	return now.UTC().AddDate(0, 0, int(left)).Format(time.DateOnly)
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
	d.showOverview(w, r, http.StatusOK, sentForm{})
}

// showOverview shows the first page, with a form that was not accepted.
func (d *Dashboard) showOverview(w http.ResponseWriter, r *http.Request, status int, sent sentForm) {
	ctx := r.Context()
	if v := viewerOf(r); !v.operator() {
		http.Redirect(w, r, Root+"/accounts/"+v.key.Account, http.StatusSeeOther)
		return
	}
	o := overview{FormID: newFormID(), Sent: sent}
	drifted := d.cfg.Client.Operator().Drift()
	o.Drifted = newTable(r, Root, "drift", drifted[:min(len(drifted), shownDrift)], []column[observe.Drifted]{
		{"platform", "Platform", "", func(d observe.Drifted) any { return string(d.Platform) }},
		{"operation", "Operation", "", func(d observe.Drifted) any { return d.Operation }},
		{"field", "Field", "", func(d observe.Drifted) any { return d.Field }},
		{"times", "Times", "n", func(d observe.Drifted) any { return d.Count }},
		{"path", "Last at", "", func(d observe.Drifted) any { return d.Path }},
	})
	known, unknown := partition(d.cfg.Client.Operator().Quotas(), func(q observe.Quota) bool { return q.Limit != 0 })
	o.Limits, o.Unknown = limitTable(r, "limits", known), limitTable(r, "unknown", unknown)
	o.Upstreams = newTable(r, Root, "upstreams", d.cfg.Activity.Upstreams(), []column[Upstream]{
		{"platform", "Platform", "", func(u Upstream) any { return string(u.Platform) }},
		{"provider", "Provider", "", func(u Upstream) any { return u.Provider }},
		{"requests", "Requests", "n", func(u Upstream) any { return u.Requests }},
		{"unanswered", "No answer", "n more", func(u Upstream) any { return u.Unanswered }},
		{"refused", "400 or more", "n", func(u Upstream) any { return u.Refused }},
		{"unchanged", "Unchanged (304)", "n more", func(u Upstream) any { return u.Unchanged }},
	})
	hits, misses := d.cfg.Activity.Cache()
	if o.Hits, o.Reads = hits, hits+misses; o.Reads > 0 {
		o.Share = strconv.FormatInt(100*o.Hits/o.Reads, 10)
	}
	accounts, err := d.cfg.Keys.Accounts(ctx)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if o.Usage, err = d.usage(r, Root, "", requests.ByAccount); err != nil {
		d.fail(w, r, err)
		return
	}
	o.Days = newTable(r, Root, "vendors", o.Usage.Days, []column[requests.Rollup]{
		{"day", "Day (UTC)", "", func(day requests.Rollup) any { return day.Group(requests.ByDay) }},
		{"calls", "Calls", "n", func(day requests.Rollup) any { return day.Calls }},
		{"credits", "Credits charged", "n", func(day requests.Rollup) any { return day.Credits }},
		{"refunded", "Credits given back", "n more", func(day requests.Rollup) any { return day.Refunded }},
		{"sent", "Requests to upstreams", "more", func(day requests.Rollup) any { return sentRequests(day) }},
		{"spent", "Credits of vendors", "", func(day requests.Rollup) any { return vendorCredits(day) }},
	})
	o.Hours = lastHours(o.Usage.Days, d.now())
	o.Strip = newTable(r, Root, "strip", strip(o.Usage.ByPlatform, d.now()), []column[stripRow]{
		{"platform", "Platform", "", func(s stripRow) any { return s.Platform }},
		{"hours", "From " + o.Hours[0].At.Format("2 Jan 15:04") + " to now (UTC)", "", func(s stripRow) any { return s.latest() }},
		{"calls", "Calls", "n", func(s stripRow) any { return s.Calls }},
		{"failed", "Failed", "n", func(s stripRow) any { return s.Failed }},
	})
	if len(o.Usage.Days) > 0 && o.Usage.Days[0].Day == requests.DayOf(d.now()) {
		o.Today = o.Usage.Days[0]
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
	if o.Accounts, o.Next, err = d.accountTable(r, accounts, all, o.Usage.Spent); err != nil {
		d.fail(w, r, err)
		return
	}
	broken := d.cfg.Activity.Broken()
	health, err := d.cfg.Client.Health(ctx)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	served, err := served(ctx, d.cfg.Client)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	var platforms []platformRow
	for _, id := range slices.Sorted(maps.Keys(health.Platforms)) {
		row := platformRow{ID: id, State: health.Platforms[id], Idle: !served[id]}
		for b, state := range broken {
			if b.Platform == id {
				row.Breaker = strings.TrimSpace(row.Breaker + " " + b.Provider + " " + string(state))
			}
		}
		if !row.Idle && (row.State == schema.Down || row.State == schema.Degraded) {
			o.Down++
		}
		platforms = append(platforms, row)
	}
	slices.SortStableFunc(platforms, func(a, b platformRow) int {
		if a.Idle != b.Idle {
			if a.Idle {
				return 1
			}
			return -1
		}
		return worst(a.State) - worst(b.State)
	})
	o.Served = len(platforms)
	called, uncalled := partition(platforms, func(p platformRow) bool { return !p.Idle && p.State != schema.Unknown })
	o.Platforms, o.Uncalled = platformTable(r, "platforms", called), platformTable(r, "uncalled", uncalled)
	d.show(w, r, status, frame{Title: "Overview", Data: o})
}

// accountTable returns a page of the table of accounts and the address of the next page, given all keys and what each
// account has spent in the last days.
func (d *Dashboard) accountTable(
	r *http.Request, accounts []keys.Account, all []keys.Key, spent map[string]int64,
) (t table[accountRow], next string, err error) {
	valid := map[string]int64{} // keys, by account
	for _, k := range all {
		if k.RevokedAt == nil {
			valid[k.Account]++
		}
	}
	rows := make([]accountRow, len(accounts))
	for i, a := range accounts {
		rows[i] = accountRow{Account: a, Keys: valid[a.ID]}
	}
	balance := func(rows []accountRow) error {
		for i, row := range rows {
			n, err := d.cfg.Ledger.Balance(r.Context(), row.ID)
			if err != nil {
				return err
			}
			rows[i].Balance, rows[i].Until = n, until(n, spent[row.ID], d.now())
		}
		return nil
	}
	// A balance is a read of the ledger: of all accounts only where they are sorted by it.
	sortBy := strings.TrimPrefix(r.URL.Query().Get("sort.accounts"), "-")
	byBalance := sortBy == "balance" || sortBy == "until"
	if byBalance {
		if err := balance(rows); err != nil {
			return table[accountRow]{}, "", err
		}
	}
	t = newTable(r, Root, "accounts", rows, []column[accountRow]{
		{"name", "Name", "", func(a accountRow) any { return a.Name }},
		{"balance", "Balance", "n", func(a accountRow) any { return a.Balance }},
		{"until", "Lasts until", "", func(a accountRow) any { return a.Until }},
		{"keys", "Keys in use", "n more", func(a accountRow) any { return a.Keys }},
		{"since", "Since (UTC)", "more", func(a accountRow) any { return a.CreatedAt }},
	})
	from, _ := strconv.Atoi(r.URL.Query().Get("from")) // another word is the beginning
	if t.Rows = t.Rows[min(max(from, 0), len(t.Rows)):]; len(t.Rows) > shownAccounts {
		t.Rows = t.Rows[:shownAccounts]
		further := r.URL.Query()
		further.Set("from", strconv.Itoa(from+shownAccounts))
		next = Root + "?" + further.Encode() + "#accounts"
	}
	if !byBalance {
		err = balance(t.Rows)
	}
	return t, next, err
}

// sentRequests writes how many requests were sent to each upstream on a day.
func sentRequests(day requests.Rollup) string {
	return perProvider(day, func(u requests.Upstream) int64 { return u.Requests })
}

// vendorCredits writes what each vendor charged the operator on a day, in its own credits.
func vendorCredits(day requests.Rollup) string {
	return perProvider(day, func(u requests.Upstream) int64 { return u.Credits })
}

func perProvider(day requests.Rollup, count func(requests.Upstream) int64) string {
	var words []string
	for provider, sent := range byName(day.Upstreams) {
		if n := count(sent); n != 0 {
			words = append(words, provider+" "+number(n))
		}
	}
	return strings.Join(words, ", ")
}

// latest returns the states of the hours, the latest first and the worst lowest, to sort by.
func (s stripRow) latest() string {
	var states strings.Builder
	for _, h := range slices.Backward(s.Hours) {
		states.WriteString(strconv.Itoa(slices.Index([]string{"down", "warn", "ok", "none"}, h.State)))
	}
	return states.String()
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
