package hackernews_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/hackernews"
	"github.com/socialdata/socialdata/providers/providertest"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: func(c *http.Client) providers.Chain { return hackernews.New(hackernews.Config{HTTP: c}) },
		Calls: []providertest.Call{
			providertest.Profile("profile", "Ann_Example"),
			providertest.Profile("profile-bare", "bare"),
			providertest.Posts("posts", "Ann_Example"),
			providertest.Posts("posts-none", "bare"),
			providertest.Post("post-link", "1000"),
			providertest.Post("post-text", "1001"),
			providertest.Post("post-job", "1002"),
			providertest.Post("post-poll", "1003"),
			providertest.Post("post-anonymous", "1004"),
			providertest.Trending("trending", providers.TrendingQuery{}),
			providertest.Comments("comments", "1000"),
			providertest.Comments("comments-none", "1002"),
			providertest.Replies("replies", providers.RepliesQuery{CommentID: "2000"}),
			providertest.Replies("replies-of-known-post", providers.RepliesQuery{CommentID: "2000", PostID: "1000"}),
			providertest.Replies("replies-to-deleted", providers.RepliesQuery{CommentID: "2001"}),
			providertest.Replies("replies-none", providers.RepliesQuery{CommentID: "3000"}),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown user", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of an unknown user", "nobody"), Want: providers.ErrNotFound},
			{Call: providertest.Post("unknown item", "9999"), Want: providers.ErrNotFound},
			{Call: providertest.Post("comment as post", "2000"), Want: providers.ErrNotFound},
			{Call: providertest.Post("poll option as post", "1010"), Want: providers.ErrNotFound},
			{Call: providertest.Post("deleted post", "1011"), Want: providers.ErrNotFound},
			{Call: providertest.Post("dead post", "1012"), Want: providers.ErrNotFound},
			{Call: providertest.Post("another item", "1013"), Want: providers.ErrUnavailable},
			{Call: providertest.Comments("comments of a comment", "2000"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("comments of a deleted post", "1011"), Want: providers.ErrNotFound},
			{Call: providertest.Comments("one comment that cannot be read", "1014"), Want: providers.ErrUnavailable},
			{Call: providertest.Replies("replies to a story", providers.RepliesQuery{CommentID: "1000"}), Want: providers.ErrNotFound},
			{Call: providertest.Replies("replies to nothing", providers.RepliesQuery{CommentID: "9999"}), Want: providers.ErrNotFound},
		},
		Drift: &providertest.Drift{
			// null is an item or a user that does not exist; empty lists and false flags are left out.
			Absent: []string{"$", "kids", "submitted", "deleted", "dead"},
		},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "PG", Want: "PG"},
			{Subject: providers.Handle, In: "https://news.ycombinator.com/user?id=pg", Want: "pg"},
			{Subject: providers.Handle, In: "news.ycombinator.com/submitted?id=pg", Want: "pg"},
			{Subject: providers.Handle, In: "https://news.ycombinator.com/newest"},
			{Subject: providers.Handle, In: "https://example.com/user?id=pg"},
			{Subject: providers.Handle, In: "a b"},
			{Subject: providers.Handle, In: "../item/1"},
			{Subject: providers.PostID, In: "8863", Want: "8863"},
			{Subject: providers.PostID, In: "https://news.ycombinator.com/item?id=8863#9000", Want: "8863"},
			{Subject: providers.CommentID, In: "https://news.ycombinator.com/item?id=8863#9000", Want: "9000"},
			{Subject: providers.CommentID, In: "https://news.ycombinator.com/item?id=9000", Want: "9000"},
			{Subject: providers.PostID, In: "https://news.ycombinator.com/user?id=8863"},
			{Subject: providers.PostID, In: "abc"},
			{Subject: providers.PostID, In: "0"},
			{Subject: providers.PostID, In: "-1"},
			{Subject: providers.PostID, In: "+1"},
			{Subject: providers.PostID, In: "99999999999999999999"},
		},
	})
}

func TestABusyUsersPostsAreFoundWithinABoundedScan(t *testing.T) {
	t.Parallel()
	answers := bodies{}
	var submitted []string
	for i := 175; i > 100; i-- { // 75 submissions; 170 and 102 are stories
		id, kind := strconv.Itoa(i), "comment"
		if i == 170 || i == 102 {
			kind = "story"
		}
		submitted = append(submitted, id)
		answers["/v0/item/"+id+".json"] = `{"id":` + id + `,"type":"` + kind + `"}`
	}
	answers["/v0/user/ann.json"] = `{"id":"ann","submitted":[` + strings.Join(submitted, ",") + `]}`
	p := hackernews.New(hackernews.Config{HTTP: &http.Client{Transport: answers}})[0]

	first, err := p.Posts(t.Context(), "ann", "")
	if err != nil || ids(first) != "170" || first.Next != "116" {
		t.Fatalf("first page %s, next %q, %v: want 170 and the 60th submission, 116", ids(first), first.Next, err)
	}
	// A new submission and a vanished one move every position, and the walk goes on where it was.
	answers["/v0/user/ann.json"] = `{"id":"ann","submitted":[176,` + strings.Join(slices.Delete(submitted, 59, 60), ",") + `]}`
	second, err := p.Posts(t.Context(), "ann", first.Next)
	if err != nil || ids(second) != "102" || second.Next != "" {
		t.Errorf("second page %s, next %q, %v: want 102 and the end", ids(second), second.Next, err)
	}
}

