package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/conversation"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	overhttp "github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/socialdatatest"
)

// forum is a service whose post has the lists of comments in pages, by the id of the comment whose replies they are.
type forum struct {
	socialdata.Transport

	pages    map[string][][]schema.Comment
	next     map[string][]int // the page behind each page; 0 is the end
	broken   map[string]bool  // lists of replies that cannot be read
	unserved bool             // replies are not listed
	price    int64

	mu      sync.Mutex
	charged int64
	asked   map[string]int // calls of each page that were charged
	shown   map[string]bool
}

func (f *forum) Do(_ context.Context, o *operation.Operation, call operation.Call) (*operation.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	given := call.Given().Values()
	if o.Name == "estimate" {
		if f.unserved && strings.Contains(given.Get("of"), "/replies") {
			return nil, problem.New(problem.PlatformUnavailable, "replies are not listed")
		}
		return answered(schema.Estimate{Credits: schema.EstimateCredits{Most: f.price}}, schema.Meta{})
	}
	of := given.Get("comment_id")
	if f.unserved && of != "" {
		return nil, problem.New(problem.InternalError, "replies were read although they are not listed")
	}
	if f.broken[of] {
		return nil, problem.New(problem.NotFound, "there is no such comment")
	}
	at, _ := strconv.Atoi(given.Get("cursor"))
	if limit := given.Get("max_credits"); limit != "" && limit < strconv.FormatInt(f.price, 10) {
		return nil, problem.New(problem.InsufficientCredits, "max_credits is %s", limit)
	}
	f.charged += f.price
	f.asked[of+"|"+strconv.Itoa(at)]++
	meta, page := schema.Meta{CreditsUsed: f.price}, []schema.Comment{}
	if at < len(f.pages[of]) {
		page = f.pages[of][at]
		if next := f.next[of][at]; next > 0 {
			meta.NextCursor = strconv.Itoa(next)
		}
	}
	for i := range page {
		f.shown[page[i].ID] = true
	}
	return answered(page, meta)
}

func answered(data any, meta schema.Meta) (*operation.Answer, error) {
	b, err := schema.Marshal(data)
	return &operation.Answer{Data: b, Meta: meta}, err
}

func remark(id string, to *string) schema.Comment {
	return schema.Comment{Common: schema.Common{ID: id, URL: "https://example.com/" + id}, PostID: "post", ReplyToID: to}
}

// newForum returns a forum without comments.
func newForum(t *rapid.T) *forum {
	return &forum{
		pages: map[string][][]schema.Comment{}, next: map[string][]int{}, broken: map[string]bool{}, asked: map[string]int{},
		shown: map[string]bool{}, price: rapid.Int64Range(1, 5).Draw(t, "price"),
	}
}

// drawHostile returns a forum whose lists repeat comments and answer about others, whose replies are in circles, and
// whose pages go back.
func drawHostile(t *rapid.T) *forum {
	f := newForum(t)
	f.unserved = rapid.IntRange(0, 9).Draw(t, "unserved") == 0
	ids := rapid.SliceOfNDistinct(rapid.StringMatching("[a-h][0-9]?"), 1, 12, rapid.ID).Draw(t, "ids")
	for _, of := range append(ids, "") {
		n := rapid.IntRange(0, 3).Draw(t, "pages")
		f.broken[of] = of != "" && rapid.IntRange(0, 5).Draw(t, "broken") == 0
		for range n {
			page := []schema.Comment{}
			for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, 5).Draw(t, "comments") {
				to := rapid.SampledFrom(append(ids, "", "unknown")).Draw(t, "to")
				comment := remark(id, &to)
				if to == "" {
					comment.ReplyToID = nil
				}
				page = append(page, comment)
			}
			f.pages[of] = append(f.pages[of], page)
			f.next[of] = append(f.next[of], rapid.IntRange(0, n-1).Draw(t, "next"))
		}
	}
	return f
}

// reading is what has been read of a conversation, in several runs.
type reading struct {
	forum    *forum
	on       platform.ID
	progress conversation.Progress
	items    []schema.ConversationItem
}

