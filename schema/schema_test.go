package schema_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func common() schema.Common {
	return schema.Common{Platform: platform.Mock, ID: "1", URL: "https://mock.example/1?a=1&b=<2>", FetchedAt: at, Source: schema.Own}
}

func valid() schema.Common {
	c := common()
	c.URL = "https://mock.example/1"
	return c
}

func actor() schema.Actor { return schema.Actor{Platform: platform.Mock, ID: "9", Handle: "ann"} }

// objects returns one valid object of every resource, with only the required fields.
func objects() map[string]schema.Object {
	store := schema.StoreSummary{Platform: platform.Mock, ID: "s", URL: "https://mock.example/s"}
	all := map[string]schema.Object{
		"profile":    &schema.Profile{Common: valid(), Handle: "ann"},
		"audience":   &schema.Audience{Common: valid(), Handle: "ann"},
		"linked":     &schema.LinkedProfile{Common: valid(), Handle: "ann"},
		"suggestion": &schema.Suggestion{Common: valid(), Text: "a", Kind: schema.SuggestQuery},
		"post":       &schema.Post{Common: valid(), Author: actor()},
		"comment":    &schema.Comment{Common: valid(), PostID: "1", Author: actor()},
		"transcript": &schema.Transcript{Common: valid(), PostID: "1"},
		"live":       &schema.LiveStream{Common: valid(), Host: actor()},
		"collection": &schema.Collection{Common: valid(), Kind: schema.Album},
		"track":      &schema.Track{Common: valid()},
		"product":    &schema.Product{Common: valid(), Store: store, Price: schema.Price{Currency: "SAR"}},
		"review":     &schema.Review{Common: valid(), ProductID: "1", Author: actor()},
		"ad":         &schema.Ad{Common: valid()},
		"advertiser": &schema.Advertiser{Common: valid()},
		"event":      &schema.Event{Common: valid()},
		"web":        &schema.WebPage{Common: valid()},
	}
	for _, o := range all {
		o.Fill()
	}
	return all
}

