package linkedin_test

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/linkedin"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestOfficial(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain {
			return linkedin.New(linkedin.Config{Token: "secret-token", HTTP: c})
		},
		Calls: []providertest.Call{
			providertest.Profile("profile", "company/tea-house"),
			providertest.Profile("profile-by-number", "company/3803"),
			providertest.Ads("ads", providers.AdsQuery{AdvertiserID: "Tea"}),
			providertest.AdsSearch("ads-search", providers.AdsSearchQuery{Query: "tea", AdFilter: providers.AdFilter{
				Country: "DE", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			}}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown company", "company/nobody"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("a person", "in/ann-leaf"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("another company", "company/another"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("expired token", "company/expired"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("no access", "company/denied"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("no access to one of a batch", "company/4"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("retired version", "company/old"), Want: providers.ErrUnavailable},
			{Call: providertest.Ads("dead cursor", providers.AdsQuery{AdvertiserID: "Tea"}).From("7000"), Want: providers.ErrCursor},
			{Call: providertest.Ads("no cursor", providers.AdsQuery{AdvertiserID: "Tea"}).From("x"), Want: providers.ErrCursor},
			{Call: providertest.Ads("a parameter that is refused", providers.AdsQuery{AdvertiserID: "bad"}), Want: providers.ErrUnavailable},
			{Call: providertest.Ads("no access to the library", providers.AdsQuery{AdvertiserID: "none"}), Want: providers.ErrUnavailable},
			{Call: providertest.Ads("by number", providers.AdsQuery{AdvertiserID: "3803"}), Want: providers.ErrUnsupported},
			{Call: providertest.Ads("by domain", providers.AdsQuery{Domain: "tea.example"}), Want: providers.ErrUnsupported},
		},
		Drift: &providertest.Drift{
			// Each link has its own meaning: the previous page and the next are not rows of a list.
			Tuples: []string{"paging.links"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "Ann-Leaf", Want: "in/ann-leaf"},
			{Subject: providers.Handle, In: "@ann", Want: "in/ann"},
			{Subject: providers.Handle, In: "10001", Want: "company/10001"},
			{Subject: providers.Handle, In: "company/Tea-House/", Want: "company/tea-house"},
			{Subject: providers.Handle, In: "https://uk.linkedin.com/company/tea-house/about?trk=x", Want: "company/tea-house"},
			{Subject: providers.Handle, In: "linkedin.com/school/tea-school", Want: "school/tea-school"},
			{Subject: providers.Handle, In: "https://www.linkedin.com/in/%D8%B4%D8%A7%D9%8A-123/", Want: "in/شاي-123"},
			{Subject: providers.Handle, In: "https://www.linkedin.com/feed/"},
			{Subject: providers.Handle, In: "https://www.linkedin.com/"},
			{Subject: providers.Handle, In: "https://example.com/in/ann"},
			{Subject: providers.Handle, In: "group/tea"},
			{Subject: providers.Handle, In: "in/../admin"},
			{Subject: providers.Handle, In: "ann leaf"},
			{Subject: providers.PostID, In: "7458772951740358656", Want: "7458772951740358656"},
			{Subject: providers.PostID, In: "urn:li:activity:7458772951740358656", Want: "7458772951740358656"},
			{Subject: providers.PostID, In: "urn:li:share:7458772948787597312", Want: "urn:li:share:7458772948787597312"},
			{Subject: providers.PostID, In: "https://www.linkedin.com/feed/update/urn:li:ugcPost:7/", Want: "urn:li:ugcPost:7"},
			{Subject: providers.PostID, In: "https://il.linkedin.com/posts/ann_tea-activity-7458772951740358656-nrvO?x=1", Want: "7458772951740358656"},
			{Subject: providers.PostID, In: "https://www.linkedin.com/posts/ann_activity-7458772951740358656-nrvO", Want: "7458772951740358656"},
			{Subject: providers.PostID, In: "https://www.linkedin.com/posts/ann_ugcPost-7-nrvO/", Want: "urn:li:ugcPost:7"},
			{Subject: providers.PostID, In: "https://www.linkedin.com/feed/?highlightedUpdateUrn=urn%3Ali%3Aactivity%3A7458772951740358656", Want: "7458772951740358656"},
			{Subject: providers.PostID, In: "https://www.linkedin.com/in/ann"},
			{Subject: providers.PostID, In: "https://www.linkedin.com/pulse/green-tea-ann-leaf?trk=x", Want: "pulse/green-tea-ann-leaf"},
			{Subject: providers.PostID, In: "https://www.linkedin.com/pulse/"},
			{Subject: providers.PostID, In: "tea"},
			{Subject: providers.AdID, In: "https://www.linkedin.com/ad-library/detail/664291126?trk=x", Want: "664291126"},
			{Subject: providers.AdID, In: "tea"},
			{Subject: providers.AdvertiserID, In: "Tea House Ltd.", Want: "Tea House Ltd."},
			{Subject: providers.AdvertiserID, In: "https://www.linkedin.com/company/tea-house/", Want: "tea-house"},
			{Subject: providers.AdvertiserID, In: "https://tea.example/house"},
		},
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain {
			return linkedin.New(linkedin.Config{Own: providers.OwnOn, HTTP: c})
		},
		Upstream: "linkedin_own", Witness: true, BareAbsence: true,
		Calls: []providertest.Call{
			providertest.Profile("own-company", "company/tea-house"),
			providertest.Posts("own-company-posts", "company/tea-house"),
			providertest.Profile("own-person", "in/ann-leaf"),
			providertest.Posts("own-person-posts", "in/ann-leaf"),
			providertest.Profile("own-person-sparse", "in/bob-brewer"),
			providertest.Posts("own-person-posts-list", "in/bob-brewer"),
			providertest.Profile("own-person-jsonld", "in/cat-cup"),
			providertest.Post("own-post", "7458772951740358656"),
			providertest.Post("own-post-by-share", "urn:li:share:7458772948787597312"),
			providertest.Post("own-post-video", "7247945789950353408"),
			providertest.Comments("own-comments", "7458772951740358656"),
			providertest.Comments("own-comments-none", "7247945789950353408"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Post("an article", "pulse/green-tea-ann-leaf"), Want: providers.ErrUnsupported},
			{Call: providertest.Profile("refused with 999", "in/refused"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("forbidden", "in/forbidden"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("withheld by law", "in/law"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page to log in", "in/walled"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("a page that is not public", "in/nothing"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("unknown person", "in/nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("unknown company", "company/nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("another company", "company/other"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a page without activity", "in/cat-cup"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a cursor that was never given", "in/ann-leaf").From("2"), Want: providers.ErrCursor},
			{Call: providertest.Post("another post", "1"), Want: providers.ErrUnavailable},
		},
		Drift: &providertest.Drift{},
	})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ps := linkedin.New(linkedin.Config{})
	if ps[0].Serves(providers.OpProfile) || ps[0].Missing[providers.OpProfile][0] != "token" {
		t.Error("without a token nothing is served, and the setting is named")
	}
	providertest.Off(t, ps[1]) // the pages are off unless they are switched on
}

func TestAdFiltersAreWrittenInRestli(t *testing.T) {
	t.Parallel()
	got := ""
	p := linkedin.New(linkedin.Config{Token: "t", HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		got = r.URL.RawQuery
		return http.StatusOK, `{"elements":[],"paging":{"links":[]}}`
	})}})[0]
	q := providers.AdsSearchQuery{Query: "tea (green)", AdFilter: providers.AdFilter{Country: "DE", Since: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}}
	if _, err := p.AdsSearch(t.Context(), q, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"countries=(value:List(urn%3Ali%3Acountry%3ADE))", "dateRange=(start:(year:2026,month:1,day:2))", "keyword=tea+%28green%29"} {
		if !strings.Contains(got, want) {
			t.Errorf("the query %q lacks %q", got, want)
		}
	}
}

