package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// answering reads the same answer for every request.
type answering string

func (a answering) Read(ctx context.Context, _ upstream.Request, dst any) (*upstream.Response, error) {
	return &upstream.Response{Status: 200, Body: []byte(a)}, wire.Decode(ctx, []byte(a), dst)
}

type user struct {
	Login string     `json:"login"`
	Fans  wire.Count `json:"fans"`
}

func (u user) name(json.RawMessage) string { return u.Login }

func (u user) row(json.RawMessage) (string, bool) { return u.Login, u.Login != "hidden" }

func TestOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer, at, want string
		err                    error
	}{
		{"the whole answer", `{"login":"ann"}`, "", "ann", nil},
		{"an object within the answer", `{"data":{"user":{"login":"ann"}}}`, "data.user", "ann", nil},
		{"null does not exist", `{"success":true,"credits_left":5,"error":"","status":"ok","data":{"user":null,"more":[]}}`, "data.user", "", providers.ErrNotFound},
		{"null without success", `{"data":{"user":null}}`, "data.user", "", providers.ErrUnavailable},
		{"null beside a failure", `{"success":true,"ok":false,"data":{"user":null}}`, "data.user", "", providers.ErrUnavailable},
		{"null beside a message", `{"success":true,"data":{"user":null,"detail":"timed out"}}`, "data.user", "", providers.ErrUnavailable},
		{"a missing object is a change of the format", `{"data":{}}`, "data.user", "", providers.ErrUnavailable},
		{"so is one of another type", `{"data":{"user":[7]}}`, "data.user", "", providers.ErrUnavailable},
		{"and one within something else", `{"data":"user"}`, "data.user", "", providers.ErrUnavailable},
		{"another object is refused", `{"login":"bob"}`, "", "", providers.ErrUnavailable},
		{"as is an answer that is not an object", `[]`, "data.user", "", providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			about := func(ctx context.Context, got string) error { return wire.Same(ctx, "account", "ann", got) }
			got, err := upstream.One(t.Context(), answering(tt.answer), upstream.Get("users"), tt.at, wire.As(user.name), about)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %q with error %v, want %q with %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		at           upstream.List
		want         providers.Page[string]
		err          error
	}{
		{
			"rows that do not belong are left out", `{"users":[{"login":"ann"},{"login":"hidden"}]}`,
			upstream.List{Rows: "users"},
			providers.Page[string]{Items: []string{"ann"}},
			nil,
		},
		{
			"a token leads on", `{"data":{"users":[{"login":"ann"}]},"paging":{"next":7}}`,
			upstream.List{Rows: "data.users", Next: "paging.next"},
			providers.Page[string]{Items: []string{"ann"}, Next: "7"},
			nil,
		},
		{
			"without a token the list ends", `{"users":[]}`,
			upstream.List{Rows: "users", Next: "next"},
			providers.Page[string]{Items: []string{}},
			nil,
		},
		{
			"a flag ends a list with a token", `{"users":[],"next":"b","more":false}`,
			upstream.List{Rows: "users", Next: "next", More: "more"},
			providers.Page[string]{Items: []string{}},
			nil,
		},
		{
			"a flag without a token is refused", `{"users":[],"more":true}`,
			upstream.List{Rows: "users", Next: "next", More: "more"},
			providers.Page[string]{Items: []string{}},
			providers.ErrUnavailable,
		},
		{
			"as is a missing flag", `{"users":[],"next":"b"}`,
			upstream.List{Rows: "users", Next: "next", More: "more"},
			providers.Page[string]{Items: []string{}},
			providers.ErrUnavailable,
		},
		{
			"a token of another type", `{"users":[],"next":{}}`,
			upstream.List{Rows: "users", Next: "next"},
			providers.Page[string]{Items: []string{}},
			providers.ErrUnavailable,
		},
		{"and a missing list", `{"next":"b"}`, upstream.List{Rows: "users", Next: "next"}, providers.Page[string]{}, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := upstream.Page(t.Context(), answering(tt.answer), upstream.Get("users"), tt.at, user.row)
			if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v; page (-want +got):\n%s", err, tt.err, diff)
			}
		})
	}
}

func TestDriftWithinAPageIsReportedByItsWholePath(t *testing.T) {
	t.Parallel()
	var paths []string
	ctx := callctx.WithTrace(t.Context(), callctx.Trace{Drift: func(d callctx.Drift) { paths = append(paths, d.Paths...) }})
	answer := answering(`{"data":{"users":[{"login":"ann","fans":[]}]}}`)
	if _, err := upstream.Page(ctx, answer, upstream.Get("users"), upstream.List{Rows: "data.users"}, user.row); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"data.users[].fans"}, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}
