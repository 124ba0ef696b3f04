package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/schema"
)

// keyTable returns the table of an account's keys on the page at path.
func keyTable(r *http.Request, path string, all []keys.Key) table[keys.Key] {
	return newTable(r, path, "keys", all, []column[keys.Key]{
		{"name", "Name", "", func(k keys.Key) any { return k.Name }},
		{"prefix", "Begins with", "", func(k keys.Key) any { return k.Prefix }},
		{"for", "Made for", "more", func(k keys.Key) any { return string(k.Environment) }},
		{"created", "Created (UTC)", "more", func(k keys.Key) any { return k.CreatedAt }},
		{"used", "Last used (UTC)", "more", func(k keys.Key) any { return timeOf(k.LastUsedAt) }},
		{"rate", "Rate", "more", func(k keys.Key) any { return rateOf(k.Rate) }},
		{"bounds", "Limits", "more", func(k keys.Key) any { return boundsOf(k) }},
		{"manages", "Manages", "more", func(k keys.Key) any { return k.Manage }},
		{"do", "What to do", "", nil},
	})
}

// rateOf writes the rate of a key.
func rateOf(r *keys.Rate) string {
	if r == nil {
		return "the default"
	}
	return fmt.Sprintf("%d at once, %v a second", r.Capacity, r.Refill)
}

// boundsOf writes what a key may spend.
func boundsOf(k keys.Key) string {
	var words []string
	if k.DayCap != nil {
		words = append(words, number(*k.DayCap)+" a day")
	}
	if k.TotalCap != nil {
		words = append(words, number(*k.TotalCap)+" ever")
	}
	return strings.Join(words, ", ")
}

// keyForm is what a form says of a key.
type keyForm struct {
	limits keys.Limits
	manage bool
}

// keyFormOf reads the limits in a form. An empty field means no limit. field is the one that is wrong; "" for none.
func keyFormOf(r *http.Request) (f keyForm, field, words string) {
	f.manage = r.PostFormValue("manage") != ""
	for field, at := range map[string]**int64{"day_cap": &f.limits.DayCap, "total_cap": &f.limits.TotalCap} {
		if strings.TrimSpace(r.PostFormValue(field)) == "" {
			continue
		}
		bound, ok := creditsOf(r.PostFormValue(field))
		if !ok {
			return f, field, wantsAmount
		}
		*at = &bound
	}
	capacity, refill := strings.TrimSpace(r.PostFormValue("capacity")), strings.TrimSpace(r.PostFormValue("refill"))
	if capacity == "" && refill == "" {
		return f, "", ""
	}
	n, err := strconv.ParseInt(capacity, 10, 64)
	each, ferr := strconv.ParseFloat(refill, 64)
	if err != nil || ferr != nil {
		return f, "capacity",
			"A rate is two numbers: the calls at once, and those that come back each second. Fill in both, or neither."
	}
	f.limits.Rate = &keys.Rate{Capacity: n, Refill: each}
	return f, "", ""
}

// keyField returns the field that is wrong with a key.
func keyField(words, otherwise string) string {
	return fieldIn(words, otherwise, [2]string{"day_cap", "daily cap"}, [2]string{"total_cap", "total cap"},
		[2]string{"capacity", "rate"}, [2]string{"day_cap", "cap"})
}

