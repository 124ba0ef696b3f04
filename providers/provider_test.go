package providers_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func fake() providers.Provider {
	return providers.Provider{
		Name: "fake", Platform: platform.Mock, Source: schema.Own,
		Profile: func(context.Context, string) (schema.Profile, error) { return schema.Profile{}, nil },
		Posts: func(context.Context, string, string) (providers.Page[schema.Post], error) {
			return providers.Page[schema.Post]{}, nil
		},
	}
}

func TestEveryFunctionFieldNamesItsOperation(t *testing.T) {
	t.Parallel()
	for f := range reflect.TypeFor[providers.Provider]().Fields() {
		reads := !slices.Contains([]string{"Normalize", "Names", "Open", "Searches", "Forward", "Country", "InCountry"}, f.Name)
		if f.Type.Kind() != reflect.Func || !reads {
			continue
		}
		if f.Tag.Get("op") == "" {
			t.Errorf("field %s has no op tag", f.Name)
		}
	}
}

func TestNilFunctionMeansNotServed(t *testing.T) {
	t.Parallel()
	p := fake()
	for _, op := range providers.Ops() {
		want := op == providers.OpProfile || op == providers.OpPosts
		if got := p.Serves(op); got != want {
			t.Errorf("Serves(%s) = %v, want %v", op, got, want)
		}
	}
	if p.Serves("nonsense") {
		t.Error("serves an unknown operation")
	}
}

func TestWithoutNamesTheSettingsAndLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	p := fake()
	off := p.Without("client_id", "client_secret")
	if off.Serves(providers.OpProfile) || !p.Serves(providers.OpProfile) {
		t.Error("Without must switch off the copy only")
	}
	want := map[providers.Op][]string{
		providers.OpProfile: {"client_id", "client_secret"},
		providers.OpPosts:   {"client_id", "client_secret"},
	}
	if diff := cmp.Diff(want, off.Missing); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

func TestRequiringNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := fake()
	if all := p.Requiring(map[string]string{"client_id": "a", "client_secret": "b"}); !all.Serves(providers.OpPosts) {
		t.Error("with all settings everything is served")
	}
	some := p.Requiring(map[string]string{"token": "", "client_secret": "b", "client_id": ""})
	want := map[providers.Op][]string{
		providers.OpProfile: {"client_id", "token"},
		providers.OpPosts:   {"client_id", "token"},
	}
	if diff := cmp.Diff(want, some.Missing); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
}

func TestRoutesCostOnePlatform(t *testing.T) {
	t.Parallel()
	want := []providers.Route{
		{Pattern: "users/{name}", Platform: platform.Mock},
		{Pattern: "items", Query: []string{"page", "sort"}, Platform: platform.Mock},
	}
	if diff := cmp.Diff(want, providers.Routes(platform.Mock, "users/{name}", "items{?page,sort}")); diff != "" {
		t.Errorf("Routes (-want +got):\n%s", diff)
	}
}

func TestStampCompletesEveryPart(t *testing.T) {
	t.Parallel()
	post := schema.Post{Author: schema.UnknownActor()}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	p := fake()
	p.Stamp(schema.Result(&post), at)
	if post.Platform != platform.Mock || post.Author.Platform != platform.Mock || post.Source != schema.Own {
		t.Errorf("stamped %+v", post)
	}
	if post.FetchedAt.Location() != time.UTC || post.Media == nil || post.Hashtags == nil || post.Mentions == nil {
		t.Errorf("not completed: %+v", post)
	}
}

func TestErrorsKeepKindAndCause(t *testing.T) {
	t.Parallel()
	err := providers.Unavailable(io.ErrUnexpectedEOF, "answered %d", 502)
	if !errors.Is(err, providers.ErrUnavailable) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v lost a part", err)
	}
	if want := "upstream unavailable: answered 502: unexpected EOF"; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err, want)
	}
}

func TestUnsupportedIsUnavailableForAReasonOfItsOwn(t *testing.T) {
	t.Parallel()
	err := providers.Unsupported("playlists need %s", "a token")
	if !errors.Is(err, providers.ErrUnavailable) || !errors.Is(err, providers.ErrUnsupported) {
		t.Errorf("%v lost a part", err)
	}
}
