package mock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/socialdata/socialdata/enrich"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

// outcome is the expected result of a call with a magic word, for every operation where it has an effect.
type outcome struct {
	err    error         // nil for success
	detail string        // of the error
	retry  time.Duration // of the error
	panics bool
	after  time.Duration
}

var outcomes = map[string]outcome{
	"not_found":             {err: providers.ErrNotFound, detail: "there is no such thing in the sandbox"},
	"private":               {err: providers.ErrNotFound, detail: "this account is private"},
	"suspended":             {err: providers.ErrNotFound, detail: "this account is suspended"},
	"disabled":              {err: providers.ErrNotFound},
	"refused_input":         {err: providers.ErrInvalid, detail: "the sandbox refuses this input"},
	"upstream_error":        {err: providers.ErrUnavailable, detail: "the sandbox answered 500"},
	"rate_limited_upstream": {err: providers.ErrUnavailable, detail: "the sandbox is rate limiting us", retry: 30 * time.Second},
	"refused_credential":    {err: providers.ErrUnavailable, detail: "the sandbox refused our credential"},
	"timeout":               {err: providers.ErrTimeout, detail: "the sandbox did not answer in time"},
	"hang":                  {err: providers.ErrTimeout, after: time.Minute},
	"slow":                  {after: 2 * time.Second},
	"slow_5s":               {after: 5 * time.Second},
	"pending":               {after: 2 * time.Second},
	"panic":                 {panics: true},
	"lively":                {},
}

func TestEveryWordFailsOrWaitsAsItSaysInEveryOperation(t *testing.T) {
	t.Parallel()
	for _, w := range mock.Magic() {
		want, ok := outcomes[w.Word]
		if !ok {
			continue
		}
		for op, ask := range calls {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				defer func() {
					if r := recover(); (r != nil) != want.panics {
						t.Errorf("%s %s: panic %v", op, w.Word, r)
					}
				}()
				began := time.Now()
				a, err := ask(ctx, mock.New(mock.Config{Faults: true})[0], w.Word, "")
				if !errors.Is(err, want.err) || time.Since(began) != want.after {
					t.Errorf("%s %s: %v after %s, want %v after %s", op, w.Word, err, time.Since(began), want.err, want.after)
				}
				if err == nil && len(a.items) == 0 {
					t.Errorf("%s %s: nothing", op, w.Word)
				}
				var e *providers.Error
				if errors.As(err, &e) && (want.detail != "" && e.Detail != want.detail || e.RetryAfter != want.retry || e.Detail == "") {
					t.Errorf("%s %s: detail %q, retry after %s", op, w.Word, e.Detail, e.RetryAfter)
				}
			})
		}
	}
}

// TestFaultsAreOffUnlessTheyAreAskedFor: a caller of a shared sandbox must not be able to block it or make it panic.
func TestFaultsAreOffUnlessTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"hang", "panic", "hang_on_mock", "slow_6s", "slow_1h"} {
		for op, ask := range calls {
			if op == providers.OpTrending && regionOf(word) == "" {
				continue // there the word is a region, which not all words have
			}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := ask(t.Context(), mock.New(mock.Config{})[0], word, "")
				e, ok := errors.AsType[*providers.Error](err)
				if !ok || !errors.Is(err, providers.ErrInvalid) || !strings.Contains(e.Detail, "serve --sandbox") || time.Since(began) > 0 {
					t.Errorf("%s %s: %v after %s", op, word, err, time.Since(began))
				}
			})
		}
	}
}

func TestDisabledSaysWhatIsSwitchedOff(t *testing.T) {
	t.Parallel()
	for op, want := range map[providers.Op]string{
		providers.OpComments:   "comments are disabled on this post",
		providers.OpTranscript: "this post has no transcript",
		providers.OpProfile:    "its owner has disabled this",
	} {
		_, err := calls[op](t.Context(), mock.New(mock.Config{})[0], "disabled", "")
		var e *providers.Error
		if !errors.As(err, &e) || e.Detail != want {
			t.Errorf("%s: %v, want %q", op, err, want)
		}
	}
}

// pages reads the first pages of a list and returns the ids on each.
func pages(t *testing.T, ask call, word string, most int) (ids [][]string, next string, err error) {
	t.Helper()
	for range most {
		var a answer
		if a, err = ask(t.Context(), mock.New(mock.Config{})[0], word, next); err != nil {
			return ids, next, err
		}
		on := []string{}
		for _, o := range a.items {
			on = append(on, id(o))
		}
		ids = append(ids, on)
		if next = a.next; next == "" {
			return ids, "", nil
		}
	}
	return ids, next, nil
}

