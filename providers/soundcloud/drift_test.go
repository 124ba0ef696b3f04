package soundcloud_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

// answering returns both providers, with body as the response to requests that end in suffix, and an account for those
// of accounts.
func answering(suffix, body string) providers.Chain {
	client := &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		switch {
		case r.Method == http.MethodPost:
			return http.StatusOK, `{"access_token":"made-up-token"}`
		case strings.HasSuffix(r.URL.Path, suffix):
			return http.StatusOK, body
		case strings.Contains(r.URL.Path, "/tracks/"):
			return http.StatusOK, `{"kind":"track","id":601,"permalink_url":"https://soundcloud.com/ann/boil"}`
		}
		return http.StatusOK, `{"kind":"user","id":501,"permalink":"ann"}`
	})}
	return providers.Chain{official(client), own(client)}
}

func TestAnswersAboutSomethingElseAreErrors(t *testing.T) {
	t.Parallel()
	for _, p := range answering("/nothing", "") {
		if _, err := p.Profile(t.Context(), "Ann"); err != nil {
			t.Errorf("%s: the account: %v", p.Name, err)
		}
		_, handle := p.Profile(t.Context(), "bob")
		_, urn := p.Profile(t.Context(), "soundcloud:users:502")
		_, posts := p.Posts(t.Context(), "bob", "")
		_, post := p.Post(t.Context(), "602")
		_, comments := p.Comments(t.Context(), "602", "")
		for what, err := range map[string]error{"handle": handle, "urn": urn, "posts": posts, "post": post, "comments": comments} {
			if !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s, %s: another one's answer ended in %v, want ErrUnavailable", p.Name, what, err)
			}
		}
	}
	for _, p := range answering("resolve", `{"kind":"track","id":9,"permalink_url":"http://soundcloud.com/ann/boil"}`) {
		if _, err := p.Post(t.Context(), "ann/boil"); err != nil {
			t.Errorf("%s: the page: %v", p.Name, err)
		}
		if _, err := p.Post(t.Context(), "ann/steam"); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: another page: %v, want ErrUnavailable", p.Name, err)
		}
	}
}

func TestOneOddRowCostsOneRow(t *testing.T) {
	t.Parallel()
	const rows = `{"kind":"track","id":"601","duration":"61500","likes_count":-4,"created_at":7,"user":"x"},
		{"kind":"track","title":"x"}, 7, null, {"kind":"track","id":602,"release_year":2e9,"tag_list":{}}`
	for _, body := range []string{`{"collection":[` + rows + `]}`, `[` + rows + `]`} {
		for _, p := range answering("/tracks", body) {
			page, err := p.Tracks(t.Context(), "ann", "")
			if err != nil || len(page.Items) != 3 || page.Items[0].ID != "601" || page.Items[1].ID != "" || page.Items[2].ID != "602" {
				t.Fatalf("%s: %+v with error %v, want 601, one that breaks the schema and 602", p.Name, page.Items, err)
			}
			if d := page.Items[0].DurationS; d == nil || *d != 61.5 || page.Items[2].ReleasedAt != nil {
				t.Errorf("%s: lasts %v, released %v", p.Name, d, page.Items[2].ReleasedAt)
			}
		}
	}
}

func TestMalformedListIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{}`, `[]`, `{"collection":null}`, `{"collection":{}}`, `{"collection":[7,null]}`, `["x"]`, `{"message":"x"}`,
		`{"collection":[],"next_href":{}}`, `{"collection":[],"next_href":"https://api.soundcloud.com/%zz"}`,
	} {
		for _, p := range answering("/tracks", body) {
			if page, err := p.Posts(t.Context(), "ann", ""); !errors.Is(err, providers.ErrUnavailable) {
				t.Errorf("%s, %s: %v with error %v, want ErrUnavailable", p.Name, body, page.Items, err)
			}
		}
	}
	p := answering("/tracks", `{"collection":[]}`)[0] // the documented API needs no witness
	if page, err := p.Posts(t.Context(), "ann", ""); err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("%+v with error %v, want an empty page", page, err)
	}
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	const last = `{"collection":[],"next_href":null}`
	tests := []struct {
		name, account, list, cursor string
		want                        error
	}{
		{"some are counted", `{"kind":"user","id":501,"permalink":"ann","track_count":178}`, last, "", providers.ErrUnavailable},
		{"none are counted", `{"kind":"user","id":501,"permalink":"ann","track_count":0}`, last, "", nil},
		{"nothing is counted", `{"kind":"user","id":501,"permalink":"ann"}`, last, "", providers.ErrUnavailable},
		{"the end of a walk", `{"kind":"user","id":501,"permalink":"ann","track_count":178}`, last, "offset=20", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := own(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
				if strings.HasSuffix(r.URL.Path, "/tracks") {
					return http.StatusOK, tt.list
				}
				return http.StatusOK, tt.account
			})})
			page, err := p.Posts(t.Context(), "ann", tt.cursor)
			if !errors.Is(err, tt.want) || len(page.Items) > 0 || page.Next != "" {
				t.Errorf("%+v with error %v, want %v", page, err, tt.want)
			}
		})
	}
	for body, want := range map[string]error{
		`{"collection":[],"total_results":0}`: nil,
		`{"collection":[],"total_results":9}`: providers.ErrUnavailable,
		`{"collection":[]}`:                   providers.ErrUnavailable,
	} {
		if _, err := answering("/search", body)[1].Search(t.Context(), providers.SearchQuery{Query: "tea"}, ""); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", body, err, want)
		}
	}
}

func TestLinkedAccountsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := answering("/web-profiles", `[{"service":"twitter","url":"https://x.com/ann","username":"ann"},
		{"service":"personal","url":"https://ann.example"}, {"service":"facebook","url":""}, 7]`)[0]
	page, err := p.Linked(t.Context(), "ann", "")
	if err != nil || len(page.Items) != 2 || page.Items[0].Handle != "ann" || page.Items[1].ID != "" {
		t.Errorf("%+v with error %v, want one account and one that breaks the schema", page.Items, err)
	}
	for _, body := range []string{`{}`, `[7]`, `{"errors":[]}`, `null`} {
		if page, err := answering("/web-profiles", body)[0].Linked(t.Context(), "ann", ""); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%s: %v with error %v, want ErrUnavailable", body, page.Items, err)
		}
	}
}

func TestASampleIsNotTheWholeTrack(t *testing.T) {
	t.Parallel()
	p := answering("/601", `{"kind":"track","id":601,"policy":"SNIP","duration":30000,"full_duration":"long"}`)[1]
	if track, err := p.Track(t.Context(), "601"); err != nil || track.DurationS != nil {
		t.Errorf("lasts %v, %v, want an unknown length", track.DurationS, err)
	}
}

func TestSearchLeavesOutOtherKinds(t *testing.T) {
	t.Parallel()
	p := answering("/search", `{"collection":[{"kind":"system-playlist","id":1},{"kind":"user","id":501,"permalink":"ann"},{"id":7}]}`)[1]
	page, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	if err != nil || len(page.Items) != 2 || page.Items[0].Kind != schema.ProfileResult || page.Items[1].Shared().ID != "" {
		t.Errorf("%+v with error %v, want an account and one that breaks the schema", page.Items, err)
	}
}

func TestUnreadableFlagsHideCounts(t *testing.T) {
	t.Parallel()
	p := answering(":601", `{"kind":"track","id":601,"favoritings_count":5,"playback_count":9,"comment_count":2,
		"reveal_stats":"perhaps","commentable":{}}`)[0]
	post, err := p.Post(t.Context(), "601")
	if e := post.Engagement; err != nil || e.Likes != nil || e.Views != nil || e.Comments != nil {
		t.Errorf("engagement %+v, %v, want none", e, err)
	}
}

func TestARefusedQueryComesWithTheReason(t *testing.T) {
	t.Parallel()
	p := official(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPost {
			return http.StatusOK, `{"access_token":"made-up-token"}`
		}
		return http.StatusBadRequest, `{"code":400,"message":"query is too long","errors":[{"error_message":"query is too long"}]}`
	})})
	_, err := p.Search(t.Context(), providers.SearchQuery{Query: "tea"}, "")
	if e, ok := errors.AsType[*providers.Error](err); !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "query is too long") {
		t.Errorf("got %v, want ErrInvalid with SoundCloud's reason", err)
	}
}
