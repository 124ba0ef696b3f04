package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/contrib/mcp"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/records"
	"github.com/socialdata/socialdata/schema"
)

func lateTikTok(release <-chan struct{}) enginetest.Config {
	return enginetest.Config{Providers: enginetest.Sandboxes(mock.Config{Release: release}, platform.Mock,
		platform.TikTok)}
}

// whole reads all parts of an answer and joins them.
func (s *site) whole(
	t *testing.T, limit int, tool string, in args, withCursor func(args, string) args,
) (data []byte, last answer, parts int) {
	t.Helper()
	var items []json.RawMessage
	list, text := false, ""
	for got := s.good(t, tool, in); ; got = s.good(t, tool, withCursor(in, got.Meta.NextCursor)) {
		if parts++; parts > 500 {
			t.Fatal("the parts do not end")
		}
		if len(got.Data) > limit {
			t.Errorf("part %d holds %d bytes, more than %d", parts, len(got.Data), limit)
		}
		if parts > 1 && got.Meta.CreditsUsed != 0 {
			t.Errorf("part %d costs %d credits", parts, got.Meta.CreditsUsed)
		}
		if got.Piece != nil {
			if text += *got.Piece; json.Valid([]byte(text)) {
				items, text = append(items, json.RawMessage(text)), ""
			}
		} else {
			if text != "" {
				t.Fatalf("part %d: an item was broken off", parts)
			}
			var some []json.RawMessage
			if json.Unmarshal(got.Data, &some) == nil {
				list = true
				items = append(items, some...)
			} else {
				items = append(items, got.Data)
			}
		}
		if !strings.HasPrefix(got.Meta.NextCursor, "part.") {
			if list || len(items) != 1 {
				b, err := schema.Marshal(items)
				if err != nil {
					t.Fatal(err)
				}
				return b, got, parts
			}
			return items[0], got, parts
		}
		if got.Note == "" {
			t.Errorf("part %d does not say that there is more", parts)
		}
	}
}

func inParams(in args, cursor string) args {
	params := args{"cursor": cursor}
	for name, v := range in["params"].(args) {
		if name != "cursor" {
			params[name] = v
		}
	}
	out := args{"params": params}
	for name, v := range in {
		if name != "params" {
			out[name] = v
		}
	}
	return out
}

func flat(in args, cursor string) args {
	out := args{"cursor": cursor}
	for name, v := range in {
		if name != "cursor" {
			out[name] = v
		}
	}
	return out
}

func TestLargeAnswersComeInPartsAndAreChargedOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		on   operation.Call
		op   string
	}{
		{"a list, and items of it that are larger than a result", operation.Call{Platform: "mock", Params: map[string][]string{"handle": {"ann"}}}, "posts"},
		{"a list with raw", operation.Call{Platform: "mock", Params: map[string][]string{"handle": {"ann"}, "include_raw": {"true"}}}, "posts"},
		{"one object", operation.Call{Platform: "mock", Params: map[string][]string{"post_id": {"p1"}}}, "transcript"},
		{"a provider's own route", operation.Call{Platform: "mock", Path: "echo/word", Params: map[string][]string{"say": {strings.Repeat("\"سلام\" ", 600)}}}, "raw"},
	}
	for name, connect := range transports {
		for _, limit := range []int{1 << 10, 4 << 10} {
			s := open(t, connect, enginetest.Config{}, mcp.Config{MaxBytes: limit})
			for _, tt := range tests {
				t.Run(name+" "+tt.name, func(t *testing.T) {
					in := args{"platform": "mock", "operation": tt.op, "params": args{}}
					for name := range tt.on.Params {
						in["params"].(args)[name] = tt.on.Params.Get(name)
					}
					if tt.on.Path != "" {
						in["path"] = tt.on.Path
					}
					paid := len(s.Charges(t))
					got, last, parts := s.whole(t, limit, "read", in, inParams)
					if n := len(s.Charges(t)) - paid; n != 1 {
						t.Errorf("%d charges, want 1", n)
					}
					want, err := socialdata.FrontEnd(s.Client).Do(t.Context(), socialdata.Operation(tt.op), tt.on)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(decoded(t, want.Data), decoded(t, got)); diff != "" {
						t.Errorf("all parts (-client +tool):\n%.2000s", diff)
					}
					if enough := len(want.Data) / limit; parts <= enough {
						t.Errorf("%d bytes came in %d parts of %d", len(want.Data), parts, limit)
					}
					if (want.Meta.NextCursor == "") != (last.Meta.NextCursor == "") {
						t.Errorf("the last part says that page %q comes next, the client %q", last.Meta.NextCursor, want.Meta.NextCursor)
					}
				})
			}
		}
	}
}

