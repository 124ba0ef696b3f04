package dashboard

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type fruit struct {
	name   string
	pieces int64
	ripe   time.Time
}

func TestTheAddressSortsAndSelectsTheRowsOfATable(t *testing.T) {
	t.Parallel()
	fruits := []fruit{{"Quince", 20, time.Unix(2, 0)}, {"apple", 3, time.Unix(1, 0)}, {"Pear", 20, time.Time{}}}
	columns := []column[fruit]{
		{"name", "Name", "", func(f fruit) any { return f.name }},
		{"pieces", "Pieces", "n", func(f fruit) any { return f.pieces }},
		{"ripe", "Ripe (UTC)", "", func(f fruit) any { return f.ripe }},
		{"do", "What to do", "", nil},
	}
	const path = Root + "/fruit"
	for _, tt := range []struct {
		query string
		want  string   // the rows
		links []string // of the heads, without the path
	}{
		{"", "Quince apple Pear", []string{"?sort.f=name#f", "?sort.f=-pieces#f", "?sort.f=-ripe#f", ""}},
		{"sort.f=name", "apple Pear Quince", []string{"?sort.f=-name#f", "?sort.f=-pieces#f", "?sort.f=-ripe#f", ""}},
		{"sort.f=-name", "Quince Pear apple", []string{"?sort.f=name#f", "?sort.f=-pieces#f", "?sort.f=-ripe#f", ""}},
		{"sort.f=pieces", "apple Quince Pear", []string{"?sort.f=name#f", "?sort.f=-pieces#f", "?sort.f=-ripe#f", ""}},
		{"sort.f=-pieces", "Quince Pear apple", []string{"?sort.f=name#f", "?sort.f=pieces#f", "?sort.f=-ripe#f", ""}},
		{"sort.f=-ripe", "Quince apple Pear", []string{"?sort.f=name#f", "?sort.f=-pieces#f", "?sort.f=ripe#f", ""}},
		{"sort.f=do", "Quince apple Pear", nil},
		{"sort.f=nothing&sort.other=name", "Quince apple Pear", nil},
		{"find.f=+PE", "Pear", nil},
		{"find.f=1970-01-01+00:00:02", "Quince", nil},
		{"find.f=20&sort.f=name", "Pear Quince", nil},
		{"find.f=none", "", nil},
		{"find.other=pe", "Quince apple Pear", nil},
		{"platform=a%26b&from=50", "Quince apple Pear", []string{
			"?platform=a%26b&sort.f=name#f", "?platform=a%26b&sort.f=-pieces#f", "?platform=a%26b&sort.f=-ripe#f", "",
		}},
	} {
		got := newTable(httptest.NewRequestWithContext(t.Context(), "GET", path+"?"+tt.query, nil), path, "f", fruits, columns)
		var names, links []string
		for _, row := range got.Rows {
			names = append(names, row.name)
		}
		for _, head := range got.Heads {
			links = append(links, strings.TrimPrefix(head.Link, path))
		}
		if diff := cmp.Diff(tt.want, strings.Join(names, " ")); diff != "" {
			t.Errorf("%q: rows (-want +got):\n%s", tt.query, diff)
		}
		if diff := cmp.Diff(tt.links, links); tt.links != nil && diff != "" {
			t.Errorf("%q: links (-want +got):\n%s", tt.query, diff)
		}
		if got.All != 3 || strings.Contains(got.Clear, "find.f") {
			t.Errorf("%q: %d rows in all, cleared by %q", tt.query, got.All, got.Clear)
		}
	}
	posted := newTable(httptest.NewRequestWithContext(t.Context(), "POST", path+"/do?sort.f=name", nil), path, "f", fruits, columns)
	if got := posted.Heads[0].Link; got != path+"?sort.f=name#f" || posted.Rows[0].name != "Quince" {
		t.Errorf("the page that answers a form is sorted, or links to %q", got)
	}
	if fruits[0].name != "Quince" {
		t.Error("the rows of the caller were sorted")
	}
}
