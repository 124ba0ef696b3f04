package google_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/google"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

const leaf = "AR01234567890123456789"

func open(c *http.Client) providers.Chain {
	return google.New(google.Config{APIKey: "test-key", EngineID: "engine", HTTP: c})
}

func official(up providertest.Upstream) providers.Provider {
	return open(&http.Client{Transport: up})[0]
}

func own(up providertest.Upstream) providers.Provider { return open(&http.Client{Transport: up})[1] }

func search(name, query string) providertest.Call {
	return providertest.Search(name, providers.SearchQuery{Query: query})
}

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open,
		Calls: []providertest.Call{
			providertest.Search("search", providers.SearchQuery{
				Query: "شاي", Kind: schema.WebResult, Sort: "recent", Region: "SA", Lang: "ar",
			}),
			search("search-none", "nothing"),
			search("search-empty-behind-the-first-page", "tea"),
		},
		Fails: []providertest.Fail{
			{Call: search("words that Google refuses", "bad"), Want: providers.ErrInvalid},
			{Call: search("refused key", "key"), Want: providers.ErrUnavailable},
			{Call: search("closed to new customers", "closed"), Want: providers.ErrUnavailable},
			{Call: search("used up for the day", "day"), Want: providers.ErrUnavailable},
			{Call: search("too fast", "fast"), Want: providers.ErrUnavailable},
			{Call: search("found, and not there", "lost"), Want: providers.ErrUnavailable},
			{Call: search("an invalid cursor", "tea").From("x"), Want: providers.ErrCursor},
			{Call: search("cursor before the second page", "tea").From("1"), Want: providers.ErrCursor},
			{Call: search("cursor behind the last result", "tea").From("101"), Want: providers.ErrCursor},
		},
		// Google leaves out the field when nothing is found, and on the last page.
		Drift: &providertest.Drift{Absent: []string{"items", "queries.nextPage"}},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "google_own", Witness: true,
		// A response that repeats the question has no suggestions for it.
		Witnessed: []string{"suggestions.json []", "suggestions-short.json []"},
		Calls: []providertest.Call{
			providertest.Suggestions("suggestions", providers.SuggestionsQuery{Query: "tea", Region: "GB"}),
			providertest.Suggestions("suggestions-short-answer", providers.SuggestionsQuery{Query: "شاي"}),
			providertest.Suggestions("suggestions-none", providers.SuggestionsQuery{Query: "zzz"}),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: leaf}),
			providertest.Ads("ads-of-domain", providers.AdsQuery{Domain: "leaf.example", AdFilter: providers.AdFilter{Country: "SA"}}),
			providertest.Ads("ads-of-advertiser-that-is-a-domain", providers.AdsQuery{AdvertiserID: "leaf.example", AdFilter: providers.AdFilter{Country: "SA"}}),
			providertest.Ads("ads-none", providers.AdsQuery{AdvertiserID: "AR00000000000000000000"}),
			providertest.Ad("ad", leaf+"/CR00000000000000000002"),
			providertest.Advertisers("advertisers", providers.AdvertisersQuery{Query: "leaf"}),
			providertest.Advertisers("advertisers-none", providers.AdvertisersQuery{Query: "zzz", Country: "DE"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Suggestions("page in place of the list", providers.SuggestionsQuery{Query: "html"}), Want: providers.ErrUnavailable},
			{Call: providertest.Suggestions("robots are not served", providers.SuggestionsQuery{Query: "robot"}), Want: providers.ErrUnavailable},
			{Call: providertest.Ads("question that Google cannot read", providers.AdsQuery{Domain: "bad.example"}), Want: providers.ErrInvalid},
			{Call: providertest.Ads("fault of Google's", providers.AdsQuery{Domain: "fault.example"}), Want: providers.ErrUnavailable},
			{Call: providertest.Ads("check on another host", providers.AdsQuery{Domain: "robot.example"}), Want: providers.ErrUnavailable},
			{Call: providertest.Ads("no domain", providers.AdsQuery{Domain: "leaf"}), Want: providers.ErrInvalid},
			{Call: providertest.Ads("dead cursor", providers.AdsQuery{AdvertiserID: leaf}).From("dead"), Want: providers.ErrCursor},
			{
				Call: providertest.Ads("no such country", providers.AdsQuery{AdvertiserID: leaf, AdFilter: providers.AdFilter{Country: "ZZ"}}),
				Want: providers.ErrInvalid,
			},
			{Call: providertest.Ad("no such ad", leaf+"/CR00000000000000000404"), Want: providers.ErrNotFound},
			{Call: providertest.Ad("another ad than was asked for", leaf+"/CR00000000000000000005"), Want: providers.ErrUnavailable},
		},
		Drift: &providertest.Drift{
			Absent: []string{"{}", "1", "2"}, // nothing is written as an empty object, and the last page has no token
		},
		Inputs: []providertest.Input{
			{Subject: providers.AdvertiserID, In: leaf, Want: leaf},
			{Subject: providers.AdvertiserID, In: "https://adstransparency.google.com/advertiser/" + leaf + "?region=anywhere", Want: leaf},
			{Subject: providers.AdvertiserID, In: "www.Leaf.example", Want: "leaf.example"},
			{Subject: providers.AdvertiserID, In: "https://adstransparency.google.com/?domain=leaf.example&region=anywhere", Want: "leaf.example"},
			{Subject: providers.AdvertiserID, In: "leaf"},
			{Subject: providers.AdvertiserID, In: "https://ads.example/advertiser/" + leaf},
			{Subject: providers.AdID, In: leaf + "/CR5678", Want: leaf + "/CR5678"},
			{
				Subject: providers.AdID, In: "https://adstransparency.google.com/advertiser/" + leaf + "/creative/CR5678?region=SA",
				Want: leaf + "/CR5678",
			},
			{Subject: providers.AdID, In: "CR5678"},
			{Subject: providers.AdID, In: "../CR5678"},
			{Subject: providers.AdID, In: "https://adstransparency.google.com/advertiser/" + leaf},
			{Subject: providers.Handle, In: "https://leaf.example/", Want: "https://leaf.example/"}, // which Google does not have
		},
	})
}