// answering is an ad library that answers every query with the same response.
func answering(status int, body string) providers.Provider {
	return linkedin.New(linkedin.Config{Token: "t", HTTP: &http.Client{
		Transport: providertest.Answers(func(*http.Request) (int, string) { return status, body }),
	}})[0]
}

func TestAdStatisticsAreReadUnderEachName(t *testing.T) {
	t.Parallel()
	first, last := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for _, stats := range []string{
		`"adStatistics":{"firstImpressionAt":1767225600000,"latestImpressionAt":1769904000000,`,
		`"adStatistics":{"firstImpressionDate":1767225600000,"latestImpressionDate":1769904000000,`,
		`"statistics":{"firstImpressionAt":1767225600000,"latestImpressionAt":1769904000000,`,
		`"statistics":{"firstImpressionDate":"1767225600000","latestImpressionDate":"1769904000000",`,
	} {
		p := answering(http.StatusOK, `{"elements":[{"adUrl":"https://www.linkedin.com/ad-library/detail/1","details":{`+stats+
			`"impressionsDistributionByCountry":[{"country":"urn:li:country:de"},{"country":"urn:li:country:DE"}]}}}],"paging":{"links":[]}}`)
		page, err := p.AdsSearch(t.Context(), providers.AdsSearchQuery{Query: "tea"}, "")
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%s: %d ads, %v", stats, len(page.Items), err)
		}
		got := page.Items[0]
		if diff := cmp.Diff([]any{&first, &last, []string{"DE"}}, []any{got.StartedAt, got.EndedAt, got.Countries}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", stats, diff)
		}
	}
}