// run reads on, for at most so many rows and credits, until n items have come; 0 is no limit. It returns the error of
// the end.
func (r *reading) run(t *rapid.T, rows int, credits int64, n int) (ended error) {
	stored, err := json.Marshal(&r.progress)
	if err != nil {
		t.Fatal(err)
	}
	r.progress = conversation.Progress{}
	if err := json.Unmarshal(stored, &r.progress); err != nil {
		t.Fatal(err)
	}
	before := r.forum.charged
	most := conversation.Most{Rows: rows, Credits: credits, Progress: &r.progress}
	for item, err := range conversation.Of(context.Background(), socialdata.Over(r.forum),
		socialdata.PostRequest{Platform: r.on, ID: "post"}, most) {
		if ended = err; err != nil {
			break
		}
		r.items = append(r.items, item)
		if n--; n == 0 {
			break
		}
	}
	if cost := r.forum.charged - before; credits > 0 && cost > credits {
		t.Fatalf("a run has cost %d credits; want %d at most", cost, credits)
	}
	if r.progress.Credits != r.forum.charged {
		t.Fatalf("the progress says %d credits, and %d were charged", r.progress.Credits, r.forum.charged)
	}
	return ended
}

// check returns the ids in order. Each comment must have come once, behind its parent and one deeper.
func (r *reading) check(t *rapid.T) (ids []string) {
	depths := map[string]int64{}
	for _, item := range r.items {
		depth := int64(0)
		if item.ParentID != nil {
			above, known := depths[*item.ParentID]
			if !known {
				t.Fatalf("%s came before its parent %s", item.Data.ID, *item.ParentID)
			}
			depth = above + 1
		}
		if item.Depth != depth {
			t.Fatalf("the depth of an item is %d, want %d", item.Depth, depth)
		}
		if (item.Data == nil) == (item.Problem == nil) {
			t.Fatalf("an item has %v and %v; want either a comment or a problem", item.Data, item.Problem)
		}
		if item.Data == nil {
			continue
		}
		if _, twice := depths[item.Data.ID]; twice {
			t.Fatalf("%s came twice", item.Data.ID)
		}
		depths[item.Data.ID] = depth
		ids = append(ids, item.Data.ID)
	}
	if r.progress.Rows != int64(len(ids)) {
		t.Fatalf("the progress says %d rows, and %d came", r.progress.Rows, len(ids))
	}
	return ids
}

func drawPlatform(t *rapid.T) platform.ID {
	return rapid.SampledFrom([]platform.ID{
		platform.HackerNews, platform.Bluesky, platform.YouTube, platform.X,
	}).Draw(t, "platform")
}

func TestAConversationContinuesFromAnyStop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := &reading{forum: drawHostile(t), on: drawPlatform(t)}
		for runs := 0; !r.progress.Done; runs++ {
			credits := rapid.SampledFrom([]int64{0, r.forum.price, 7 * r.forum.price}).Draw(t, "credits")
			rows := rapid.IntRange(0, 5).Draw(t, "rows")
			err := r.run(t, rows, credits, rapid.IntRange(0, 5).Draw(t, "items"))
			atMost := credits > 0 && errors.Is(err, conversation.ErrMostCredits) && errors.Is(err, problem.InsufficientCredits)
			if err != nil && !atMost {
				t.Fatal(err)
			}
			if runs > 10_000 {
				t.Fatalf("the conversation has not ended after %d runs", runs)
			}
		}
		got, shown := r.check(t), []string{}
		for id := range r.forum.shown {
			shown = append(shown, id)
		}
		slices.Sort(got)
		slices.Sort(shown)
		if !slices.Equal(shown, got) {
			t.Fatalf("comments (-shown +got):\n%s", cmp.Diff(shown, got))
		}
	})
}

// drawThreads returns a forum as platforms are, with the parents of its comments.
func drawThreads(t *rapid.T, on platform.ID) (f *forum, parents map[string]string) {
	f, parents = newForum(t), map[string]string{}
	lists := map[string][]schema.Comment{}
	for n := range rapid.IntRange(0, 40).Draw(t, "comments") {
		id, to := strconv.Itoa(n), ""
		if n > 0 {
			if above := rapid.IntRange(-3, n-1).Draw(t, "to"); above >= 0 {
				to = strconv.Itoa(above)
			}
		}
		if on == platform.YouTube && to != "" && parents[to] != "" {
			to = parents[to]
		}
		parents[id] = to
		comment, list := remark(id, nil), to
		if to != "" {
			comment.ReplyToID = &to
		}
		if on == platform.Bluesky || on == platform.X {
			list = ""
		}
		lists[list] = append(lists[list], comment)
	}
	for of, list := range lists {
		if of == "" && on == platform.X { // newest first
			slices.Reverse(list)
		}
		for page := range slices.Chunk(list, rapid.IntRange(1, 5).Draw(t, "page size")) {
			f.pages[of] = append(f.pages[of], page)
			f.next[of] = append(f.next[of], len(f.pages[of]))
		}
		f.next[of][len(f.pages[of])-1] = 0
	}
	return f, parents
}