var turns = map[string]func(t *testing.T, ask call){
	"empty": func(t *testing.T, ask call) {
		t.Helper()
		if got, next, err := pages(t, ask, "empty", 3); err != nil || next != "" || len(got) != 1 || len(got[0]) != 0 {
			t.Errorf("%v %q %v", got, next, err)
		}
	},
	"one_page": func(t *testing.T, ask call) {
		t.Helper()
		if got, next, err := pages(t, ask, "one_page", 3); err != nil || next != "" || len(got) != 1 || len(got[0]) != 10 {
			t.Errorf("%v %q %v", got, next, err)
		}
	},
	"dead_cursor": func(t *testing.T, ask call) {
		t.Helper()
		if got, _, err := pages(t, ask, "dead_cursor", 3); !errors.Is(err, providers.ErrCursor) || len(got) != 1 {
			t.Errorf("%v %v", got, err)
		}
	},
	"empty_middle": func(t *testing.T, ask call) {
		t.Helper()
		got, next, err := pages(t, ask, "empty_middle", 5)
		if err != nil || next != "" || len(got) != 3 || len(got[0]) == 0 || len(got[1]) != 0 || len(got[2]) == 0 {
			t.Errorf("%v %q %v", got, next, err)
		}
	},
	"repeats": func(t *testing.T, ask call) {
		t.Helper()
		got, next, err := pages(t, ask, "repeats", 9)
		if err != nil || next != "" || len(got) != 4 {
			t.Fatalf("%v %q %v", got, next, err)
		}
		for i := range 3 {
			if !slices.Equal(got[i][15:], got[i+1][:5]) {
				t.Errorf("page %d ends with %v, the next begins with %v", i+1, got[i][15:], got[i+1][:5])
			}
		}
	},
	"loops": func(t *testing.T, ask call) {
		t.Helper()
		got, next, err := pages(t, ask, "loops", 6)
		if err != nil || next == "" || !slices.Equal(got[0], got[3]) || slices.Equal(got[0], got[2]) {
			t.Errorf("%v %q %v", got, next, err)
		}
	},
	"backwards": func(t *testing.T, ask call) {
		t.Helper()
		got, next, err := pages(t, ask, "backwards", 6)
		if err != nil || next == "" || !slices.Equal(got[1], got[3]) || !slices.Equal(got[2], got[4]) || slices.Equal(got[1], got[2]) {
			t.Errorf("%v %q %v", got, next, err)
		}
	},
	"stuck": func(t *testing.T, ask call) {
		t.Helper()
		got, next, err := pages(t, ask, "stuck", 6)
		if err != nil || next != "2" || !slices.Equal(got[0], got[1]) || !slices.Equal(got[0], got[5]) {
			t.Errorf("%v %q %v", got, next, err)
		}
	},
	"endless": func(t *testing.T, ask call) {
		t.Helper()
		got, next, err := pages(t, ask, "endless", 15) // more than there are people
		seen := map[string]bool{}
		for _, page := range got {
			for _, id := range page {
				if seen[id] {
					t.Fatalf("%s twice", id)
				}
				seen[id] = true
			}
		}
		if err != nil || next == "" || len(seen) != 300 {
			t.Errorf("%d objects, then %q %v", len(seen), next, err)
		}
	},
}

func TestEveryListPagesAsTheWordSays(t *testing.T) {
	t.Parallel()
	for word, check := range turns {
		for op, ask := range calls {
			if !singles[op] {
				t.Run(word+"/"+string(op), func(t *testing.T) {
					t.Parallel()
					check(t, ask)
				})
			}
		}
	}
}

func valid(o any) bool { return o.(interface{ Check() error }).Check() == nil }

// touches checks the objects of one page.
var touches = map[string]func(op providers.Op, items []any) bool{
	"broken_schema": func(_ providers.Op, items []any) bool { return !slices.ContainsFunc(items, valid) },
	"broken_item": func(op providers.Op, items []any) bool {
		for i, o := range items {
			if valid(o) != (i != 1 || singles[op]) {
				return false
			}
		}
		return true
	},
	"sparse": func(_ providers.Op, items []any) bool {
		for _, o := range items {
			if p, ok := o.(*schema.Post); ok && (p.Lang != nil || p.Engagement.Likes != nil || p.Author.DisplayName != nil || len(p.Media) > 0) {
				return false
			}
			if !valid(o) {
				return false
			}
		}
		return len(items) > 0
	},
	"fail_enrichment": func(_ providers.Op, items []any) bool {
		broken := mock.Enricher(enrich.Func(func(context.Context, string) (schema.Enrichment, error) { return schema.Enrichment{}, nil }))
		for i, o := range items {
			object, ok := o.(schema.Object)
			if !ok || object.EnrichText() == "" {
				continue
			}
			if _, err := broken.Enrich(context.Background(), object.EnrichText()); (err != nil) != (i == 0) {
				return false
			}
		}
		return true
	},
}

