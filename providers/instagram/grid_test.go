package instagram_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/instagram"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/schema"
)

// visited is Instagram as a visitor sees it, with script requests refused: only pages, with these accounts in their
// data.
func visited(accounts ...string) providers.Provider {
	page := ""
	for _, a := range accounts {
		page += `<script type="application/json" data-sjs>{"require":[[{"data":{"xig_user_by_username":` + a + `}}]]}</script>`
	}
	return instagram.New(instagram.Config{HTTP: &http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if strings.Contains(r.URL.Path, "web_profile_info") || strings.Contains(r.URL.Path, "graphql") {
			return http.StatusUnauthorized, `{"require_login":true}`
		}
		return http.StatusOK, page
	})}})[1]
}

const (
	anns = `{"pk":"7","username":"ann","full_name":"Ann","media_count":40,"polaris_ordered_timeline_connection":null}`
	grid = `{"pk":"7","polaris_ordered_timeline_connection":{"edges":[
		{"node":{"pk":"3000000000000000001","code":"Cpinned","caption":{"text":"pinned #tea"},"media_type":1,"display_uri":"https://cdn.example/1.jpg"}},
		{"node":{"pk":"3111290796599140206","code":"Csthn7EO99u","caption":null,"media_type":2,"display_uri":"https://cdn.example/2.jpg"}},
		{"node":{"pk":"3111290796599140300","code":"Cseveral","caption":{"text":"two"},"media_type":8,"display_uri":"https://cdn.example/3.jpg"}}
	]%s}}`
)

func TestVisitorsSeeTheNewestPostsOfAnAccountAlone(t *testing.T) {
	t.Parallel()
	p := visited(anns, strings.Replace(grid, "%s", `,"page_info":{"has_next_page":true,"end_cursor":"x"}`, 1))
	page, err := p.Posts(t.Context(), "ann", "")
	if err != nil || len(page.Items) != 3 || page.Next == "" {
		t.Fatalf("%+v with error %v, want three posts and a cursor", page, err)
	}
	var order []string
	for _, post := range page.Items {
		order = append(order, post.ID)
		if post.CreatedAt != nil || post.Engagement != (schema.Engagement{}) || post.Author.Handle != "ann" || post.Author.ID != "7" {
			t.Errorf("%s: made at %v, %+v, by %+v, want no time, no counts, and the account", post.ID, post.CreatedAt, post.Engagement, post.Author)
		}
	}
	want := []string{"3111290796599140300", "3111290796599140206", "3000000000000000001"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	reel := page.Items[1]
	if reel.Media[0].Type != schema.Video || reel.URL != "https://www.instagram.com/reel/Csthn7EO99u/" || reel.Text != "" {
		t.Errorf("got %+v, want a reel without words", reel)
	}
	if _, err := p.Posts(t.Context(), "ann", page.Next); !errors.Is(err, providers.ErrUnavailable) ||
		!strings.Contains(err.Error(), "Instagram only shows more posts of this account to logged-in users") || providers.BlameOf(err) != providers.BlameNone {
		t.Errorf("behind them: got error %v", err)
	}
	reels, err := p.Reels(t.Context(), "ann", "")
	if err != nil || len(reels.Items) != 1 || reels.Items[0].ID != reel.ID || reels.Next == "" {
		t.Errorf("reels: got %+v with error %v, want the one", reels, err)
	}
	for _, op := range []providers.Op{providers.OpPosts, providers.OpReels} {
		if p.Notes[op] == "" {
			t.Errorf("%s: no note tells the limit", op)
		}
	}
}

func TestAPageOfAnAccountMarksItsEnd(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		accounts []string
		posts    int
		next     bool
		want     error
	}{
		{"the end", []string{anns, strings.Replace(grid, "%s", `,"page_info":{"has_next_page":false,"end_cursor":null}`, 1)}, 3, false, nil},
		{"no word of an end", []string{anns, strings.Replace(grid, "%s", "", 1)}, 3, true, nil},
		{"the posts first", []string{strings.Replace(grid, "%s", "", 1), anns}, 3, true, nil},
		{"posts of another account", []string{anns, strings.NewReplacer(`"7"`, `"8"`, "%s", "").Replace(grid)}, 0, false, providers.ErrUnavailable},
		{"another account alone", []string{strings.NewReplacer(`"pk":"7"`, `"pk":"8","username":"bob"`, "%s", "").Replace(grid)}, 0, false, providers.ErrUnavailable},
		{"posts are counted and not shown", []string{anns}, 0, false, providers.ErrUnavailable},
		{"none are counted", []string{`{"pk":"7","username":"ann","media_count":0}`}, 0, false, nil},
		{"nothing is counted", []string{`{"pk":"7","username":"ann"}`}, 0, false, providers.ErrUnavailable},
		{"a private account", []string{`{"pk":"7","username":"ann","media_count":4,"is_private":true}`}, 0, false, providers.ErrNotFound},
		{"rows without keys", []string{anns, `{"pk":"7","polaris_ordered_timeline_connection":{"edges":[7,null]}}`}, 0, false, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page, err := visited(tt.accounts...).Posts(t.Context(), "ann", "")
			if !errors.Is(err, tt.want) || len(page.Items) != tt.posts || tt.next != (page.Next != "") {
				t.Errorf("%d posts and %q with error %v, want %d, a cursor: %t, %v", len(page.Items), page.Next, err, tt.posts, tt.next, tt.want)
			}
		})
	}
}

func TestAnAccountIsToldInSeveralParts(t *testing.T) {
	t.Parallel()
	p := visited(`{"pk":"7","username":"ann","biography":null}`, `{"pk":"7","biography":"tea","follower_count":9,"username":"ANN"}`,
		`{"pk":"8","full_name":"Bob"}`)
	got, err := p.Profile(t.Context(), "ann")
	if err != nil || got.Handle != "ann" || got.Bio == nil || *got.Bio != "tea" || got.Followers == nil || got.DisplayName != nil {
		t.Errorf("got %+v with error %v, want the words of both parts and none of another's", got, err)
	}
}
