package read_test

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// cursorOf reads page one and returns the cursor to page two.
func cursorOf(t *testing.T, c *socialdata.Client, req socialdata.PostsRequest) string {
	t.Helper()
	page, err := c.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if page.Meta.NextCursor == "" {
		t.Fatal("page one has no cursor")
	}
	return page.Meta.NextCursor
}

func sandboxes(t *testing.T, opts ...socialdata.Option) *enginetest.Engine {
	t.Helper()
	return enginetest.New(t, enginetest.Config{
		Providers: enginetest.Sandboxes(mock.Config{}, platform.Mock, platform.TikTok), Options: opts,
	})
}

const oldKey, newKey = "the cursor key of last year", "the cursor key of this year"

func TestACursorIsGoodForItsOwnRequestOnly(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	good := cursorOf(t, e.Client, socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"})
	flip := func(i int) string {
		b := []byte(good)
		b[i] ^= 1
		return string(b)
	}
	another := enginetest.New(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithCursorKeys([]byte("a secret of somebody else"))}})
	foreign := cursorOf(t, another.Client, socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"})
	tests := []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"another platform", posts(e.Client, platform.TikTok, "salma", good)},
		{"another handle", posts(e.Client, platform.Mock, "noura", good)},
		{"another operation with the same parameters", func(ctx context.Context) error {
			_, err := e.Client.Reels(ctx, socialdata.ReelsRequest{Platform: platform.Mock, Handle: "salma", Page: socialdata.Page{Cursor: good}})
			return err
		}},
		{"another operation with other parameters", func(ctx context.Context) error {
			_, err := e.Client.Comments(ctx, socialdata.CommentsRequest{Platform: platform.Mock, PostID: "salma", Page: socialdata.Page{Cursor: good}})
			return err
		}},
		{"the fan-out search", func(ctx context.Context) error {
			_, err := e.Client.SearchAcross(ctx, socialdata.SearchAcrossRequest{Query: "salma", Page: socialdata.Page{Cursor: good}})
			return err
		}},
		{"the list of charges", func(ctx context.Context) error {
			_, err := e.Client.Account().Usage(ctx, accounts.UsageRequest{Page: socialdata.Page{Cursor: good}})
			return err
		}},
		{"cut at the end", posts(e.Client, platform.Mock, "salma", good[:len(good)-1])},
		{"cut in the middle", posts(e.Client, platform.Mock, "salma", good[:20])},
		{"cut to one character", posts(e.Client, platform.Mock, "salma", good[:1])},
		{"text added at the end", posts(e.Client, platform.Mock, "salma", good+"AA")},
		{"first letter changed", posts(e.Client, platform.Mock, "salma", flip(0))},
		{"key id changed", posts(e.Client, platform.Mock, "salma", flip(3))},
		{"tag changed", posts(e.Client, platform.Mock, "salma", flip(12))},
		{"payload changed", posts(e.Client, platform.Mock, "salma", flip(40))},
		{"letters of another base 64", posts(e.Client, platform.Mock, "salma", good[:10]+"+/"+good[12:])},
		{"made up", posts(e.Client, platform.Mock, "salma", base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("a", 80))))},
		{"sealed with another key", posts(e.Client, platform.Mock, "salma", foreign)},
		{"page number of the upstream", posts(e.Client, platform.Mock, "salma", "2")},
	}
	before := e.Balance(t)
	for _, tt := range tests {
		enginetest.WantProblem(t, tt.call(t.Context()), problem.InvalidRequest, `"cursor"`)
		if t.Failed() {
			t.Fatal(tt.name)
		}
	}
	if got := e.Balance(t); got != before {
		t.Errorf("%d credits were charged", before-got)
	}
	for _, handle := range []string{"salma", "@Salma", " salma", "https://mock.example/@salma"} { // all the same request
		if err := posts(e.Client, platform.Mock, handle, good)(t.Context()); err != nil {
			t.Errorf("%q: %v", handle, err)
		}
	}
}

// posts reads a page of posts.
func posts(c *socialdata.Client, id platform.ID, handle, cursor string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.Posts(ctx, socialdata.PostsRequest{Platform: id, Handle: handle, Page: socialdata.Page{Cursor: cursor}})
		return err
	}
}

func TestOptionsOfTheAnswerDoNotBindACursor(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"}
	req.Cursor = cursorOf(t, e.Client, req)
	req.IncludeRaw, req.Fresh, req.Enrich = true, true, socialdata.Arabic
	if _, err := e.Client.Posts(t.Context(), req); err != nil {
		t.Error(err)
	}
}

