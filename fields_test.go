package socialdata_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// viewed is what the view of names leaves of a decoded value, found in another way than by package schema.
func viewed(v any, names []string, top bool) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, viewed(e, names, top))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for member, value := range v {
			var within []string
			whole := top && slices.Contains([]string{"platform", "id", "url", "kind", "raw", "enrichment"}, member)
			for _, name := range names {
				rest, below := strings.CutPrefix(name, member+".")
				if whole = whole || name == member; below {
					within = append(within, rest)
				}
			}
			if whole {
				out[member] = value
			} else if within != nil {
				out[member] = viewed(value, within, false)
			}
		}
		return out
	}
	return v
}

// sees checks that an answer is what the whole answer gives, with the chosen fields of its first rows.
func sees(t *rapid.T, o *operation.Operation, whole, some *operation.Answer, fields []string, limit int) {
	t.Helper()
	var want, got any
	if err := json.Unmarshal(whole.Data, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(some.Data, &got); err != nil {
		t.Fatalf("%s: %v", some.Data, err)
	}
	next := whole.Meta.NextCursor != ""
	if rows, list := want.([]any); list && limit > 0 && len(rows) > limit {
		want, next = rows[:limit], false
	}
	if fields != nil && o.Of != "" {
		for _, item := range want.([]any) {
			item.(map[string]any)["data"] = viewed(item.(map[string]any)["data"], fields, true)
		}
	} else if fields != nil {
		want = viewed(want, fields, true)
	}
	ids := cmpopts.IgnoreMapEntries(func(member string, _ any) bool { return member == "request_id" }) // of problems
	if diff := cmp.Diff(want, got, ids); diff != "" {
		t.Errorf("%s with fields=%v limit=%d (-want +got):\n%.2000s", o.Name, fields, limit, diff)
	}
	if (some.Meta.NextCursor != "") != next {
		t.Errorf("%s with limit=%d has the cursor %q; want one: %t", o.Name, limit, some.Meta.NextCursor, next)
	}
	if some.Meta.CreditsUsed != whole.Meta.CreditsUsed {
		t.Errorf("%s costs %d, and %d with a view", o.Name, whole.Meta.CreditsUsed, some.Meta.CreditsUsed)
	}
}

// sandboxCall returns a call of o that the sandbox answers.
func sandboxCall(o *operation.Operation) operation.Call {
	call := enginetest.Call()
	if !o.Service {
		call.Platform = "mock"
	}
	one := false
	for _, p := range o.Params {
		switch {
		case p.Form == operation.FormAddress:
			call.Params.Set(p.Name, "https://mock.example/@salma")
		case p.Form == operation.FormAddresses:
			call.Params.Set(p.Name, "https://mock.example/@salma\r\n\nhttps://nowhere.example/\nhttps://mock.example/posts/salma-post-1")
		case p.Form == operation.FormKeys:
			call.Params.Set(p.Name, "salma,omar,ghost404,@@")
		case p.Required, p.OneOf && !one:
			call.Params.Set(p.Name, "salma")
		}
		one = one || p.OneOf
	}
	return call
}

// TestFieldsAndLimitSelectFromTheAnswer calls every operation that takes fields and limit, and compares its answer with
// the one without them.
func TestFieldsAndLimitSelectFromTheAnswer(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{Credits: 1 << 40})
	front := socialdata.FrontEnd(e.Client)
	tried := 0
	for _, o := range socialdata.Operations() {
		if !o.Has(operation.ParamFields) || o.Name == "job" || o.Name == "changes" {
			continue
		}
		call := sandboxCall(o)
		if _, err := front.Do(t.Context(), o, call); err != nil {
			t.Errorf("%s: %v", o.Name, err)
			continue
		}
		whole, err := front.Do(t.Context(), o, call)
		if err != nil {
			t.Fatal(err)
		}
		read := o
		if whole.Made != nil {
			read = whole.Made.Operation
		}
		data := read.Data
		names := schema.FieldNames(data)
		tried++
		rapid.Check(t, func(t *rapid.T) {
			own, fields, limit := call, rapid.SliceOfN(rapid.SampledFrom(names), 0, 5).Draw(t, "fields"), 0
			own.Params = maps.Clone(call.Params)
			if len(fields) > 0 {
				own.Params.Set("fields", strings.Join(fields, ","))
			} else {
				fields = nil
			}
			if read.List() {
				limit = rapid.IntRange(0, 30).Draw(t, "limit")
			}
			if limit > 0 {
				own.Params.Set("limit", strconv.Itoa(limit))
			}
			some, err := front.Do(t.Context(), o, own)
			if err != nil {
				t.Fatal(err)
			}
			sees(t, read, whole, some, fields, limit)
		})
	}
	if tried < 40 {
		t.Errorf("%d operations were tried; want 40 or more", tried)
	}
}

