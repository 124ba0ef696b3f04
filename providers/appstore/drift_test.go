package appstore_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/appstore"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func chain(body string) providers.Chain {
	return appstore.New(appstore.Config{HTTP: &http.Client{Transport: answer(body)}})
}

func TestAnAppIsTheOneThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, id, body string
		want           error
	}{
		{"nothing", "1", `{"resultCount":0,"results":[]}`, providers.ErrNotFound},
		{"a song", "1", `{"results":[{"wrapperType":"track","trackId":1}]}`, providers.ErrNotFound},
		{"a book", "1", `{"results":[{"kind":"ebook","trackId":1,"trackName":"Tea","artistId":9}]}`, providers.ErrNotFound},
		{"a developer and an app of theirs", "7", `{"results":[{"wrapperType":"artist","artistId":7},
			{"trackId":1,"bundleId":"com.example.a","artistId":7}]}`, providers.ErrNotFound},
		{"another app", "1", `{"results":[{"trackId":2,"bundleId":"com.example.b"}]}`, providers.ErrUnavailable},
		{"another bundle", "com.example.a", `{"results":[{"trackId":2,"bundleId":"com.example.b"}]}`, providers.ErrUnavailable},
		{"an app without its number", "1", `{"results":[{"bundleId":"com.example.a"}]}`, providers.ErrUnavailable},
		{"an app that is number 0", "1", `{"results":[{"trackId":0,"bundleId":"com.example.a"}]}`, providers.ErrUnavailable},
		{"rows that are none", "1", `{"results":[null,"x"]}`, providers.ErrUnavailable},
		{"a song and a row that is not one", "1", `{"results":[{"wrapperType":"track","trackId":1},"x"]}`, providers.ErrUnavailable},
		{"no list", "1", `{"resultCount":0}`, providers.ErrUnavailable},
	} {
		p, err := chain(tt.body)[0].Profile(t.Context(), tt.id)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v with error %v, want %v", tt.name, p, err, tt.want)
		}
	}
}

func TestOneOddRowCostsOneRow(t *testing.T) {
	t.Parallel()
	p := chain(`{"results":[
		{"wrapperType":"software","trackId":"1","bundleId":"com.example.a","trackName":"A","price":"free","userRatingCount":"many"},
		"x", {"wrapperType":"track","trackId":5},
		{"wrapperType":"software","trackId":2.5,"bundleId":"com.example.b"},
		{"wrapperType":"software","trackId":3,"bundleId":"com.example.c","trackName":7,"genres":"Games"}
	]}`)[0]
	page, err := p.Search(t.Context(), providers.SearchQuery{Query: "x"}, "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, item := range page.Items {
		p.Stamp(item, time.Now())
		if item.Check() == nil {
			ids = append(ids, item.Shared().ID)
		}
	}
	if len(ids) != 2 || ids[0] != "1" || ids[1] != "3" {
		t.Errorf("apps %v, want 1 and 3", ids)
	}
	page, err = chain(`{"results":["x",7]}`)[0].Search(t.Context(), providers.SearchQuery{Query: "x"}, "")
	if !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("no row that can be read: %v with error %v, want ErrUnavailable", page.Items, err)
	}
}

func TestAProductHasAPriceAndAStore(t *testing.T) {
	t.Parallel()
	product := func(body string) (schema.Product, error) {
		return chain(body)[0].Product(t.Context(), providers.ProductQuery{ID: "1"})
	}
	const head = `{"results":[{"wrapperType":"software","trackId":1,"bundleId":"com.example.a","currency":"USD"`
	for _, tt := range []struct {
		name, rest string
		want       error // nil for an object that violates the schema
	}{
		{"no price", `,"artistId":7}]}`, providers.ErrNotFound},
		{"a price that cannot be read", `,"artistId":7,"price":"free"}]}`, providers.ErrUnavailable},
		{"a negative price", `,"artistId":7,"price":-1}]}`, nil},
		{"no developer", `,"price":1}]}`, nil},
		{"developer 0", `,"price":1,"artistId":0}]}`, nil},
	} {
		p, err := product(head + tt.rest)
		if !errors.Is(err, tt.want) || err == nil && p.Check() == nil {
			t.Errorf("%s: %+v with error %v, want %v", tt.name, p, err, tt.want)
		}
	}
	p, err := product(head + `,"artistId":7,"price":"1.5","averageUserRating":-3,"userRatingCount":-2}]}`)
	if err != nil || p.Price.Amount != 1.5 || p.Rating != nil || p.ReviewsCount != nil {
		t.Errorf("got %+v with error %v, want a price of 1.5 and nothing that is negative", p, err)
	}
}

func TestReviewsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	read := func(body string) (providers.Page[schema.Review], error) {
		return chain(body)[1].Reviews(t.Context(), "1", "")
	}
	page, err := read(`{"feed":{"entry":[
		{"id":{"label":"https://itunes.apple.com/us/app/id1"},"im:name":{"label":"Tea"}},
		{"id":{"label":"11"},"im:rating":{"label":5},"link":"x","updated":{"label":"2026-05-28T06:25:43-07:00"}},
		{"id":{"label":"12"},"im:rating":{"label":"many"}},
		{"id":{"label":"13"}},
		7
	]}}`)
	if err != nil || page.Next != "2" || len(page.Items) != 3 || page.Items[0].ID != "11" || page.Items[0].CreatedAt == nil ||
		page.Items[1].ID != "" || page.Items[2].ID != "" {
		t.Errorf("%+v with error %v, want review 11 and two that break the schema", page, err)
	}
	for _, body := range []string{`{}`, `{"feed":"x"}`, `{"feed":{"entry":"x"}}`, `{"feed":{"entry":[7]}}`} {
		if page, err := read(body); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: %v with error %v, want ErrUnavailable", body, page.Items, err)
		}
	}
}

func TestHintsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`<html><body>no</body></html>`, `<plist/>`, `<plist><dict><key>title</key><string>x</string></dict></plist>`,
		`<plist><dict><key>hints</key><array><dict><key>words</key><string>tea</string></dict></array></dict></plist>`, `{}`,
	} {
		page, err := chain(body)[1].Suggestions(t.Context(), providers.SuggestionsQuery{Query: "te"}, "")
		if !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: %v with error %v, want ErrUnavailable", body, page.Items, err)
		}
	}
}

func TestARefusalIsTheCallersOnlyWhereTheyGaveARegion(t *testing.T) {
	t.Parallel()
	p := appstore.New(appstore.Config{HTTP: &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusBadRequest, `{"errorMessage":"Invalid value(s) for key(s): [country]"}`
	})}})[0]
	if _, err := p.Product(t.Context(), providers.ProductQuery{ID: "aq:1"}); !errors.Is(err, providers.ErrInvalid) {
		t.Errorf("with a region: %v, want ErrInvalid", err)
	}
	if _, err := p.Profile(t.Context(), "1"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("without one: %v, want ErrUnavailable", err)
	}
}
