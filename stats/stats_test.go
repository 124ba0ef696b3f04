package stats_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/stats"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []float64
		want   *float64
	}{
		{nil, nil},
		{[]float64{7}, new(7.0)},
		{[]float64{9, 1}, new(5.0)},
		{[]float64{3, 100, 1}, new(3.0)},
		{[]float64{4, 1, 3, 2}, new(2.5)},
	} {
		before := slices.Clone(tt.values)
		if diff := cmp.Diff(tt.want, stats.Median(tt.values)); diff != "" {
			t.Errorf("the median of %v (-want +got):\n%s", tt.values, diff)
		}
		if !slices.Equal(before, tt.values) {
			t.Errorf("%v became %v", before, tt.values)
		}
	}
}

func at(day, hour int) *time.Time { return new(time.Date(2026, 11, day, hour, 30, 0, 0, time.UTC)) }

func posted(when *time.Time, likes, comments, views *int64) schema.Post {
	return schema.Post{CreatedAt: when, Engagement: schema.Engagement{Likes: likes, Comments: comments, Views: views}}
}

func value(v float64, posts int64) schema.StatsNumber {
	return schema.StatsNumber{Value: &v, Posts: posts}
}

func TestNumbersOfPosts(t *testing.T) {
	t.Parallel()
	posts := []schema.Post{
		posted(at(15, 9), new(int64(10)), new(int64(0)), new(int64(100))),
		posted(at(14, 9), new(int64(30)), new(int64(10)), new(int64(1000))),
		posted(at(8, 20), new(int64(4)), nil, new(int64(0))),
		posted(at(8, 20), new(int64(6)), nil, nil),
		posted(nil, nil, nil, nil),
	}
	want := schema.Stats{
		Posts: 5, Oldest: at(8, 20), Newest: at(15, 9), PostsAWeek: value(3/(6*24+13.0)*7*24, 4),
		Likes: value(8, 4), Comments: value(5, 2), Views: value(100, 3),
		Interactions: value(8, 4), RateByViews: value((0.1+0.04)/2, 2), RateByFollowers: value(0.04, 4),
		BestHours: []schema.StatsHour{{Hour: 9, Interactions: 25, Posts: 2}, {Hour: 20, Interactions: 5, Posts: 2}},
	}
	if diff := cmp.Diff(want, stats.Of(posts, new(200.0)), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

// TestPinnedPostsDoNotSlowAnAccountDown has a post a day, and pinned ones that are years older.
func TestPinnedPostsDoNotSlowAnAccountDown(t *testing.T) {
	t.Parallel()
	for pins := range 4 {
		var posts []schema.Post
		for day := 20; day > 8; day-- {
			posts = append(posts, posted(at(day, 12), nil, nil, nil))
		}
		for i := range pins {
			posts = append(posts, posted(new(at(1, 0).AddDate(-i-1, 0, 0)), nil, nil, nil))
		}
		got, oldest, newest := stats.Frequency(posts)
		if got.Value == nil || math.Abs(*got.Value-7) > 1e-9 || !newest.Equal(*at(20, 12)) || oldest.Before(*at(9, 0)) {
			t.Errorf("with %d pinned posts: %+v a week from %v to %v; want 7", pins, got, oldest, newest)
		}
	}
}

func TestNothingIsKnownOfNothing(t *testing.T) {
	t.Parallel()
	for _, posts := range [][]schema.Post{nil, {posted(nil, nil, nil, nil)}} {
		want := schema.Stats{Posts: int64(len(posts)), BestHours: []schema.StatsHour{}}
		if diff := cmp.Diff(want, stats.Of(posts, nil)); diff != "" {
			t.Errorf("numbers of %d posts (-want +got):\n%s", len(posts), diff)
		}
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	points := []schema.HistoryPoint{{At: *at(1, 0), Value: 200}, {At: *at(8, 0), Value: 180}, {At: *at(15, 0), Value: 250}}
	want := &schema.StatsGrowth{
		Monitor: "m", From: *at(1, 0), To: *at(15, 0), Before: 200, After: 250, Change: 50, Share: new(0.25), AWeek: new(25.0),
		Points: 3,
	}
	if diff := cmp.Diff(want, stats.Growth("m", points)); diff != "" {
		t.Errorf("growth (-want +got):\n%s", diff)
	}
	if got := stats.Growth("m", nil); got != nil {
		t.Errorf("growth without points is %+v", got)
	}
	if got := stats.Growth("m", []schema.HistoryPoint{{At: *at(1, 0)}}); got.Share != nil || got.AWeek != nil {
		t.Errorf("growth of one point from 0 is %+v", got)
	}
}

// TestTheOrderOfPostsDoesNotMatter shuffles posts: the numbers stay the same.
func TestTheOrderOfPostsDoesNotMatter(t *testing.T) {
	t.Parallel()
	count := rapid.Ptr(rapid.Int64Range(0, 1000), true)
	rapid.Check(t, func(t *rapid.T) {
		posts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) schema.Post {
			when := at(1, rapid.IntRange(0, 600).Draw(t, "hour"))
			return posted(when, count.Draw(t, "likes"), count.Draw(t, "comments"), count.Draw(t, "views"))
		}), 0, 30).Draw(t, "posts")
		want := stats.Of(posts, nil)
		if diff := cmp.Diff(want, stats.Of(rapid.Permutation(posts).Draw(t, "order"), nil)); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
		if r := want.RateByViews.Posts; r > want.Views.Posts || r > want.Interactions.Posts {
			t.Fatalf("%d rates of %d views", r, want.Views.Posts)
		}
	})
}