func TestAnUnknownFieldIsRefusedWithTheNearest(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for _, o := range socialdata.Operations() {
		if !o.Has(operation.ParamFields) {
			continue
		}
		call := sandboxCall(o)
		call.Params.Set("fields", "platform,platformx")
		_, err := socialdata.FrontEnd(e.Client).Do(t.Context(), o, call)
		enginetest.WantProblem(t, err, problem.InvalidRequest, `"platformx"`)
		if o.Name != "audience" {
			enginetest.WantProblem(t, err, problem.InvalidRequest, "did you mean platform?")
		}
		call.Params.Set("fields", "platform,,platform")
		_, err = socialdata.FrontEnd(e.Client).Do(t.Context(), o, call)
		enginetest.WantProblem(t, err, problem.InvalidRequest, `there is no field ""`)
	}
	if n := len(e.Charges(t)); n != 0 {
		t.Errorf("%d calls were charged; want none", n)
	}
}

func TestStreamsApplyFieldsAndLimit(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	o, call := socialdata.Operation("search_across"), enginetest.Call("query", "tea", "limit", "3", "fields", "kind")
	results, ended := 0, false
	err := socialdata.FrontEnd(e.Client).Stream(t.Context(), o, call, func(ev operation.Event) bool {
		switch {
		case ev.Result != nil:
			results++
			var members map[string]any
			if err := json.Unmarshal(ev.Result, &members); err != nil || len(members) != 4 {
				t.Errorf("a result is %s; want four members", ev.Result)
			}
		case ev.Meta != nil:
			ended = true
			if ev.Meta.NextCursor != "" || ev.Meta.CreditsUsed != 1 {
				t.Errorf("the meta is %+v; want one credit and no cursor", ev.Meta)
			}
		}
		return true
	})
	if err != nil || results != 3 || !ended {
		t.Errorf("%d results, with meta %t, %v; want 3 results and meta", results, ended, err)
	}
}

func TestAccountListsContinueAfterTheirLimit(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for range 7 {
		if _, err := e.Client.Profile(t.Context(), salma()); err != nil {
			t.Fatal(err)
		}
	}
	var all, some []string
	whole, err := e.Client.Account().Usage(t.Context(), accounts.UsageRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range whole.Data {
		all = append(all, u.ID)
	}
	req := accounts.UsageRequest{Page: socialdata.Page{Limit: 3}}
	for {
		page, err := e.Client.Account().Usage(t.Context(), req)
		if err != nil || len(page.Data) > 3 {
			t.Fatalf("%d entries, %v; want 3 at most", len(page.Data), err)
		}
		for _, u := range page.Data {
			some = append(some, u.ID)
		}
		if req.Cursor = page.Meta.NextCursor; req.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(all, some); diff != "" || len(all) < 7 {
		t.Errorf("entries in pages of three (-want +got):\n%s", diff)
	}
}

func TestAWalkEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	e := enginetest.New(t, enginetest.Config{})
	for _, limit := range []int{1, 19, 20, 21, 33, 2000} {
		req := socialdata.PostsRequest{Platform: "mock", Handle: "ann", Page: socialdata.Page{Limit: limit}}
		if n, want := len(items(t, socialdata.Walk(t.Context(), e.Client.Posts, req))), min(limit, 47); n != want {
			t.Errorf("a walk with the limit %d yields %d posts, want %d", limit, n, want)
		}
	}
}

func TestChangesApplyFieldsAndLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := watching(t, enginetest.Config{})
		told(t, e.Client, broadcast, 3)
		o := socialdata.Operation("changes")
		call := enginetest.Call("fields", "viewers", "limit", "1", "type", "changed")
		a, err := socialdata.FrontEnd(e.Client).Do(t.Context(), o, call)
		var changes []schema.Change
		if err == nil {
			err = json.Unmarshal(a.Data, &changes)
		}
		if err != nil || len(changes) != 1 || changes[0].Type != "changed" || len(changes[0].Fields) == 0 {
			t.Fatalf("the changes are %+v, %v; want one changed, with fields", changes, err)
		}
		var object map[string]any
		if err := json.Unmarshal(changes[0].Object, &object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"id", "platform", "url", "viewers"}, slices.Sorted(maps.Keys(object))); diff != "" {
			t.Errorf("members of its object (-want +got):\n%s", diff)
		}
		streamed := 0
		err = socialdata.FrontEnd(e.Client).Stream(t.Context(), o, call, func(ev operation.Event) bool {
			if ev.Result != nil {
				streamed++
				if strings.Contains(string(ev.Result), `"host"`) {
					t.Errorf("an event is %s; want it without host", ev.Result)
				}
			}
			return true
		})
		if err != nil || streamed != 1 {
			t.Errorf("the stream has %d changes, %v; want one", streamed, err)
		}
	})
}
