package status

import (
	"time"

	"github.com/socialdata/socialdata/server/feed"
)

// Feed returns the feed of the incidents; public is the address of the server, "" if it is unknown.
func (r Report) Feed(public string) feed.Feed {
	out := feed.Feed{ID: "urn:socialdata:incidents", Title: "Incidents", Updated: r.UpdatedAt.Truncate(24 * time.Hour)}
	if public != "" {
		public += "/status"
		out.Self, out.Web = public+".atom", public
	}
	for n, i := range r.Incidents {
		at := i.UpdatedAt(r.UpdatedAt)
		if n == 0 || at.After(out.Updated) {
			out.Updated = at
		}
		e := feed.Entry{
			ID: "urn:socialdata:incident:" + i.ID, Title: i.Title(), Text: i.Text(), Updated: at, Published: &i.BeganAt,
		}
		if public != "" {
			e.URL = public + "#" + i.ID
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}