func TestSettingsSwitchTheSourcesOn(t *testing.T) {
	t.Parallel()
	bare := google.New(google.Config{Own: providers.OwnOff})
	want := []string{"api_key", "engine_id"}
	if diff := cmp.Diff(want, bare[0].Missing[providers.OpSearch]); diff != "" {
		t.Errorf("search misses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, bare[0].Missing[providers.OpRaw]); diff != "" {
		t.Errorf("raw misses (-want +got):\n%s", diff)
	}
	providertest.Off(t, bare[1])
}

func TestOneSearchIsAskedInGooglesWords(t *testing.T) {
	t.Parallel()
	var asked url.Values
	p := official(providertest.Answers(func(r *http.Request) (int, string) {
		asked = r.URL.Query()
		if got := r.Header.Get("X-Goog-Api-Key"); got != "test-key" || asked.Has("key") {
			t.Errorf("the key is %q in the header, and %q in the address", got, asked.Get("key"))
		}
		return http.StatusOK, `{"kind":"customsearch#search","searchInformation":{"totalResults":"0"}}`
	}))
	_, err := p.Search(t.Context(), providers.SearchQuery{
		Query: "tea", Lang: "he", Region: "IL", Sort: "recent", Since: time.Now().Add(-36 * time.Hour),
	}, "21")
	want := url.Values{
		"q": {"tea"}, "cx": {"engine"}, "num": {"10"}, "start": {"21"}, "lr": {"lang_iw"}, "gl": {"il"}, "sort": {"date"},
		"dateRestrict": {"d2"},
	}
	if diff := cmp.Diff(want, asked); err != nil || diff != "" {
		t.Errorf("asked (-want +got) (%v):\n%s", err, diff)
	}
}

func TestSearchEndsWithTheHundredthResult(t *testing.T) {
	t.Parallel()
	p := official(providertest.Answers(func(r *http.Request) (int, string) {
		var start int
		_, _ = fmt.Sscan(r.URL.Query().Get("start"), &start)
		return http.StatusOK, fmt.Sprintf(`{"kind":"customsearch#search","queries":{"nextPage":[{"startIndex":%d}]},`+
			`"items":[{"title":"t","link":"https://a.example/%d"}]}`, start+10, start)
	}))
	cursor, pages := "", 0
	for pages < 20 {
		page, err := p.Search(t.Context(), providers.SearchQuery{Query: "q"}, cursor)
		if err != nil {
			t.Fatal(err)
		}
		if pages++; page.Next == "" {
			break
		}
		cursor = page.Next
	}
	if pages != 10 {
		t.Errorf("%d pages, want 10", pages)
	}
}

func TestWhatTheDayHasUsedUpStaysClosed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		want time.Duration
	}{
		{`{"error":{"message":"Quota exceeded for quota metric 'Queries' and limit 'Queries per day'"}}`, time.Hour},
		{`{"error":{"message":"Quota exceeded for 'Queries per minute'","errors":[{"reason":"rateLimitExceeded"}]}}`, time.Minute},
		{`{}`, time.Minute},
	}
	for _, tt := range tests {
		calls := 0
		p := official(providertest.Answers(func(*http.Request) (int, string) {
			calls++
			return http.StatusTooManyRequests, tt.body
		}))
		for range 2 {
			_, err := p.Search(t.Context(), providers.SearchQuery{Query: "q"}, "")
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || e.RetryAfter <= tt.want-time.Minute || e.RetryAfter > tt.want {
				t.Errorf("%s: got %v, want to be told to wait %v", tt.body, err, tt.want)
			}
		}
		if calls != 1 {
			t.Errorf("%s: %d requests went out, want 1", tt.body, calls)
		}
	}
}