// createKey makes a key of the account that the path names: within the bounds of the viewer's key, unless that is the
// operator.
func (d *Dashboard) createKey(w http.ResponseWriter, r *http.Request) {
	again := func(status int, field, words string) { d.showAccount(w, r, status, rejected(r, "key", field, words)) }
	f, field, words := keyFormOf(r)
	if field != "" {
		again(http.StatusBadRequest, field, words)
		return
	}
	if !d.isNewForm(w, r) {
		return
	}
	a, err := d.cfg.Keys.Account(r.Context(), r.PathValue("account"))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	name, environment := strings.TrimSpace(r.PostFormValue("name")),
		keys.Environment(cmp.Or(r.PostFormValue("environment"), "live"))
	p := keyPage{Account: a, Base: base(r)}
	if own, mine := d.ownKeys(r); mine {
		all, lerr := d.cfg.Keys.Keys(r.Context(), a.ID)
		for _, k := range all {
			if k.Name == name && k.RevokedAt == nil {
				again(http.StatusConflict, "name", "A key of that name exists already.")
				return
			}
		}
		spec := f.spec()
		spec.Environment = schema.KeyEnvironment(environment)
		var made schema.MadeKey
		made, err = own.Make(r.Context(), name, spec)
		if err = cmp.Or(lerr, err); err == nil {
			p.Secret, p.Key.Name = *made.Secret, made.Name
		}
	} else {
		p.Secret, p.Key, err = d.cfg.Keys.CreateKey(r.Context(), keys.NewKey{
			Account: a.ID, Name: name, Environment: environment, Rate: f.limits.Rate, DayCap: f.limits.DayCap,
			TotalCap: f.limits.TotalCap, Manage: f.manage,
		})
	}
	if status, words := explained(err); status != 0 {
		again(status, keyField(words, "name"), words)
		return
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, frame{Title: "New key", Of: a.ID, Data: p})
}

// spec returns what the form says a key may do.
func (f keyForm) spec() schema.KeySpec {
	spec := schema.KeySpec{DayCap: f.limits.DayCap, TotalCap: f.limits.TotalCap, Manage: f.manage}
	if r := f.limits.Rate; r != nil {
		spec.Rate = &schema.KeyRate{Capacity: r.Capacity, RefillPerS: r.Refill}
	}
	return spec
}

