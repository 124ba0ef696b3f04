package all

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/replay"
	"github.com/socialdata/socialdata/schema"
)

// TestCapturedBatchesAreConverted reads the captured answers to requests for several keys.
func TestCapturedBatchesAreConverted(t *testing.T) {
	t.Parallel()
	recorded, err := replay.New(startReplay(t, buildReplay(t), ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	chains := chainsWith(t, &http.Client{Transport: recorded}, func(name string) string { return usualEnv[name] })
	tests := []struct {
		provider string
		read     func(ctx context.Context, p providers.Provider, keys []string) (map[string]schema.Object, error)
		want     map[string]string // the id of what each key names
		absent   string
	}{
		{"youtube", posts, map[string]string{"D-lhorsDlUQ": "D-lhorsDlUQ"}, "deleted0000"},
		{"youtube", profiles, map[string]string{
			"UCK8sQmJBp8GCxrOtXWBpyEA": "UCK8sQmJBp8GCxrOtXWBpyEA", "UC_x5XG1OV2P6uZZ5FSM9Ttw": "UC_x5XG1OV2P6uZZ5FSM9Ttw",
		}, ""},
		{"reddit", posts, map[string]string{
			"6eudcy": "6eudcy", "6eabl0": "6eabl0", "6chk1u": "6chk1u", "6cdwbn": "6cdwbn", "6a7x7f": "6a7x7f", "68vj98": "68vj98",
		}, ""},
		{"bluesky", profiles, map[string]string{"chriskenny.bsky.social": "did:plc:wpe35pganb6d4pg4ekmfy6u5"}, ""},
		{"x", profiles, map[string]string{
			"dodirty78": "119369819", "nathalietvcero": "3075359237", "charredbrisket": "3288417496",
		}, ""},
	}
	for _, tt := range tests {
		p := providerOf(t, chains, tt.provider)
		keys := slices.Sorted(maps.Keys(tt.want))
		if tt.absent != "" {
			keys = append(keys, tt.absent)
		}
		found, err := tt.read(t.Context(), p, keys)
		single, whole := providers.Apart(err)
		if whole != nil {
			t.Errorf("%s %v: %v, want no error", tt.provider, keys, whole)
			continue
		}
		got := map[string]string{}
		for key, o := range found {
			p.Stamp(o, time.Now())
			if err := schema.NewValidator(platform.Specified()).Validate(o); err != nil {
				t.Errorf("%s %s is not valid: %v", tt.provider, key, err)
			}
			got[key] = o.Shared().ID
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.provider, diff)
		}
		if tt.absent != "" && !errors.Is(single[tt.absent], providers.ErrNotFound) {
			t.Errorf("%s %s: got error %v, want %v", tt.provider, tt.absent, single[tt.absent], providers.ErrNotFound)
		}
	}
}

func providerOf(t *testing.T, chains []providers.Chain, name string) providers.Provider {
	t.Helper()
	for _, p := range slices.Concat(chains...) {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no provider %q", name)
	return providers.Provider{}
}

func posts(ctx context.Context, p providers.Provider, keys []string) (map[string]schema.Object, error) {
	found, err := p.Batches.Post.Read(ctx, keys)
	out := map[string]schema.Object{}
	for key, o := range found {
		out[key] = &o
	}
	return out, err
}

func profiles(ctx context.Context, p providers.Provider, keys []string) (map[string]schema.Object, error) {
	found, err := p.Batches.Profile.Read(ctx, keys)
	out := map[string]schema.Object{}
	for key, o := range found {
		out[key] = &o
	}
	return out, err
}