func TestRefusedFiltersAreTheCallersError(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]error{
		"dateRange": providers.ErrInvalid, "dateRange/start": providers.ErrInvalid, "countries": providers.ErrInvalid,
		"count": providers.ErrUnavailable,
	} {
		p := answering(http.StatusBadRequest, `{"errorDetails":{"inputErrors":[{"code":"FIELD_INVALID","input":{"inputPath":{"fieldPath":"`+
			field+`"}}}]},"status":400}`)
		if _, err := p.AdsSearch(t.Context(), providers.AdsSearchQuery{Query: "tea"}, ""); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", field, err, want)
		}
	}
}

func TestPageOfAnotherFormatIsAnError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, handle, old, now string
		want                         error
	}{
		{"an organisation's page as it is", "company.html", "company/tea-house", "", "", nil},
		{"its list", "company.html", "company/tea-house", `data-test-id="updates"`, "", providers.ErrUnavailable},
		{"its ids", "company.html", "company/tea-house", "urn:li:activity:", "urn:li:thing:", providers.ErrUnavailable},
		{"its words", "company.html", "company/tea-house", "__commentary", "__words", providers.ErrUnavailable},
		{"a person's page as it is", "person.html", "in/ann-leaf", "", "", nil},
		{"its list", "person.html", "in/ann-leaf", `data-section="posts"`, "", providers.ErrUnavailable},
		{"its captions", "person.html", "in/ann-leaf", " this", " it", providers.ErrUnavailable},
		{"its words", "person.html", "in/ann-leaf", "data-see-more-text", "data-more", providers.ErrUnavailable},
		{"the captions of the older layout", "person-list.html", "in/bob-brewer", "base-main-card__subtitle", "sub", providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.handle+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			whole, err := os.ReadFile("testdata/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			page := string(whole)
			if tt.old != "" {
				page = strings.ReplaceAll(page, tt.old, tt.now)
			}
			p := linkedin.New(linkedin.Config{Own: providers.OwnOn, HTTP: &http.Client{
				Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, page }),
			}})[1]
			got, err := p.Posts(t.Context(), tt.handle, "")
			if !errors.Is(err, tt.want) || err == nil && len(got.Items) != 2 {
				t.Errorf("%d posts with error %v, want error %v", len(got.Items), err, tt.want)
			}
		})
	}
}

// page returns a client that answers with a public page with the given head and body.
func page(head, body string) *http.Client {
	whole := `<html><head><meta property="og:type" content="article">` + head + `</head><body>` + body + `</body></html>`
	return &http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) { return http.StatusOK, whole })}
}