func TestEveryRequiredKeyIsThereAndNoArrayIsNull(t *testing.T) {
	t.Parallel()
	for name, o := range objects() {
		b, err := schema.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		for f, v := range reflect.ValueOf(o).Elem().Fields() {
			key, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key == "" || opts != "" {
				continue
			}
			value, ok := got[key]
			if !ok {
				t.Errorf("%s: required key %q is missing", name, key)
			}
			if v.Kind() == reflect.Slice && value == nil {
				t.Errorf("%s: array %q is null", name, key)
			}
			if v.Kind() == reflect.Pointer && value != nil {
				t.Errorf("%s: unknown %q is %v, want null", name, key, value)
			}
		}
		for _, key := range []string{"raw", "enrichment"} {
			if _, ok := got[key]; ok {
				t.Errorf("%s: %q is there without being asked for", name, key)
			}
		}
		if err := o.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMarshalIsExact(t *testing.T) {
	t.Parallel()
	post := schema.Post{
		Common: common(), Author: actor(), Text: "a <b> & c 🌱 سلام",
		Media: []schema.Media{{Type: schema.Video, URL: "https://mock.example/v"}, {Type: schema.Audio, URL: "https://mock.example/a", DurationS: new(1.5)}},
	}
	post.Fill()
	post.Raw = json.RawMessage(`{"x":"<"}`)
	post.Enrichment = schema.Some[schema.Enrichment](nil)
	b, err := schema.Marshal(&post)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"platform":"mock","id":"1","url":"https://mock.example/1?a=1&b=<2>","fetched_at":"2026-01-02T03:04:05Z","source":"own",` +
		`"raw":{"x":"<"},"enrichment":null,` +
		`"author":{"platform":"mock","id":"9","handle":"ann","display_name":null,"avatar_url":null},"text":"a <b> & c 🌱 سلام","lang":null,"created_at":null,` +
		`"media":[{"type":"video","url":"https://mock.example/v","thumbnail_url":null},{"type":"audio","url":"https://mock.example/a","thumbnail_url":null,"duration_s":1.5}],` +
		`"engagement":{"likes":null,"comments":null,"shares":null,"views":null,"saves":null},"hashtags":[],"mentions":[],"is_ad":false}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestAProblemIsWrittenLikeEverythingElse(t *testing.T) {
	t.Parallel()
	b, err := schema.Marshal(problem.New(problem.InvalidRequest, "a <b> & c"))
	if err != nil || !strings.Contains(string(b), `"detail":"a <b> & c"`) {
		t.Errorf("JSON %s, %v: the detail is escaped", b, err)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()
	tests := []struct {
		field string
		spoil func() schema.Object
	}{
		{"platform", func() schema.Object { p := &schema.Track{Common: valid()}; p.Platform = "myspace"; return p }},
		{"id", func() schema.Object { p := &schema.Track{Common: valid()}; p.ID = ""; return p }},
		{"url", func() schema.Object { return &schema.Track{Common: common()} }},
		{"url", func() schema.Object { p := &schema.Track{Common: valid()}; p.URL = "/relative"; return p }},
		{"fetched_at", func() schema.Object { p := &schema.Track{Common: valid()}; p.FetchedAt = time.Time{}; return p }},
		{"source", func() schema.Object { p := &schema.Track{Common: valid()}; p.Source = "rumour"; return p }},
		{"handle", func() schema.Object { return &schema.Profile{Common: valid()} }},
		{"avatar_url", func() schema.Object { return &schema.Profile{Common: valid(), Handle: "a", AvatarURL: new("…")} }},
		{"followers", func() schema.Object { return &schema.Profile{Common: valid(), Handle: "a", Followers: new(int64(-1))} }},
		{"lang", func() schema.Object { return &schema.Profile{Common: valid(), Handle: "a", Lang: new("C")} }},
		{"country", func() schema.Object { return &schema.Profile{Common: valid(), Handle: "a", Country: new("KSA")} }},
		{"links[1]", func() schema.Object {
			return &schema.Profile{Common: valid(), Handle: "a", Links: []string{"https://a.example", "b"}}
		}},
		{"author", func() schema.Object { return &schema.Post{Common: valid()} }},
		{"media", func() schema.Object {
			return &schema.Post{Common: valid(), Author: actor(), Media: []schema.Media{{Type: "gif", URL: "https://a.example"}}}
		}},
		{"engagement.saves", func() schema.Object {
			return &schema.Post{Common: valid(), Author: actor(), Engagement: schema.Engagement{Saves: new(int64(-2))}}
		}},
		{"post_id", func() schema.Object { return &schema.Comment{Common: valid(), Author: actor()} }},
		{"kind", func() schema.Object { return &schema.Collection{Common: valid(), Kind: "mixtape"} }},
		{"duration_s", func() schema.Object { return &schema.Track{Common: valid(), DurationS: new(-0.5)} }},
		{"store", func() schema.Object { return &schema.Product{Common: valid()} }},
		{"price.currency", func() schema.Object {
			p := objects()["product"].(*schema.Product)
			p.Price.Currency = "R"
			return p
		}},
		{"price.amount", func() schema.Object {
			p := objects()["product"].(*schema.Product)
			p.Price.Amount = math.NaN()
			return p
		}},
		{"rating", func() schema.Object {
			return &schema.Review{Common: valid(), ProductID: "1", Author: actor(), Rating: 5.1}
		}},
		{"position", func() schema.Object { return &schema.WebPage{Common: valid(), Position: new(int64(0))} }},
		{"confidence", func() schema.Object { return &schema.LinkedProfile{Common: valid(), Handle: "a", Confidence: 1.1} }},
		{"enrichment", func() schema.Object {
			p := &schema.Track{Common: valid()}
			p.Enrichment = schema.Some(&schema.Enrichment{Dialect: "klingon"})
			return p
		}},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			t.Parallel()
			err := tt.spoil().Check()
			if err == nil || !strings.HasPrefix(err.Error(), tt.field) {
				t.Errorf("Check() = %v, want it to name %s", err, tt.field)
			}
		})
	}
}

func TestSearchResultGoesThereAndBack(t *testing.T) {
	t.Parallel()
	kinds := map[string]schema.ResultKind{
		"profile": schema.ProfileResult, "post": schema.PostResult, "comment": schema.CommentResult, "product": schema.ProductResult,
		"review": schema.ReviewResult, "track": schema.TrackResult, "collection": schema.CollectionResult, "web": schema.WebResult,
	}
	if len(kinds) != len(schema.ResultKinds()) {
		t.Fatalf("%d kinds are tested, there are %d", len(kinds), len(schema.ResultKinds()))
	}
	for name, kind := range kinds {
		want := schema.Result(objects()[name])
		b, err := schema.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if head := `{"kind":"` + string(kind) + `",`; !strings.HasPrefix(string(b), head) {
			t.Errorf("%s: JSON %.60s does not begin with %s", name, b, head)
		}
		var got schema.SearchResult
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := schema.Result(&schema.Event{Common: valid()}).Check(); err == nil {
		t.Error("an event passes for a search result")
	}
	if err := new(schema.SearchResult).UnmarshalJSON([]byte(`{"kind":"event"}`)); err == nil {
		t.Error("an unknown kind was read")
	}
}

func TestOptionalTellsAbsentFromNull(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{`{"enrichment":null}`: true, `{}`: false} {
		var got schema.Common
		if err := json.Unmarshal([]byte(in), &got); err != nil {
			t.Fatal(err)
		}
		if got.Enrichment.Set != want || got.Enrichment.Value != nil {
			t.Errorf("%s: %+v", in, got.Enrichment)
		}
	}
}