func TestEveryAnswerIsTouchedAsTheWordSays(t *testing.T) {
	t.Parallel()
	for word, check := range touches {
		for op, ask := range calls {
			a, err := ask(t.Context(), mock.New(mock.Config{})[0], word, "")
			if err != nil || !check(op, a.items) {
				t.Errorf("%s %s: %v, first %s", word, op, err, marshal(t, a.items[:min(2, len(a.items))]))
			}
		}
	}
}

func TestTheTableIsWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, w := range mock.Magic() {
		if w.Where == "" || w.Does == "" || w.Status < 200 {
			t.Errorf("%+v is not documented whole", w)
		}
		if w.Word == "" {
			continue
		}
		_, fails := outcomes[w.Word]
		if !fails && turns[w.Word] == nil && touches[w.Word] == nil {
			t.Errorf("%s is not tested", w.Word)
		}
		if seen[w.Word] || seen[w.Region] || len(w.Region) != 2 {
			t.Errorf("%s: word or region %q is there twice", w.Word, w.Region)
		}
		seen[w.Word], seen[w.Region] = true, true
		for _, s := range []providers.Subject{providers.Handle, providers.PostID} {
			if got, err := mock.New(mock.Config{})[0].Normalize(s, w.Word); got != w.Word {
				t.Errorf("%s is no legal %s: %q, %v", w.Word, s, got, err)
			}
		}
	}
	if got, tested := len(seen)/2, len(outcomes)+len(turns)+len(touches); got != tested {
		t.Errorf("%d words in the table, %d tested", got, tested)
	}
}

func TestWordsWorkInEveryKeyOfAQuery(t *testing.T) {
	t.Parallel()
	p, ctx := mock.New(mock.Config{})[0], t.Context()
	asks := map[string]func() error{
		"search in a handle": func() error {
			_, err := p.Search(ctx, providers.SearchQuery{Query: "tea", Handle: "not_found"}, "")
			return err
		},
		"a hashtag": func() error { _, err := p.Search(ctx, providers.SearchQuery{Query: "#Not_Found"}, ""); return err },
		"a reply's post": func() error {
			_, err := p.Replies(ctx, providers.RepliesQuery{CommentID: "1", PostID: "not_found"}, "")
			return err
		},
		"a store":         func() error { _, err := p.Products(ctx, providers.ProductsQuery{Store: "not_found"}, ""); return err },
		"a domain":        func() error { _, err := p.Ads(ctx, providers.AdsQuery{Domain: "not-found.example"}, ""); return err },
		"a place":         func() error { _, err := p.Events(ctx, providers.EventsQuery{Place: "not found"}, ""); return err },
		"any duration":    func() error { _, err := p.Profile(ctx, "slow_1us"); return orNotFound(err) },
		"a raw route":     func() error { _, err := p.Forward(ctx, "users/not_found", nil); return err },
		"a no such route": func() error { _, err := p.Forward(ctx, "nowhere/ann", nil); return err },
	}
	for name, ask := range asks {
		if err := ask(); !errors.Is(err, providers.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func orNotFound(err error) error {
	if err == nil {
		return providers.ErrNotFound
	}
	return err
}

func TestAWordForOnePlatformLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	for id, want := range map[platform.ID]error{platform.TikTok: providers.ErrUnavailable, platform.AppleMusic: nil, platform.Mock: nil} {
		_, err := mock.NewFor(id, mock.Config{}).Search(t.Context(), providers.SearchQuery{Query: "upstream_error_on_tiktok"}, "")
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
}

func TestPendingWaitsForItsRelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := mock.New(mock.Config{Release: release})[0]
		done := make(chan error)
		go func() {
			_, err := p.Search(t.Context(), providers.SearchQuery{Query: "pending"}, "")
			done <- err
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("answered before the release: %v", err)
		default:
		}
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestACallerWhoHasGoneGetsNoAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for op, ask := range calls {
		for _, word := range []string{"salma_haddad", "hang", "slow", "pending"} {
			if a, err := ask(ctx, mock.New(mock.Config{})[0], word, ""); !errors.Is(err, context.Canceled) {
				t.Errorf("%s %s: %v, %v", op, word, a, err)
			}
		}
	}
}