func TestAPageOfPostsIsFullBeforeTheScanEnds(t *testing.T) {
	t.Parallel()
	answers := bodies{}
	var submitted []string
	for i := 140; i > 100; i-- {
		id := strconv.Itoa(i)
		submitted = append(submitted, id)
		answers["/v0/item/"+id+".json"] = `{"id":` + id + `,"type":"story"}`
	}
	answers["/v0/user/ann.json"] = `{"id":"ann","submitted":[` + strings.Join(submitted, ",") + `]}`
	p := hackernews.New(hackernews.Config{HTTP: &http.Client{Transport: answers}})[0]
	first, err := p.Posts(t.Context(), "ann", "")
	if err != nil || len(first.Items) != 30 || first.Next != "111" {
		t.Fatalf("%d posts, next %q, %v: want 30 and the 30th", len(first.Items), first.Next, err)
	}
	second, err := p.Posts(t.Context(), "ann", first.Next)
	if err != nil || len(second.Items) != 10 || second.Items[0].ID != "110" || second.Next != "" {
		t.Errorf("%d posts, next %q, %v: want the last 10", len(second.Items), second.Next, err)
	}
}

func TestCommentsComeInPagesOfThePage(t *testing.T) {
	t.Parallel()
	answers := bodies{}
	var kids []string
	for i := range 45 {
		id := strconv.Itoa(200 - i*7%45)
		kids = append(kids, id)
		answers["/v0/item/"+id+".json"] = `{"id":` + id + `,"type":"comment","parent":1}`
	}
	answers["/v0/item/1.json"] = `{"id":1,"type":"story","kids":[` + strings.Join(kids, ",") + `]}`
	p := hackernews.New(hackernews.Config{HTTP: &http.Client{Transport: answers}})[0]
	var got []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		page, err := p.Comments(t.Context(), "1", cursor)
		if err != nil || pages > 1 {
			t.Fatal(pages, err)
		}
		for _, c := range page.Items {
			got = append(got, c.ID)
		}
		cursor = page.Next
	}
	if diff := cmp.Diff(kids, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestACursorThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	answers := bodies{
		"/v0/user/ann.json": `{"id":"ann","submitted":[3,2,1]}`,
		"/v0/item/1.json":   `{"id":1,"type":"story","kids":[2]}`,
	}
	p := hackernews.New(hackernews.Config{HTTP: &http.Client{Transport: answers}})[0]
	for _, cursor := range []string{"x", "1x", "-5"} {
		if _, err := p.Comments(t.Context(), "1", cursor); !isCursor(err) {
			t.Errorf("comments from %q: %v, want ErrCursor", cursor, err)
		}
	}
	if _, err := p.Posts(t.Context(), "ann", "x"); !isCursor(err) {
		t.Errorf("posts from x: %v, want ErrCursor", err)
	}
	page, err := p.Comments(t.Context(), "1", "500")
	if err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("past the end: %+v, %v, want an empty last page", page, err)
	}
}

func TestAnOddItemCostsItself(t *testing.T) {
	t.Parallel()
	answers := bodies{
		"/v0/user/ann.json": `{"id":"ann","submitted":[5,"4",{},3,2,1]}`,
		"/v0/item/5.json":   `{"id":5,"type":"story","title":"a","score":-4,"descendants":"12"}`,
		"/v0/item/4.json":   `{"id":4,"title":"of no type"}`,
		"/v0/item/3.json":   `{"id":7,"type":"story","title":"another"}`,
		"/v0/item/2.json":   `{"id":2,"type":"story","title":"b","deleted":"perhaps"}`,
		"/v0/item/1.json":   `{"id":1,"type":"story","title":"c","time":{},"by":["x"]}`,
	}
	p := hackernews.New(hackernews.Config{HTTP: &http.Client{Transport: answers}})[0]
	page, err := p.Posts(t.Context(), "ann", "")
	if err != nil || ids(page) != "5 1" {
		t.Fatalf("posts %q, %v: want 5 and 1", ids(page), err)
	}
	if e := page.Items[0].Engagement; e.Likes != nil || e.Comments == nil || *e.Comments != 12 {
		t.Errorf("engagement %+v: want no likes and 12 comments", e)
	}
	answers["/v0/user/ann.json"] = `{"id":"ann","submitted":[4,3]}`
	if page, err := p.Posts(t.Context(), "ann", ""); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("nothing that can be understood: %v, %v, want ErrUnavailable", page.Items, err)
	}
}