func TestAConversationIsInThreadOrderAndReadsEachPageOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		on := drawPlatform(t)
		f, parents := drawThreads(t, on)
		r := &reading{forum: f, on: on}
		for !r.progress.Done {
			if err := r.run(t, 0, 0, rapid.IntRange(0, 9).Draw(t, "items")); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.check(t); len(got) != len(parents) {
			t.Fatalf("%d comments came, want %d", len(got), len(parents))
		}
		var path []string // from the comment on the post to the last item
		for _, item := range r.items {
			if item.Depth > int64(len(path)) {
				t.Fatalf("%s at depth %d is not below %v", item.Data.ID, item.Depth, path)
			}
			path = append(path[:item.Depth], item.Data.ID)
			above := ""
			if item.Depth > 0 {
				above = path[item.Depth-1]
			}
			if above != parents[item.Data.ID] {
				t.Fatalf("%s came below %q, want %q", item.Data.ID, above, parents[item.Data.ID])
			}
		}
		for page, calls := range f.asked {
			list, _, _ := strings.Cut(page, "|")
			if calls > 1 {
				t.Fatalf("page %s was charged %d times", page, calls)
			}
			if whole := on == platform.Bluesky || on == platform.X; list != "" && (whole || on == platform.YouTube && parents[list] != "") {
				t.Fatalf("the replies to %s were read", list)
			}
		}
	})
}

// endless is a forum whose lists never end, and whose every comment has replies.
type endless struct {
	socialdata.Transport
	mu    sync.Mutex
	calls int
}

func (f *endless) Do(_ context.Context, o *operation.Operation, _ operation.Call) (*operation.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.Name == "estimate" {
		return answered(schema.Estimate{Credits: schema.EstimateCredits{Most: 1}}, schema.Meta{})
	}
	f.calls++
	id := strconv.Itoa(f.calls)
	return answered([]schema.Comment{remark(id+"a", nil), remark(id+"b", nil)}, schema.Meta{CreditsUsed: 1, NextCursor: id})
}

func TestAnEndlessConversationEndsAtItsLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		on   platform.ID
		most conversation.Most
		want error
	}{
		{platform.HackerNews, conversation.Most{Rows: 50}, nil},
		{platform.Bluesky, conversation.Most{Rows: 50}, nil},
		{platform.HackerNews, conversation.Most{Credits: 25}, conversation.ErrMostCredits},
		{platform.Bluesky, conversation.Most{Credits: 25}, conversation.ErrMostCredits},
	}
	for _, tt := range tests {
		f := &endless{}
		rows, ended := 0, error(nil)
		for item, err := range conversation.Of(t.Context(), socialdata.Over(f),
			socialdata.PostRequest{Platform: tt.on, ID: "post"}, tt.most) {
			if ended = err; err == nil && item.Data != nil {
				rows++
			}
		}
		want := tt.most.Rows
		if tt.most.Credits > 0 { // all that was paid
			want = 2 * f.calls
		}
		if !errors.Is(ended, tt.want) || rows != want || int64(f.calls) > max(tt.most.Credits, 60) {
			t.Errorf("%s %+v: %d rows of %d calls, %v; want %d rows", tt.on, tt.most, rows, f.calls, ended, want)
		}
	}
}