// base returns the address of this service as the browser knows it.
func base(r *http.Request) string {
	if secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// changePage is the content of the page that changes the limits and the mark of a key.
type changePage struct {
	Sent    sentForm
	Key     keys.Key
	Most    keys.Limits
	Account keys.Account
}

// oneKey returns the key that the path names with its account, or answers why there is none.
func (d *Dashboard) oneKey(w http.ResponseWriter, r *http.Request) (k keys.Key, a keys.Account, ok bool) {
	k, err := d.cfg.Keys.Key(r.Context(), r.PathValue("key"))
	if err == nil {
		a, err = d.cfg.Keys.Account(r.Context(), k.Account)
	}
	if err != nil {
		d.answer(w, r, err)
	}
	return k, a, err == nil
}

// limit writes the value of the field of a limit.
func limit(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// rateFields writes the values of the fields of a rate.
func rateFields(r *keys.Rate) (capacity, refill string) {
	if r == nil {
		return "", ""
	}
	return strconv.FormatInt(r.Capacity, 10), strconv.FormatFloat(r.Refill, 'f', -1, 64)
}

func (d *Dashboard) askChangeKey(w http.ResponseWriter, r *http.Request) {
	d.showChangeKey(w, r, http.StatusOK, sentForm{})
}

func (d *Dashboard) showChangeKey(w http.ResponseWriter, r *http.Request, status int, sent sentForm) {
	if k, a, ok := d.oneKey(w, r); ok {
		d.show(w, r, status, frame{Title: "Change a key", Of: a.ID, Data: changePage{sent, k, k.Most(), a}})
	}
}

// changeKey changes the limits and the mark of a key. The limits that the operator sets are the highest that the
// account can set.
func (d *Dashboard) changeKey(w http.ResponseWriter, r *http.Request) {
	f, field, words := keyFormOf(r)
	if field != "" {
		d.showChangeKey(w, r, http.StatusBadRequest, rejected(r, "change", field, words))
		return
	}
	id := r.PathValue("key")
	k, err := d.cfg.Keys.Key(r.Context(), id)
	if err == nil {
		if own, mine := d.ownKeys(r); mine {
			_, err = own.Change(r.Context(), id, f.spec())
		} else {
			_, err = d.cfg.Keys.Change(r.Context(), id, func(k *keys.Key) error {
				k.Rate, k.DayCap, k.TotalCap, k.Bounds, k.Manage = f.limits.Rate, f.limits.DayCap, f.limits.TotalCap, nil, f.manage
				return nil
			})
		}
	}
	if status, words := explained(err); status != 0 {
		d.showChangeKey(w, r, status, rejected(r, "change", keyField(words, "day_cap"), words))
		return
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+k.Account+"#keys", http.StatusSeeOther)
}

func (d *Dashboard) askRotateKey(w http.ResponseWriter, r *http.Request) {
	d.showRotateKey(w, r, http.StatusOK, sentForm{})
}

func (d *Dashboard) showRotateKey(w http.ResponseWriter, r *http.Request, status int, sent sentForm) {
	k, a, ok := d.oneKey(w, r)
	if !ok {
		return
	}
	d.show(w, r, status, frame{Title: "Rotate a key", Of: a.ID, Data: askPage{
		Question: "Rotate " + k.Name + "?", FormID: newFormID(), Action: Root + "/keys/" + k.ID + "/rotate",
		Button: "Rotate the key", Safe: true, Back: Root + "/accounts/" + a.ID, Keep: "Leave it",
		Words: "The key " + k.Prefix + "… of " + a.Name + " gets a new value, which is shown once. The current value also works " +
			"until the overlap ends. Its limits, its usage and its monitors stay.",
		Fields: []field{sent.in("rotate", field{Label: "Hours of overlap", Name: "hours", Value: "24", Numeric: true})},
	}})
}

// rotateKey gives a key a new value and shows it.
func (d *Dashboard) rotateKey(w http.ResponseWriter, r *http.Request) {
	again := func(status int, words string) { d.showRotateKey(w, r, status, rejected(r, "rotate", "hours", words)) }
	hours, err := strconv.Atoi(cmp.Or(strings.TrimSpace(r.PostFormValue("hours")), "24"))
	if err != nil || hours < 0 || time.Duration(hours) > keys.LongestOverlap/time.Hour {
		again(http.StatusBadRequest, "The overlap must be 0 to 720 hours.")
		return
	}
	k, a, ok := d.oneKey(w, r)
	if !ok || !d.isNewForm(w, r) {
		return
	}
	page := keyPage{Account: a, Base: base(r), Rotated: true, Key: k}
	overlap := time.Duration(hours) * time.Hour
	if own, mine := d.ownKeys(r); mine {
		var made schema.MadeKey
		if made, err = own.Rotate(r.Context(), k.ID, overlap); err == nil {
			page.Secret = *made.Secret
		}
	} else {
		page.Secret, page.Key, err = d.cfg.Keys.Rotate(r.Context(), k.ID, keys.Overlap(d.now(), overlap))
	}
	if status, words := explained(err); status != 0 {
		again(status, words)
		return
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, frame{Title: "Rotated key", Of: a.ID, Data: page})
}

func (d *Dashboard) askRevokeKey(w http.ResponseWriter, r *http.Request) {
	k, a, ok := d.oneKey(w, r)
	if !ok {
		return
	}
	d.show(w, r, http.StatusOK, frame{Title: "Revoke a key", Of: a.ID, Data: askPage{
		Question: "Revoke " + k.Name + "?", Action: Root + "/keys/" + k.ID + "/revoke", Button: "Revoke the key",
		Back: Root + "/accounts/" + a.ID, Keep: "Keep it",
		Words: "The key " + k.Prefix + "… of " + a.Name + " stops working at once, for good. Other keys of the account still work.",
	}})
}

// revoke revokes a key, which ends the sessions that were begun with it.
func (d *Dashboard) revoke(w http.ResponseWriter, r *http.Request) {
	k, err := d.cfg.Keys.Revoke(r.Context(), r.PathValue("key"))
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+k.Account, http.StatusSeeOther)
}