func TestPostIsReadFromItsPage(t *testing.T) {
	t.Parallel()
	const (
		card = `<article data-activity-urn="urn:li:activity:7247945789950353408"><p data-test-id="main-feed-activity-card__commentary">Green tea</p>` +
			`<video data-sources='[{"src":"https://dms.example/card.mp4"}]'></video></article>`
		film    = `{"@type":"VideoObject","contentUrl":"https://dms.example/v.mp4","duration":"PT90S"}`
		posting = `{"@type":"SocialMediaPosting","articleBody":"Green tea","commentCount":1,"video":` + film + `,"comment":[{"text":"Fine","author":{"name":"Ann"}}]}`
		graph   = `<link rel="canonical" href="https://uk.linkedin.com/posts/ann_activity-7247945789950353408-AbCd?trk=x">` +
			`<script type="application/ld+json">{"@graph":[` + film + `,` + posting + `]}</script>`
		address = "https://www.linkedin.com/posts/ann_activity-7247945789950353408-AbCd"
	)
	for _, id := range []string{"7247945789950353408", "urn:li:ugcPost:7247945700000000000"} {
		p := linkedin.New(linkedin.Config{Own: providers.OwnOn, HTTP: page(graph, card)})[1]
		got, err := p.Post(t.Context(), id)
		if err != nil || got.ID != "7247945789950353408" || got.Text != "Green tea" || got.URL != address {
			t.Fatalf("%s: post %q at %s says %q (%v)", id, got.ID, got.URL, got.Text, err)
		}
		if m := got.Media; len(m) != 1 || m[0].URL != "https://dms.example/v.mp4" || m[0].DurationS == nil || *m[0].DurationS != 90 {
			t.Errorf("%s: media %+v, want the video with its length", id, m)
		}
		if said, err := p.Comments(t.Context(), id, ""); err != nil || len(said.Items) != 1 {
			t.Errorf("%s: %d comments (%v), want 1", id, len(said.Items), err)
		}
	}
	p := linkedin.New(linkedin.Config{Own: providers.OwnOn, HTTP: page(graph, strings.Replace(card, "<article", `<article data-attributed-urn="urn:li:ugcPost:7"`, 1))})[1]
	if _, err := p.Post(t.Context(), "urn:li:ugcPost:8"); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("another post: got error %v", err)
	}
}

func TestOrganisationNumber(t *testing.T) {
	t.Parallel()
	const head = `<meta property="og:url" content="https://www.linkedin.com/company/tea-house">` +
		`<meta property="og:description" content="Tea House | 1 follower on LinkedIn. Tea">` +
		`<script type="application/ld+json">{"@type":"Organization","name":"Tea House"}</script>`
	search := func(list string) string {
		return `<a href="https://www.linkedin.com/search/results/people/?facetCurrentCompany=` + url.QueryEscape(list) + `">7</a>`
	}
	for body, want := range map[string]string{
		search(`[10001]`):                                      "10001",
		search(`["10001","10002"]`):                            "10001",
		search(`[10001, 10002]`):                               "10001",
		`<p data-other="nothing">`:                             "tea-house",
		`<section data-entity-id="urn:li:organization:10001">`: "10001",
		`<a data-entity-urn="urn:li:organization:10001"></a><a data-entity-urn="urn:li:organization:10002"></a>`: "tea-house",
		`<p data-activity-urn="urn:li:activity:1"><a data-entity-urn="urn:li:organization:10002"></a></p>`:       "tea-house",
	} {
		p := linkedin.New(linkedin.Config{Own: providers.OwnOn, HTTP: page(head, body)})[1]
		got, err := p.Profile(t.Context(), "company/tea-house")
		if err != nil || got.ID != want || got.Followers == nil || *got.Followers != 1 {
			t.Errorf("%s: %q with %v followers (%v), want %q with 1", body, got.ID, got.Followers, err, want)
		}
	}
}

func TestMaskedTextIsNotABio(t *testing.T) {
	t.Parallel()
	p := linkedin.New(linkedin.Config{Own: providers.OwnOn, HTTP: page(`<script type="application/ld+json">{"@type":"Person","name":"Ann","description":"*** ****"}</script>`,
		`<p class="top-card-layout__headline">Drinks tea</p>`)})[1]
	if got, err := p.Profile(t.Context(), "in/ann"); err != nil || got.Bio == nil || *got.Bio != "Drinks tea" {
		t.Errorf("bio %v (%v)", got.Bio, err)
	}
}
