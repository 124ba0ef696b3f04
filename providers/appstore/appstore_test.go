package appstore_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/appstore"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return appstore.New(appstore.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "9001"),
			providertest.Profile("profile-by-bundle", "com.example.tea.mac"),
			providertest.Profile("profile-bare", "9002"),
			providertest.Product("product", providers.ProductQuery{ID: "9001"}),
			providertest.Product("product-elsewhere", providers.ProductQuery{ID: "sa:9001"}),
			providertest.Product("product-free-unrated", providers.ProductQuery{ID: "9002"}),
			providertest.Search("search", providers.SearchQuery{Query: "tea", Kind: schema.ProfileResult}),
			providertest.Search("search-none", providers.SearchQuery{Query: "zzz", Region: "GB"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown number", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown bundle", "com.example.none"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a developer", "77"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("a song", "5"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("too many calls", "403"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a bad gateway", "502"), Want: providers.ErrUnavailable},
			{Call: providertest.Product("no price", providers.ProductQuery{ID: "9003"}), Want: providers.ErrNotFound},
			{Call: providertest.Product("a region without a store", providers.ProductQuery{ID: "aq:9001"}), Want: providers.ErrInvalid},
		},
		Lone:  map[providers.Op][]string{providers.OpProfile: {"com.example.tea.mac", "com.example.none"}}, // bundle ids
		Drift: &providertest.Drift{Absent: []string{"results[].price"}},                                    // no longer sold
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "284882215", Want: "284882215"},
			{Subject: providers.Handle, In: "id284882215", Want: "284882215"},
			{Subject: providers.Handle, In: "com.facebook.Facebook", Want: "com.facebook.Facebook"},
			{Subject: providers.Handle, In: "https://apps.apple.com/us/app/facebook/id284882215?mt=8", Want: "284882215"},
			{Subject: providers.ProductID, In: "apps.apple.com/app/id284882215", Want: "284882215"},
			{Subject: providers.ProductID, In: "https://itunes.apple.com/sa/app/id284882215", Want: "sa:284882215"},
			{Subject: providers.ProductID, In: "https://geo.itunes.apple.com/sa/app/tea/id284882215?mt=8", Want: "sa:284882215"},
			{Subject: providers.Handle, In: "https://apps.apple.com/us/developer/meta/id284882218"},
			{Subject: providers.Handle, In: "https://apps.apple.com/us/app/facebook"},
			{Subject: providers.Handle, In: "https://music.apple.com/us/album/id1"},
			{Subject: providers.Handle, In: "two words"},
			{Subject: providers.Handle, In: "../search"},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return appstore.New(appstore.Config{HTTP: c}) }, Upstream: "appstore_own", Witness: true,
		// The feed is read twice and the app is looked up: if the feed is empty both times, the empty page is valid.
		Witnessed: []string{"reviews-bundle-again.json feed.entry"},
		Calls: []providertest.Call{
			providertest.Reviews("reviews", "9001"),
			providertest.Reviews("reviews-by-bundle-on-second-try", "com.example.bare"),
			providertest.Reviews("reviews-none", "9003"),
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "tea", Region: "SA"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Reviews("reviews of an unknown app", "404"), Want: providers.ErrNotFound},
			{Call: providertest.Reviews("reviews of an unknown bundle", "com.example.none"), Want: providers.ErrNotFound},
			{Call: providertest.Suggestions("an empty list", providers.SuggestionsQuery{Query: "zzz"}), Want: providers.ErrUnavailable},
			{Call: providertest.Suggestions("a page in place of the list", providers.SuggestionsQuery{Query: "html"}), Want: providers.ErrUnavailable},
		},
		Drift: &providertest.Drift{Absent: []string{"feed.entry"}}, // Apple omits an empty list, or writes null
	})
}

func TestReviewsEndBehindTheTenthPage(t *testing.T) {
	t.Parallel()
	p := appstore.New(appstore.Config{HTTP: &http.Client{Transport: answer(
		`{"feed":{"entry":[{"id":{"label":"1"},"im:rating":{"label":"5"}}]}}`,
	)}})[1]
	for _, tt := range []struct{ cursor, next string }{{"", "2"}, {"9", "10"}, {"10", ""}} {
		page, err := p.Reviews(t.Context(), "1", tt.cursor)
		if err != nil || page.Next != tt.next {
			t.Errorf("behind page %q comes %q (%v), want %q", tt.cursor, page.Next, err, tt.next)
		}
	}
	for _, cursor := range []string{"0", "1", "11", "x"} {
		if _, err := p.Reviews(t.Context(), "1", cursor); !errors.Is(err, providers.ErrCursor) {
			t.Errorf("page %q: %v, want ErrCursor", cursor, err)
		}
	}
}