func TestAnAdThatWasShownYesterdayIsActive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ago    time.Duration
		active bool
	}{{24 * time.Hour, true}, {72 * time.Hour, false}} {
		last := time.Now().Add(-tt.ago)
		p := own(providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, fmt.Sprintf(`)]}'`+"\n"+`{"1":[{"1":"%s","2":"CR0001","4":9,"7":{"1":"%d"}}]}`, leaf, last.Unix())
		}))
		page, err := p.Ads(t.Context(), providers.AdsQuery{AdvertiserID: leaf}, "")
		if err != nil || len(page.Items) != 1 {
			t.Fatal(page.Items, err)
		}
		got := page.Items[0]
		if got.IsActive == nil || *got.IsActive != tt.active || (got.EndedAt == nil) != tt.active || got.Formats != nil {
			t.Errorf("shown %v ago: active %v, ended %v, formats %v", tt.ago, got.IsActive, got.EndedAt, got.Formats)
		}
	}
}

func TestWordsToSearchForMayHoldAnAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, kind string
		want             []string
	}{
		{"said to be words", `["q",["a://b","","http://c.example","d"],[],[],{"google:suggesttype":["QUERY","QUERY","NAVIGATION","QUERY"]}]`, "utf-8", []string{"0 a://b", "1 d"}},
		{"not said what they are", `["q",["a","http://c.example","d"]]`, "UTF-8", []string{"0 a", "1 d"}},
		{"in another encoding", "[\"q\",[\"caf\xe9 ol\xe9\"]]", "ISO-8859-1", []string{"0 café olé"}},
	}
	for _, tt := range tests {
		p := own(func(r *http.Request) (*http.Response, error) {
			res := providertest.Answer(r, http.StatusOK, tt.body)
			res.Header.Set("Content-Type", "text/javascript; charset="+tt.kind)
			return res, nil
		})
		page, err := p.Suggestions(t.Context(), providers.SuggestionsQuery{Query: "q"}, "")
		var got []string
		for _, s := range page.Items {
			got = append(got, fmt.Sprint(*s.Position, " ", s.Text))
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s (-want +got) (%v):\n%s", tt.name, err, diff)
		}
	}
}

func TestAPageOfNothingEndsTheSearch(t *testing.T) {
	t.Parallel()
	for cursor, more := range map[string]string{
		"":   `"queries":{"request":[{"startIndex":1}]}`,
		"11": `"queries":{"nextPage":[{"startIndex":21}]},"items":[]`,
	} {
		p := official(providertest.Answers(func(*http.Request) (int, string) {
			return http.StatusOK, `{"kind":"customsearch#search",` + more + `}`
		}))
		page, err := p.Search(t.Context(), providers.SearchQuery{Query: "q"}, cursor)
		if err != nil || len(page.Items) != 0 || page.Next != "" {
			t.Errorf("%s: got %d results and %q (%v), want nothing behind nothing", more, len(page.Items), page.Next, err)
		}
	}
}

func TestForwardSearchesOurEngine(t *testing.T) {
	t.Parallel()
	p := official(providertest.Answers(func(r *http.Request) (int, string) {
		return http.StatusOK, `{"cx":"` + r.URL.Query().Get("cx") + `"}`
	}))
	for query, want := range map[string]string{"q=tea": "engine", "q=tea&cx=theirs": "theirs"} {
		values, _ := url.ParseQuery(query)
		got, err := p.Forward(t.Context(), "customsearch/v1", values)
		if err != nil || !strings.Contains(string(got), `"`+want+`"`) {
			t.Errorf("%s: %s (%v), want %s", query, got, err, want)
		}
	}
}
