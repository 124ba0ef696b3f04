package dashboard

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
)

// keyForm is what a form says of a key.
type keyForm struct {
	limits keys.Limits
	manage bool
}

// readKey reads the limits in a form. An empty field means no limit.
func (d *Dashboard) readKey(w http.ResponseWriter, r *http.Request) (f keyForm, ok bool) {
	f.manage = r.PostFormValue("manage") != ""
	for field, at := range map[string]**int64{"day_cap": &f.limits.DayCap, "total_cap": &f.limits.TotalCap} {
		if strings.TrimSpace(r.PostFormValue(field)) == "" {
			continue
		}
		bound, ok := d.amount(w, r, field)
		if !ok {
			return f, false
		}
		*at = &bound
	}
	capacity, refill := strings.TrimSpace(r.PostFormValue("capacity")), strings.TrimSpace(r.PostFormValue("refill"))
	if capacity == "" && refill == "" {
		return f, true
	}
	n, err := strconv.ParseInt(capacity, 10, 64)
	each, ferr := strconv.ParseFloat(refill, 64)
	if err != nil || ferr != nil {
		d.refuse(w, r, http.StatusBadRequest,
			"A rate is two numbers: the calls at once, and those that come back each second. Go back and fill in both, or "+
				"neither.")
		return f, false
	}
	f.limits.Rate = &keys.Rate{Capacity: n, Refill: each}
	return f, true
}

// createKey makes a key of the account that the path names: within the bounds of the viewer's key, unless that is the
// operator.
func (d *Dashboard) createKey(w http.ResponseWriter, r *http.Request) {
	f, ok := d.readKey(w, r)
	if !ok || !d.once(w, r) {
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
	if own, mine := d.acting(r); mine {
		all, lerr := d.cfg.Keys.Keys(r.Context(), a.ID)
		for _, k := range all {
			if k.Name == name && k.RevokedAt == nil {
				d.refuse(w, r, http.StatusConflict, "A key of that name exists already. Go back and choose another name.")
				return
			}
		}
		made, _, err := own.Make(r.Context(), socialdata.KeyRequest{
			Name: name, Environment: environment, Rate: f.limits.Rate, DayCap: f.limits.DayCap, TotalCap: f.limits.TotalCap,
			Manage: f.manage,
		})
		if err = cmp.Or(lerr, err); err != nil {
			d.answer(w, r, err)
			return
		}
		p.Secret, p.Key.Name = *made.Secret, made.Name
	} else {
		p.Secret, p.Key, err = d.cfg.Keys.CreateKey(r.Context(), keys.NewKey{
			Account: a.ID, Name: name, Environment: environment, Rate: f.limits.Rate, DayCap: f.limits.DayCap,
			TotalCap: f.limits.TotalCap, Manage: f.manage,
		})
		if err != nil {
			d.answer(w, r, err)
			return
		}
	}
	d.show(w, r, http.StatusOK, frame{Title: "New key", Data: p})
}

// base returns the address of this service as the browser knows it.
func base(r *http.Request) string {
	if secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// onePage is what a page about one key shows.
type onePage struct {
	Once    string
	Key     keys.Key
	Most    keys.Limits
	Account keys.Account
}

// one returns the page of the key that the path names, or answers why there is none.
func (d *Dashboard) one(w http.ResponseWriter, r *http.Request) (p onePage, ok bool) {
	var err error
	if p.Key, err = d.cfg.Keys.Key(r.Context(), r.PathValue("key")); err == nil {
		p.Account, err = d.cfg.Keys.Account(r.Context(), p.Key.Account)
	}
	if err != nil {
		d.answer(w, r, err)
		return p, false
	}
	p.Most = p.Key.Most()
	return p, true
}

// The pages that ask about one key.
type (
	changePage onePage
	rotatePage onePage
	revokePage onePage
)

// askAbout returns a handler of a page about one key.
func (d *Dashboard) askAbout(title string, about func(onePage) page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p, ok := d.one(w, r); ok {
			p.Once = newOnce()
			d.show(w, r, http.StatusOK, frame{Title: title, Data: about(p)})
		}
	}
}

// changeKey changes the limits and the mark of a key. The limits that the operator sets are the highest that the
// account can set.
func (d *Dashboard) changeKey(w http.ResponseWriter, r *http.Request) {
	f, ok := d.readKey(w, r)
	if !ok {
		return
	}
	id := r.PathValue("key")
	k, err := d.cfg.Keys.Key(r.Context(), id)
	if err == nil {
		if own, mine := d.acting(r); mine {
			_, err = own.Change(r.Context(), id, socialdata.KeyRequest{
				Rate: f.limits.Rate, DayCap: f.limits.DayCap, TotalCap: f.limits.TotalCap, Manage: f.manage,
			})
		} else {
			_, err = d.cfg.Keys.Change(r.Context(), id, func(k *keys.Key) error {
				k.Rate, k.DayCap, k.TotalCap, k.Bounds, k.Manage = f.limits.Rate, f.limits.DayCap, f.limits.TotalCap, nil, f.manage
				return nil
			})
		}
	}
	if err != nil {
		d.answer(w, r, err)
		return
	}
	http.Redirect(w, r, Root+"/accounts/"+k.Account+"#keys", http.StatusSeeOther)
}

// rotateKey gives a key a new value and shows it.
func (d *Dashboard) rotateKey(w http.ResponseWriter, r *http.Request) {
	hours, err := strconv.Atoi(cmp.Or(strings.TrimSpace(r.PostFormValue("hours")), "24"))
	if err != nil || hours < 0 || time.Duration(hours) > keys.LongestOverlap/time.Hour {
		d.refuse(w, r, http.StatusBadRequest, "The overlap must be 0 to 720 hours. Go back and change it.")
		return
	}
	p, ok := d.one(w, r)
	if !ok || !d.once(w, r) {
		return
	}
	page := keyPage{Account: p.Account, Base: base(r), Rotated: true, Key: p.Key}
	overlap := time.Duration(hours) * time.Hour
	if own, mine := d.acting(r); mine {
		made, err := own.Rotate(r.Context(), p.Key.ID, overlap)
		if err != nil {
			d.answer(w, r, err)
			return
		}
		page.Secret = *made.Secret
	} else if page.Secret, page.Key,
		err = d.cfg.Keys.Rotate(r.Context(), p.Key.ID, keys.Overlap(d.now(), overlap)); err != nil {
		d.answer(w, r, err)
		return
	}
	d.show(w, r, http.StatusOK, frame{Title: "Rotated key", Data: page})
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
