package engine_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// row is a read of posts with the handle as its only parameter.
func row(op providers.Op, source read.Source) *read.Row {
	return &read.Row{Op: op, Source: source, Operation: &operation.Operation{
		Name: string(op), Path: "/v1/{platform}/" + string(op), TTL: time.Minute, Data: reflect.TypeFor[[]schema.Post](),
		Params: []operation.Param{{Name: "handle", Required: true, Form: operation.FormText}},
	}}
}

func TestDriftIsCountedByPlatformOperationAndField(t *testing.T) {
	t.Parallel()
	posts := row(providers.OpPosts, read.Many(func(p *providers.Provider) providers.List[schema.Post] { return p.Posts }))
	profile := row(providers.OpProfile,
		read.One(func(p *providers.Provider) providers.One[schema.Profile] { return p.Profile }, nil))
	e, err := engine.New(engine.Config{
		Rows:      []*read.Row{posts, profile},
		Providers: []providers.Provider{enginetest.Drifting(platform.GitHub, 3, 2), enginetest.Drifting(platform.X, 1, 0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	session := e.Session()
	for _, id := range []string{"github", "x"} {
		call := operation.Call{Platform: id, Params: map[string][]string{"handle": {"a"}}}
		if _, err := session.Do(t.Context(), posts.Operation, call); err != nil {
			t.Fatal(err)
		}
	}
	want := []observe.Drifted{
		{Platform: platform.GitHub, Operation: "posts", Field: "items[].likes", Count: 2, Path: "items[].likes"},
		{Platform: platform.GitHub, Operation: "posts", Field: "media.type", Count: 3, Path: "media[0].type"},
		{Platform: platform.X, Operation: "posts", Field: "media.type", Count: 1, Path: "media[0].type"},
	}
	if diff := cmp.Diff(want, e.Drifted()); diff != "" {
		t.Errorf("drifted (-want +got):\n%s", diff)
	}
}
