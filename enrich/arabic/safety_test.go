package arabic_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/schema"
)

func TestModelFileIsBelowTenMegabytes(t *testing.T) {
	t.Parallel()
	info, err := os.Stat("model.bin")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 10_000_000 {
		t.Errorf("model.bin has %d bytes, want at most %d", info.Size(), 10_000_000)
	}
}

func TestEnrichReadsAnyText(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		name, text string
		want       schema.Dialect
	}{
		{"a megabyte of one word", strings.Repeat("مرحبا", 1<<20/10), ""},
		{"a megabyte of words", strings.Repeat("الحين وش السالفة يا عيال ", 1<<20/45), schema.Gulf},
		{"a megabyte of signs", strings.Repeat("!", 1<<20), schema.NotArabic},
		{"a megabyte of emoji", strings.Repeat("😂", 1<<18), schema.NotArabic},
		{"a megabyte of hashtag signs", strings.Repeat("#", 1<<20), schema.NotArabic},
		{"a megabyte of half links", strings.Repeat("http://", 1<<17), schema.NotArabic},
		{"invalid bytes", strings.Repeat("\xff\xfe", 100), schema.NotArabic},
		{"invalid bytes inside", "وش السالفة \xff يا عيال الحين\xd9", schema.Gulf},
		{"direction signs", "\u202eوش السالفة\u202c يا \u200fعيال الحين", schema.Gulf},
		{"zero bytes", "\x00\x00", schema.NotArabic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := model.Enrich(t.Context(), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
			if tt.want != "" && got.Dialect != tt.want {
				t.Errorf("dialect %s, want %s", got.Dialect, tt.want)
			}
		})
	}
}

func TestEnrichIsTheSameFromManyGoroutines(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	want, err := model.Enrich(t.Context(), tweet)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				got, err := model.Enrich(t.Context(), tweet)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v, (-want +got):\n%s", err, diff)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestEnrichStopsWhenTheContextIsDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := arabic.New().Enrich(ctx, tweet); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "SDARABIC1\n", "SDARABIC1\n\x01\x07dialect\x04\x00\x00\x00", "PK\x03\x04"} {
		if _, err := arabic.Open(file); err == nil {
			t.Errorf("no error for %q", file)
		}
	}
}
