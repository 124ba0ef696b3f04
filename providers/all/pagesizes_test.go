package all

import (
	"slices"
	"testing"

	"github.com/socialdata/socialdata/providers"
)

// unsized are the lists without a page size. Every other list must have one, which may be that of the upstream.
var unsized = []struct {
	provider string
	lists    []providers.Op // nil means all that have no size
	why      string
}{
	{"scrapecreators", nil, "the vendor states no sizes, and its pages vary"},

	{"amazon_own", []providers.Op{providers.OpReviews}, "what the page of the product shows"},
	{"facebook_own", []providers.Op{providers.OpEvents}, "what the page shows"},
	{"instagram_own", []providers.Op{
		providers.OpPosts, providers.OpReels, providers.OpComments, providers.OpCollections,
	}, "what the page shows"},
	{"kick_own", []providers.Op{providers.OpPosts}, "all recordings on one page"},
	{"linktree", []providers.Op{providers.OpLinked}, "all accounts on one page"},
	{"pinterest_feed", []providers.Op{providers.OpPosts, providers.OpCollectionPosts}, "what the feed has"},
	{"pinterest_widgets", []providers.Op{providers.OpPosts, providers.OpCollectionPosts}, "what the widget shows"},
	{"snapchat_own", []providers.Op{
		providers.OpPosts, providers.OpReels, providers.OpCollections,
	}, "what the page of the account shows"},
	{"soundcloud", []providers.Op{providers.OpLinked, providers.OpCollectionTracks}, "all on one page"},
	{"spotify", []providers.Op{providers.OpTracks}, "all top tracks on one page"},
	{"threads_own", []providers.Op{
		providers.OpPosts, providers.OpComments, providers.OpReplies, providers.OpSearch,
	}, "what the page shows"},

	{"appstore_own", []providers.Op{providers.OpSuggestions}, "Apple decides"},
	{"google_own", []providers.Op{providers.OpAdvertisers, providers.OpSuggestions}, "Google decides"},
	{"pinterest_own", []providers.Op{providers.OpPosts, providers.OpSearch}, "Pinterest decides"},
	{"reddit", []providers.Op{providers.OpComments, providers.OpReplies}, "Reddit decides how much of a thread it shows"},
	{"rumble", []providers.Op{providers.OpSearch}, "Rumble decides"},
	{"salla_own", []providers.Op{providers.OpSearch}, "Salla decides"},
	{"telegram_own", []providers.Op{providers.OpSearch}, "Telegram decides"},
	{"tiktok_own", []providers.Op{
		providers.OpPosts, providers.OpReels, providers.OpSearch, providers.OpTrackPosts,
	}, "TikTok decides"},
	{"tiktok_web", []providers.Op{providers.OpPosts, providers.OpReels}, "posts of the next days are read until there are some"},
	{"youtube_own", []providers.Op{providers.OpReels, providers.OpSuggestions}, "YouTube decides"},
}

func TestPageSizesAreOfListsThatAreOffered(t *testing.T) {
	t.Parallel()
	lists := providers.Lists()
	for _, p := range slices.Concat(New(Config{})...) {
		for op, n := range p.PageSizes {
			if !slices.Contains(lists, op) || !offers(p, op) {
				t.Errorf("%s of %s has a page size, and does not offer %s as a list", p.Name, p.Platform, op)
			}
			if n < 1 || n > 200 {
				t.Errorf("pages of %s from %s have %d items", op, p.Name, n)
			}
		}
	}
}

func TestEveryListHasAPageSizeOrAReasonForNone(t *testing.T) {
	t.Parallel()
	type list struct {
		provider string
		op       providers.Op
	}
	without := map[list]bool{} // by whether it has a reason
	for _, p := range slices.Concat(New(Config{})...) {
		for _, op := range providers.Lists() {
			if offers(p, op) && p.PageSizes[op] == 0 {
				without[list{p.Name, op}] = false
			}
		}
	}
	for _, u := range unsized {
		for _, op := range u.lists {
			if _, ok := without[list{u.provider, op}]; !ok {
				t.Errorf("%s of %s is not a list without a page size: %s", op, u.provider, u.why)
			}
			without[list{u.provider, op}] = true
		}
		for l := range without {
			if u.lists == nil && l.provider == u.provider {
				without[l] = true
			}
		}
	}
	for l, reason := range without {
		if !reason {
			t.Errorf("%s of %s has no page size: state it in its PageSizes, or the reason in unsized", l.op, l.provider)
		}
	}
}

// offers reports whether p serves op, or would with a setting.
func offers(p providers.Provider, op providers.Op) bool {
	return p.Serves(op) || len(p.Missing[op]) > 0
}
