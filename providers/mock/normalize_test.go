package mock_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		subject  providers.Subject
		in, want string // an empty want means that in must be refused
	}{
		{providers.Handle, "@Salma_Haddad", "salma_haddad"},
		{providers.Handle, "سلمى", "سلمى"},
		{providers.Handle, "https://mock.example/@Salma.Haddad?tab=posts", "salma.haddad"},
		{providers.Handle, "www.mock.example/@ann/live", "ann"},
		{providers.Handle, "https://mock.example/posts/ann-post-1", ""},
		{providers.Handle, "https://tiktok.com/@ann", ""},
		{providers.Handle, "https://tiktok.mock.example/@ann", ""},
		{providers.Handle, "a b", ""},
		{providers.Handle, "a/b", ""},
		{providers.Handle, strings.Repeat("a", 101), ""},
		{providers.PostID, "dQw4w9WgXcQ", "dQw4w9WgXcQ"},
		{providers.PostID, "https://mock.example/posts/ann-post-1#top", "ann-post-1"},
		{providers.PostID, "https://mock.example/comments/ann-post-1", ""},
		{providers.PostID, "https://mock.example/posts/", ""},
		{providers.CommentID, "http://mock.example/comments/7", "7"},
		{providers.TrackID, "mock.example/tracks/ann-track-1", "ann-track-1"},
		{providers.CollectionID, "https://mock.example/collections/x", "x"},
		{providers.CommunityID, "https://mock.example/communities/golang", "golang"},
		{providers.ProductID, "https://mock.example/products/ann-product-1", "ann-product-1"},
		{providers.StoreID, "https://mock.example/stores/ann", "ann"},
		{providers.AdID, "https://mock.example/ads/ann-ad-1", "ann-ad-1"},
		{providers.AdvertiserID, "https://mock.example/advertisers/ann", "ann"},
		{providers.EventID, "https://mock.example/events/at.%D8%AC%D8%AF%D8%A9-event-1", "at.جدة-event-1"},
	}
	p := mock.New(mock.Config{})[0]
	for _, tt := range tests {
		got, err := p.Normalize(tt.subject, tt.in)
		switch {
		case tt.want == "" && !errors.Is(err, providers.ErrInvalid):
			t.Errorf("%s %q became %q (%v), want it refused", tt.subject, tt.in, got, err)
		case tt.want != "" && (err != nil || got != tt.want):
			t.Errorf("%s %q became %q (%v), want %q", tt.subject, tt.in, got, err, tt.want)
		}
	}
	if got, err := mock.NewFor(platform.AppleMusic, mock.Config{}).Normalize(providers.Handle, "https://apple-music.mock.example/@ann"); got != "ann" {
		t.Errorf("the sandbox of another platform: %q, %v", got, err)
	}
}

// TestEveryURLNamesItsObject normalizes the address of each object in a list to its key.
func TestEveryURLNamesItsObject(t *testing.T) {
	t.Parallel()
	subjects := map[providers.Op]providers.Subject{
		providers.OpPost: providers.PostID, providers.OpCollection: providers.CollectionID, providers.OpTrack: providers.TrackID,
		providers.OpProduct: providers.ProductID, providers.OpAd: providers.AdID, providers.OpEvent: providers.EventID,
		providers.OpCommunity: providers.CommunityID,
	}
	p := mock.New(mock.Config{})[0]
	for op, subject := range subjects {
		for _, word := range []string{"salma_haddad", "سلمى-post-1", "t3_abc-1", "a;b=c+d%20e"} {
			a, err := calls[op](t.Context(), p, word, "")
			if err != nil {
				t.Fatal(err)
			}
			url := a.items[0].(schema.Object).Shared().URL
			if got, err := p.Normalize(subject, url); got != word {
				t.Errorf("%s leads to %q (%v), want %q", url, got, err, word)
			}
		}
	}
}
