package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// erasuresPage is what the page of erasures shows.
type erasuresPage struct {
	FormID    string
	Sent      sentForm
	Platforms []platform.ID
	Counted   *counted // the result of the last form; nil without one
	Receipts  table[privacy.Receipt]
	Verified  string // the result of verifying them; "" when that was not requested
}

// counted is what was removed, or would be.
type counted struct {
	Title    string
	Removed  []removed
	Mentions int64 // stored items of others that mention it, and stay
	Confirm  bool  // it has not been done yet
	Form     erasureForm
}

type removed struct {
	Kind   string
	Number int64
}

// erasureForm is what was sent. It is never part of an address: those are logged by proxies.
type erasureForm struct {
	Platform, By, Value, Reason string
	Block                       bool
}

func formOf(r *http.Request) erasureForm {
	return erasureForm{
		Platform: r.PostFormValue("platform"), By: r.PostFormValue("by"), Value: strings.TrimSpace(r.PostFormValue("value")),
		Reason: strings.TrimSpace(r.PostFormValue("reason")), Block: r.PostFormValue("block") != "",
	}
}

func (f erasureForm) request() schema.EraseRequest {
	req := schema.EraseRequest{Platform: platform.ID(f.Platform), Block: f.Block, Reason: f.Reason, By: "dashboard"}
	switch f.By {
	case "id":
		req.ID = f.Value
	case "url":
		req.URL = f.Value
	default:
		req.Handle = f.Value
	}
	return req
}

const (
	shownReceipts = 200
	receiptsPart  = 500 // that are read at a time
)

func (d *Dashboard) erasures(w http.ResponseWriter, r *http.Request) {
	d.showErasures(w, r, http.StatusOK, nil, sentForm{})
}

// showErasures shows the page with the result of the last form, or with a form that was not accepted.
func (d *Dashboard) showErasures(w http.ResponseWriter, r *http.Request, status int, c *counted, sent sentForm) {
	p := erasuresPage{FormID: newFormID(), Sent: sent, Counted: c}
	for _, info := range socialdata.FrontEnd(d.cfg.Client).PlatformTable().All() {
		p.Platforms = append(p.Platforms, info.ID)
	}
	var receipts []privacy.Receipt
	for after := int64(0); ; {
		part, err := d.cfg.Client.Operator().Erasures(r.Context(), after, receiptsPart)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		receipts = append(receipts, part...)
		receipts = receipts[max(0, len(receipts)-shownReceipts):]
		if len(part) < receiptsPart {
			break
		}
		after = part[len(part)-1].No
	}
	slices.Reverse(receipts) // newest first
	p.Receipts = newTable(r, Root+"/erasures", "receipts", receipts, []column[privacy.Receipt]{
		{"number", "Number", "n more", func(r privacy.Receipt) any { return r.No }},
		{"at", "Time (UTC)", "", func(r privacy.Receipt) any { return r.At }},
		{"by", "By", "more", func(r privacy.Receipt) any { return r.By }},
		{"what", "What", "more", func(r privacy.Receipt) any { return r.Kind }},
		{"platform", "Platform", "", func(r privacy.Receipt) any { return r.Platform }},
		{"subject", "Subject (keyed hash)", "more", func(r privacy.Receipt) any { return r.Subject }},
		{"blocked", "Blocked", "", func(r privacy.Receipt) any { return r.Block }},
		{"removed", "Removed", "n", func(r privacy.Receipt) any { return sum(r.Removed) }},
		{"mentions", "Mentions", "n more", func(r privacy.Receipt) any { return int64(r.Mentions) }},
		{"reason", "Reason", "more", func(r privacy.Receipt) any { return r.Reason }},
	})
	if r.URL.Query().Has("verify") {
		n, err := d.cfg.Client.Operator().VerifyErasures(r.Context())
		switch p.Verified = fmt.Sprintf("None of the %d receipts is missing or changed.", n); {
		case errors.Is(err, privacy.ErrBroken):
			p.Verified = fmt.Sprintf("The receipts were changed: number %d is not the one that was written.", n+1)
		case err != nil:
			d.fail(w, r, err)
			return
		}
	}
	d.show(w, r, status, frame{Title: "Erasures", Signed: true, Data: p})
}

// erase counts, erases or unblocks.
func (d *Dashboard) erase(w http.ResponseWriter, r *http.Request) {
	form := formOf(r)
	req := form.request()
	c := &counted{Form: form}
	var receipt privacy.Receipt
	var err error
	switch do := r.PostFormValue("do"); do {
	case "count":
		req.DryRun = true
		c.Title, c.Confirm = "What would be removed", true
		receipt, err = d.cfg.Client.Operator().Erase(r.Context(), req)
	case "erase", "unblock":
		if !d.isNewForm(w, r) {
			return
		}
		if do == "unblock" {
			c.Title = "It may be read again"
			receipt, err = d.cfg.Client.Operator().Unblock(r.Context(), req)
			break
		}
		c.Title = "What was removed"
		receipt, err = d.cfg.Client.Operator().Erase(r.Context(), req)
	default:
		d.refuse(w, r, http.StatusBadRequest, "This form is not from this page. Open the page again.")
		return
	}
	if p := (*problem.Error)(nil); errors.As(err, &p) && p.Code != problem.InternalError {
		field := fieldIn(p.Detail, "value", [2]string{"reason", "reason"})
		d.showErasures(w, r, p.HTTPStatus(), nil, rejected(r, "erase", field, "This was not done: "+p.Detail+"."))
		return
	}
	if err != nil {
		d.fail(w, r, err)
		return
	}
	for _, kind := range privacy.Kinds(receipt.Removed) {
		c.Removed = append(c.Removed, removed{kind, int64(receipt.Removed[kind])})
	}
	c.Mentions = int64(receipt.Mentions)
	var sent sentForm
	if c.Confirm { // the page does not name what was erased
		sent = sentForm{Name: "erase", Values: r.PostForm}
	}
	d.showErasures(w, r, http.StatusOK, c, sent)
}

// sum returns how many things a receipt counts.
func sum(removed map[string]int) (n int64) {
	for _, some := range removed {
		n += int64(some)
	}
	return n
}