func TestTheLastPartLeadsToTheNextPage(t *testing.T) {
	t.Parallel()
	s := open(t, overHTTP, enginetest.Config{}, mcp.Config{MaxBytes: 4 << 10})
	in := args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}}
	first, last, _ := s.whole(t, 4<<10, "read", in, inParams)
	second, _, parts := s.whole(t, 4<<10, "read", inParams(in, last.Meta.NextCursor), inParams)
	if parts < 2 || cmp.Equal(first, second) || len(s.Charges(t)) != 2 {
		t.Errorf("page two came in %d parts, and there are %d charges", parts, len(s.Charges(t)))
	}
}

// TestAJobComesInParts checks that the parts lose no result of a job.
func TestAJobComesInParts(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := open(t, overStdio, lateTikTok(release), mcp.Config{MaxBytes: 2 << 10})
	in := args{"query": "pending_on_tiktok", "platforms": "mock,tiktok", "wait_s": 1}
	early, last, parts := s.whole(t, 2<<10, "search", in, flat)
	if parts < 2 || last.Meta.JobID == "" {
		t.Fatalf("the search came in %d parts, the last one with job %q", parts, last.Meta.JobID)
	}
	close(release)
	all, last, parts := s.whole(t, 2<<10, "job", args{"id": last.Meta.JobID, "wait_s": 25}, flat)
	var before, found []schema.SearchResult
	if err := errors.Join(json.Unmarshal(early, &before), json.Unmarshal(all, &found)); err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, r := range found {
		if r.Shared().Platform == platform.TikTok {
			late++
		}
	}
	if parts < 2 || late == 0 || len(found) != len(before)+late || s.spent(t) != 2 {
		t.Errorf("%d results in %d parts, %d of them late, %d before; charged %d",
			len(found), parts, late, len(before), s.spent(t))
	}
}

// TestAnswersAreNotStoredWhenTheirSubjectIsErased erases someone during the read of an answer that may contain anyone.
// The answer is returned whole, since it is paid for, and not stored.
func TestAnswersAreNotStoredWhenTheirSubjectIsErased(t *testing.T) {
	t.Parallel()
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := records.NewMemory(records.MemoryConfig{})
			during := func() {}
			posts := enginetest.Posts(platform.X, "x", func(context.Context, string, string) (page providers.Page[schema.Post], err error) {
				during()
				for i := range 10 {
					p := enginetest.Post(strconv.Itoa(i))
					p.Text = strings.Repeat("tea ", 100)
					page.Items = append(page.Items, p)
				}
				return page, nil
			})
			s := open(t, connect, enginetest.Config{Providers: []providers.Provider{posts}},
				mcp.Config{MaxBytes: 1 << 10, Records: store})
			read := func(handle string, want int, partly bool) {
				t.Helper()
				got := s.good(t, "read", args{"platform": "x", "operation": "posts", "params": args{"handle": handle}})
				kept, err := store.Keys(t.Context(), "mcp/")
				if in := strings.HasPrefix(got.Meta.NextCursor, "part."); err != nil || len(kept) != want || in != partly {
					t.Errorf("of %s %d answers are stored, want %d, and its cursor is %q: %v", handle, len(kept), want,
						got.Meta.NextCursor, err)
				}
			}
			read("ann", 1, true)
			during = func() {
				if _, err := s.Open.Operator().Erase(t.Context(), schema.EraseRequest{Platform: platform.X, Handle: "carl"}); err != nil {
					t.Error(err)
				}
			}
			read("bob", 1, false)
			during = func() {}
			read("dora", 2, true)
		})
	}
}