func TestACursorOutlivesTheProcessAndTheRotationOfKeys(t *testing.T) {
	t.Parallel()
	req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"}
	before := sandboxes(t, socialdata.WithCursorKeys([]byte(oldKey)))
	cursor := cursorOf(t, before.Client, req)
	if again := cursorOf(t, sandboxes(t, socialdata.WithCursorKeys([]byte(oldKey))).Client, req); again != cursor {
		t.Errorf("the same page has the cursors\n%s and\n%s", cursor, again)
	}
	rotated := sandboxes(t, socialdata.WithCursorKeys([]byte(newKey), []byte(oldKey)))
	req.Cursor = cursor
	page, err := rotated.Client.Posts(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Data) == 0 {
		t.Error("page two is empty")
	}
	gone := sandboxes(t, socialdata.WithCursorKeys([]byte(newKey)))
	_, err = gone.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, `"cursor"`)
}

func TestACursorExpires(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	cursor := cursorOf(t, e.Client, socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma"})
	e.Clock.Advance(7 * 24 * time.Hour)
	if err := posts(e.Client, platform.Mock, "salma", cursor)(t.Context()); err != nil {
		t.Error(err)
	}
	e.Clock.Advance(time.Second)
	enginetest.WantProblem(t, posts(e.Client, platform.Mock, "salma", cursor)(t.Context()), problem.InvalidRequest, "cursor expired, start again")
}

func TestADeadCursorOfTheUpstreamIsRefusedForFree(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	cursor := cursorOf(t, e.Client, socialdata.PostsRequest{Platform: platform.Mock, Handle: "dead_cursor"})
	before := e.Balance(t)
	enginetest.WantProblem(t, posts(e.Client, platform.Mock, "dead_cursor", cursor)(t.Context()), problem.InvalidRequest, "cursor expired, start again")
	if e.Balance(t) != before {
		t.Error("it was charged")
	}
}

func TestPageTwoStaysWithTheProviderOfPageOne(t *testing.T) {
	t.Parallel()
	broken := false
	list := func(prefix string) providers.List[schema.Post] {
		return func(_ context.Context, _, token string) (providers.Page[schema.Post], error) {
			if broken && prefix == "a" {
				return providers.Page[schema.Post]{}, providers.Unavailable(nil, "down")
			}
			if token != "" && !strings.HasPrefix(token, prefix) {
				return providers.Page[schema.Post]{}, errors.New("a token of another upstream")
			}
			return providers.Page[schema.Post]{Items: []schema.Post{enginetest.Post(prefix + token + "1")}, Next: prefix + token + "1"}, nil
		}
	}
	upstream := func(name string) providers.Provider {
		return providers.Provider{Name: name, Platform: platform.GitHub, Source: schema.Own, Posts: list(name)}
	}
	e := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{upstream("a"), upstream("b")}})
	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "octocat"}
	ofA := cursorOf(t, e.Client, req)
	broken = true
	req.Fresh = true
	ofB := cursorOf(t, e.Client, req)
	req.Fresh = false
	req.Cursor = ofA
	_, err := e.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.PlatformUnavailable, "down")
	req.Cursor = ofB
	page, err := e.Client.Posts(t.Context(), req)
	if err != nil || page.Data[0].ID != "bb11" {
		t.Errorf("%v, %v", page, err)
	}
	alone := enginetest.New(t, enginetest.Config{Providers: []providers.Provider{upstream("a")}})
	_, err = alone.Client.Posts(t.Context(), req)
	enginetest.WantProblem(t, err, problem.InvalidRequest, "no longer configured")
}

func TestUsageIsReadInPages(t *testing.T) {
	t.Parallel()
	e := sandboxes(t)
	for i := range 149 {
		if _, err := e.Client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "user" + strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for cursor, pages := "", 0; ; pages++ {
		page, err := e.Client.Account().Usage(t.Context(), accounts.UsageRequest{Page: socialdata.Page{Cursor: cursor}})
		if err != nil || pages > 3 {
			t.Fatal(pages, err)
		}
		for _, row := range page.Data {
			ids = append(ids, row.ID)
		}
		if cursor = page.Meta.NextCursor; cursor == "" {
			break
		}
		if len(page.Data) != 100 {
			t.Errorf("a page of %d", len(page.Data))
		}
	}
	if len(ids) != 150 { // and the allowance
		t.Errorf("%d entries, want 150", len(ids))
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 150 {
		t.Error("an entry came twice")
	}
}

func TestAWalkThroughPagesNeverRepeatsNeverLosesAndEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := enginetest.DrawHostile(t)
		client, got := h.Client(t), map[int]bool{}
		cursor, calls := "", 0
		for {
			page, err := client.Posts(context.Background(), socialdata.PostsRequest{Platform: platform.GitHub, Handle: "a", Page: socialdata.Page{Cursor: cursor}})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range page.Data {
				n, _ := strconv.Atoi(p.ID)
				if got[n] {
					t.Fatalf("%d came twice", n)
				}
				got[n] = true
			}
			if calls++; calls > 31+len(h.Pages) { // each brings an item or uses up a token
				t.Fatalf("%d pages of an upstream that has %d", calls, len(h.Pages))
			}
			if cursor = page.Meta.NextCursor; cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(h.Shown, got); diff != "" {
			t.Fatalf("items (-shown +got):\n%s", diff)
		}
	})
}