func TestOneLongSearchIsCutIntoPages(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 120 {
		rows = append(rows, fmt.Sprintf(`{"wrapperType":"software","trackId":%d,"bundleId":"com.example.a%d"}`, i+1, i+1))
	}
	p := appstore.New(appstore.Config{HTTP: &http.Client{Transport: answer(`{"results":[` + strings.Join(rows, ",") + `]}`)}})[0]
	var sizes []int
	for cursor := ""; cursor != "" || len(sizes) == 0; {
		page, err := p.Search(t.Context(), providers.SearchQuery{Query: "x"}, cursor)
		if err != nil {
			t.Fatal(err)
		}
		sizes, cursor = append(sizes, len(page.Items)), page.Next
	}
	if fmt.Sprint(sizes) != "[50 50 20]" {
		t.Errorf("pages of %v, want 50, 50 and 20", sizes)
	}
	if _, err := p.Search(t.Context(), providers.SearchQuery{Query: "x"}, "-1"); !errors.Is(err, providers.ErrCursor) {
		t.Errorf("cursor -1: %v, want ErrCursor", err)
	}
}

func TestLookupsKeepToTwentyInAMinute(t *testing.T) {
	t.Parallel()
	list := appstore.New(appstore.Config{HTTP: &http.Client{Transport: answer(
		`{"results":[{"wrapperType":"software","trackId":1,"bundleId":"com.example.a"}],"feed":{"entry":[{"id":{"label":"1"},"im:rating":{"label":"5"}}]}}`,
	)}})
	for i := range 25 {
		_, err := list[0].Profile(t.Context(), "1")
		if refused := errors.Is(err, providers.ErrUnavailable); refused != (i >= 20) {
			t.Errorf("look-up %d: %v", i+1, err)
		}
	}
	if _, err := list[1].Reviews(t.Context(), "1", ""); err != nil {
		t.Errorf("reviews do not count as look-ups: %v", err)
	}
}

func TestOwnSourcesCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cfg                  appstore.Config
		reviews, suggestions bool
	}{
		{appstore.Config{}, true, true},
		{appstore.Config{Own: providers.OwnOff}, false, false},
		{appstore.Config{Country: "NZ"}, true, false},
	} {
		own := appstore.New(tt.cfg)[1]
		if own.Serves(providers.OpReviews) != tt.reviews || own.Serves(providers.OpSuggestions) != tt.suggestions {
			t.Errorf("%+v: reviews %v, suggestions %v", tt.cfg, own.Serves(providers.OpReviews), own.Serves(providers.OpSuggestions))
		}
	}
}

// answer is an upstream that always gives the same answer.
type answer string

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a))), Request: r}, nil
}

func TestLookUpsHaveShortAddresses(t *testing.T) {
	t.Parallel()
	longest := 0
	p := appstore.New(appstore.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		longest = max(longest, len(r.URL.String()))
		return http.StatusOK, `{"results":[]}`
	})}})[0]
	b := p.Batches.Product
	for digits := 1; digits <= 12; digits++ {
		var ids []string
		for size := 0; len(ids) < b.Most && size+digits <= b.Bytes; size += digits + 1 {
			ids = append(ids, fmt.Sprintf("%0*d", digits, len(ids)))
		}
		if _, err := b.Read(t.Context(), ids, providers.ProductQuery{}); err == nil {
			t.Errorf("%d ids of %d digits are there", len(ids), digits)
		}
	}
	if longest < 1500 || longest > 2048 {
		t.Errorf("the longest address has %d bytes, want 2048 at most", longest)
	}
}

func TestBatchIsASetting(t *testing.T) {
	t.Parallel()
	for batch, want := range map[int]int{0: 200, 1: 1, 20: 20, 1000: 200} {
		if got := appstore.New(appstore.Config{Batch: batch})[0].AtOnce(providers.OpProduct); got != want {
			t.Errorf("with %d, %d apps are asked for at once, want %d", batch, got, want)
		}
	}
}