func TestAPartBelongsToItsCallAndItsKey(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	server := mcp.New(e.Open, mcp.Config{MaxBytes: 2 << 10, Records: e.Records, Now: e.Clock.Now})
	s := visit(t, e, overHTTP(t, server, e.Secret))
	in := args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}}
	cursor := s.good(t, "read", in).Meta.NextCursor
	if !strings.HasPrefix(cursor, "part.") {
		t.Fatalf("the cursor is %q", cursor)
	}

	for name, other := range map[string]args{
		"another handle":    inParams(args{"platform": "mock", "operation": "posts", "params": args{"handle": "bob"}}, cursor),
		"another operation": inParams(args{"platform": "mock", "operation": "reels", "params": args{"handle": "ann"}}, cursor),
		"another id":        inParams(in, "part.NOTHING.1.0"),
		"after the end":     inParams(in, cursor[:strings.LastIndex(cursor[:strings.LastIndex(cursor, ".")], ".")]+".1000.0"),
		"no place":          inParams(in, "part.x"),
		"a negative place":  inParams(in, "part.x.-1.0"),
	} {
		t.Run(name, func(t *testing.T) { s.fails(t, "read", other, problem.InvalidRequest) })
	}

	// The cursor remains valid with other options of the answer.
	s.good(t, "read", inParams(args{
		"platform": "mock", "operation": "posts", "params": args{"handle": "ann", "fresh": true},
	}, cursor))

	stranger, secret := e.Account(t, "stranger", 10)
	theirs := visit(t, &enginetest.Engine{Ledger: e.Ledger, Key: stranger}, overHTTP(t, server, secret))
	theirs.fails(t, "read", inParams(in, cursor), problem.InvalidRequest)

	// Another replica with the same records has the part; an hour later no replica does.
	replica := mcp.New(e.Open, mcp.Config{MaxBytes: 2 << 10, Records: e.Records, Now: e.Clock.Now})
	there := visit(t, e, overHTTP(t, replica, e.Secret))
	e.Clock.Advance(10 * time.Minute)
	if got := there.good(t, "read", inParams(in, cursor)); got.Meta.DataAgeS != 600 {
		t.Errorf("the data is %d seconds old, want 600", got.Meta.DataAgeS)
	}
	e.Clock.Advance(time.Hour)
	there.fails(t, "read", inParams(in, cursor), problem.InvalidRequest)
}

// TestTheRawOfAPageComesInParts checks that the page's own raw is a part of the answer as well, whether it fits beside
// the items or is larger than a result.
func TestTheRawOfAPageComesInParts(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"beside the last items": 100, "alone": 1 << 10, "in pieces": 5 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := json.RawMessage(`"` + strings.Repeat("<", size) + `"`)
			chain := mock.New(mock.Config{})
			find := chain[0].Suggestions
			chain[0].Suggestions = func(
				ctx context.Context, q providers.SuggestionsQuery, token string,
			) (providers.Page[schema.Suggestion], error) {
				got, err := find(ctx, q, token)
				for i := range got.Items {
					got.Items[i].Raw = nil
				}
				got.Raw = page
				return got, err
			}
			s := open(t, overStdio, enginetest.Config{Providers: chain}, mcp.Config{MaxBytes: 2 << 10})
			in := args{"platform": "mock", "operation": "suggestions", "params": args{"query": "coffee", "include_raw": true}}
			var raw json.RawMessage
			text := ""
			for got := s.good(t, "read", in); ; got = s.good(t, "read", inParams(in, got.Meta.NextCursor)) {
				if got.Meta.Raw != nil {
					raw = got.Meta.Raw
				}
				if got.Piece != nil {
					text += *got.Piece
				}
				if got.Meta.NextCursor == "" {
					break
				}
			}
			if text != "" {
				raw = json.RawMessage(text)
			}
			if diff := cmp.Diff(decoded(t, page), decoded(t, raw)); diff != "" {
				t.Errorf("meta.raw (-want +got):\n%.500s", diff)
			}
			if s.told != 1 {
				t.Errorf("credits_used: got %d, want 1", s.told)
			}
		})
	}
}

// full is a store of records without any room.
type full struct{ records.Store }

func (full) Put(context.Context, records.Record, time.Duration) (int64, error) {
	return 0, records.ErrQuota
}

func TestAnAnswerThatCannotBeStoredIsNotCut(t *testing.T) {
	t.Parallel()
	s := open(t, overStdio, enginetest.Config{}, mcp.Config{MaxBytes: 2 << 10, Records: full{}})
	got := s.good(t, "read", args{"platform": "mock", "operation": "posts", "params": args{"handle": "ann"}})
	var posts []schema.Post
	if err := json.Unmarshal(got.Data, &posts); err != nil || len(posts) < 10 || len(got.Data) <= 2<<10 {
		t.Errorf("%d posts in %d bytes: %v", len(posts), len(got.Data), err)
	}
	if strings.HasPrefix(got.Meta.NextCursor, "part.") {
		t.Error("a part is promised that was not kept")
	}
}
