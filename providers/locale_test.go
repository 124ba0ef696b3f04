package providers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestLanguagesAndCountriesAreCodes(t *testing.T) {
	t.Parallel()
	p := &providers.Provider{Name: "github", Platform: platform.GitHub}
	for word, want := range map[string]*string{"pt_BR": new("pt-BR"), "zxx": nil, "und": nil, "english": nil, "": nil, "qam": nil} {
		profile, post, comment := &schema.Profile{Lang: &word}, &schema.Post{Lang: &word}, &schema.Comment{Lang: &word}
		transcript, review, found := &schema.Transcript{Lang: &word}, &schema.Review{Lang: &word}, &schema.Post{Lang: &word}
		for _, o := range []schema.Object{profile, post, comment, transcript, review, schema.Result(found)} {
			p.Stamp(o, time.Now())
		}
		got := []*string{profile.Lang, post.Lang, comment.Lang, transcript.Lang, review.Lang, found.Lang}
		if diff := cmp.Diff([]*string{want, want, want, want, want, want}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
	for word, want := range map[string]*string{"us": new("US"), "UK": new("GB"), "Saudi Arabia": new("SA"), "XX": nil, "ZZ": nil, "": nil} {
		profile, advertiser := &schema.Profile{Country: &word}, &schema.Advertiser{Country: &word}
		audience := &schema.Audience{Countries: []schema.AudienceCountry{{Country: &word}}}
		for _, o := range []schema.Object{profile, advertiser, audience} {
			p.Stamp(o, time.Now())
		}
		if diff := cmp.Diff([]*string{want, want, want}, []*string{profile.Country, advertiser.Country, audience.Countries[0].Country}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
	ad := &schema.Ad{Countries: []string{"sa", "XX", "United Kingdom", "UK", "EU", "SA"}}
	p.Stamp(ad, time.Now())
	if diff := cmp.Diff([]string{"SA", "GB"}, ad.Countries); diff != "" {
		t.Errorf("countries of an ad (-want +got):\n%s", diff)
	}
}
