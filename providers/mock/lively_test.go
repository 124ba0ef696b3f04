package mock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func TestLivelyGoesByTheClock(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_188_600*5*300+60, 0).UTC() // the newest post is one that will be deleted
	p := mock.New(mock.Config{Now: func() time.Time { return now }})[0]
	posts := func() []schema.Post {
		t.Helper()
		page, err := p.Posts(t.Context(), "lively", "")
		if err != nil {
			t.Fatal(err)
		}
		return page.Items
	}
	room := func() schema.LiveStream {
		t.Helper()
		l, err := p.Live(t.Context(), "lively")
		if err != nil || !l.IsLive {
			t.Fatalf("on air: %t, %v", l.IsLive, err)
		}
		return l
	}
	before, title := posts(), *room().Title
	if got, again := posts()[0], before[0]; got.ID != again.ID || got.Text != again.Text {
		t.Errorf("it changes by itself: %v, before %v", got, again)
	}
	now = now.Add(20 * time.Second)
	if got := *room().Title; got == title {
		t.Errorf("the title is %q after 20 seconds too", got)
	}
	now = now.Add(5 * time.Minute)
	after := posts()
	if after[0].ID == before[0].ID || after[1].ID != before[0].ID || !after[0].CreatedAt.After(*after[1].CreatedAt) {
		t.Errorf("5 minutes later the newest posts are %s and %s; before it was %s", after[0].ID, after[1].ID, before[0].ID)
	}
	now = now.Add(10 * time.Minute)
	if post, err := p.Post(t.Context(), before[0].ID); err != nil || !strings.HasSuffix(post.Text, " (edited)") {
		t.Errorf("15 minutes later the post reads %q, %v", post.Text, err)
	}
	gone := 0
	now = now.Add(time.Hour)
	for _, post := range before[:5] { // every fifth is deleted
		if _, err := p.Post(t.Context(), post.ID); errors.Is(err, providers.ErrNotFound) {
			gone++
		}
	}
	if gone != 1 {
		t.Errorf("%d of 5 posts are gone; want 1", gone)
	}
}