func TestItemsAndProblemsOfAConversation(t *testing.T) {
	t.Parallel()
	of := func(pages map[string][][]schema.Comment) *forum {
		return &forum{pages: pages, next: map[string][]int{"": {0}, "a": {0}}, asked: map[string]int{}, shown: map[string]bool{}}
	}
	plain := map[string][][]schema.Comment{"": {{remark("a", nil), remark("b", nil)}}}
	noReplies, noComments, unserved := of(plain), of(plain), of(plain)
	noReplies.broken, noComments.broken, unserved.unserved = map[string]bool{"a": true}, map[string]bool{"": true}, true
	direct, below := remark("a", new("post")), remark("b", new("a"))
	direct.PostID, below.PostID = "root", "root"
	tests := []struct {
		name  string
		on    platform.ID
		forum *forum
		want  []string
		ended error
	}{
		{"replies to one comment fail", platform.HackerNews, noReplies, []string{"0 a", "1 a: not_found", "0 b"}, nil},
		{"a platform without replies", platform.HackerNews, unserved, []string{"0 a", "1 a: platform_unavailable", "0 b"}, nil},
		{"the comments fail", platform.HackerNews, noComments, nil, problem.NotFound},
		{ // of which X lists the direct replies alone
			"a post that is a reply on X", platform.X, of(map[string][][]schema.Comment{"": {{direct}}, "a": {{below}}}),
			[]string{"0 a", "1 b"},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			var ended error
			for item, err := range conversation.Of(t.Context(), socialdata.Over(tt.forum),
				socialdata.PostRequest{Platform: tt.on, ID: "post"}, conversation.Most{}) {
				switch {
				case err != nil:
					ended = err
				case item.Problem != nil:
					got = append(got, fmt.Sprint(item.Depth, " ", *item.ParentID, ": ", item.Problem.Code))
				default:
					got = append(got, fmt.Sprint(item.Depth, " ", item.Data.ID))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(ended, tt.ended) {
				t.Errorf("items (-want +got):\n%s, ended with %v; want %v", diff, ended, tt.ended)
			}
		})
	}
}

func TestProgressBelongsToOneConversation(t *testing.T) {
	t.Parallel()
	r := socialdata.Over(&endless{})
	progress := &conversation.Progress{}
	for _, req := range []socialdata.PostRequest{
		{Platform: platform.HackerNews, ID: "1"},
		{Platform: platform.HackerNews, ID: "2"},
		{Platform: platform.HackerNews, ID: "1", Region: "us"},
	} {
		for _, err := range conversation.Of(t.Context(), r, req, conversation.Most{Rows: 1, Progress: progress}) {
			if refused := req.ID == "2" || req.Region != ""; refused != errors.Is(err, problem.InvalidRequest) {
				t.Errorf("%+v: %v; want it refused: %t", req, err, refused)
			}
		}
	}
}

// TestAConversationIsTheSameOverHTTP reads the sandbox in process and over HTTP, and its account pays what the progress
// says.
func TestAConversationIsTheSameOverHTTP(t *testing.T) {
	t.Parallel()
	s := socialdatatest.Start(t)
	over, err := overhttp.New(s.URL, overhttp.Config{Key: s.Key})
	if err != nil {
		t.Fatal(err)
	}
	read := func(r socialdata.Reader) (rows []schema.ConversationItem) {
		before, progress := spentAt(t, s), &conversation.Progress{}
		for _, most := range []conversation.Most{{Rows: 30}, {Credits: 5}, {Rows: 45}} {
			most.Progress = progress
			for item, err := range conversation.Of(t.Context(), r,
				socialdata.PostRequest{Platform: platform.Mock, ID: "https://mock.example/posts/ann-post-1"}, most) {
				if errors.Is(err, conversation.ErrMostCredits) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, item)
			}
		}
		if cost := spentAt(t, s) - before; cost != progress.Credits {
			t.Errorf("it has cost %d credits, and the progress says %d", cost, progress.Credits)
		}
		return rows
	}
	here, there := read(s.Client), read(over)
	if len(here) < 75 || here[1].Depth != 1 || *here[1].ParentID != here[0].Data.ID {
		t.Fatalf("%d rows, the second %+v; want 75 or more, the second a reply to the first", len(here), here[1])
	}
	if diff := cmp.Diff(here, there); diff != "" {
		t.Errorf("the conversation (-in process +over HTTP):\n%s", diff)
	}
}

func spentAt(t *testing.T, s *socialdatatest.Server) (all int64) {
	t.Helper()
	for _, n := range s.Charged(t) {
		all += n
	}
	return all
}
