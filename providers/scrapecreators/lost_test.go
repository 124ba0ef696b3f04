package scrapecreators_test

import (
	"errors"
	"testing"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// TestMissingTranscriptIsNotAnUnreadableOne has the vendor return null, which means no speech, and
// a value of another type.
func TestMissingTranscriptIsNotAnUnreadableOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		on           platform.ID
		post         string
		before, name string // the fields before it, and its name
		rows         bool   // it is a list
	}{
		{platform.YouTube, "vid1aaaaaaa", `"videoId":"vid1aaaaaaa",`, "transcript", true},
		{platform.Instagram, "3597267389859272809", "", "transcripts", true},
		{platform.TikTok, "7499229683859426602", `"id":"7499229683859426602",`, "transcript", false},
		{platform.Rumble, "v6aaaa", `"id":"v6aaaa",`, "transcript", false},
		{platform.Reddit, "1aaa", `"post_id":"1aaa",`, "raw_vtt", false},
		{platform.Facebook, "91", "", "transcript", false},
		{platform.LinkedIn, "7354600338621906944", "", "transcript", false},
		{platform.X, "18", "", "transcript", false},
	}
	for _, tt := range tests {
		t.Run(string(tt.on), func(t *testing.T) {
			t.Parallel()
			none := `"` + tt.name + `":null`
			if tt.on == platform.Instagram {
				none = `"transcripts":[{"id":"3597267389859272809","text":null}]`
			}
			bodies := map[string]error{
				none:                      providers.ErrNotFound,
				`"other":1`:               providers.ErrUnavailable,
				`"` + tt.name + `":{}`:    providers.ErrUnavailable,
				`"` + tt.name + `":[{}]`:  providers.ErrUnavailable,
				`"` + tt.name + `":[7,8]`: providers.ErrUnavailable,
			}
			if tt.rows {
				bodies[`"`+tt.name+`":[{},{}]`] = providers.ErrUnavailable
			}
			for body, want := range bodies {
				p := saying(t, tt.on, `{"success":true,`+tt.before+body+`}`)
				if got, err := p.Transcript(t.Context(), providers.TranscriptQuery{PostID: tt.post}); !errors.Is(err, want) {
					t.Errorf("%s: got %+v with error %v, want %v", body, got, err, want)
				}
			}
		})
	}
}

func TestRowsOfTheCreativeCenterAreNotAds(t *testing.T) {
	t.Parallel()
	const (
		center = `{"id":"7646829987799334920","ad_title":"Mint tea","brand_name":"Tea House","video_info":{"cover":"https://cdn.example/1.jpg"}}`
		entry  = `{"id":"1871655924410641","name":"Tea House","image_urls":["https://cdn.example/2.jpg"]}`
	)
	page, err := saying(t, platform.TikTok, `{"success":true,"ads":[`+center+`,`+entry+`],"has_more":false}`).
		AdsSearch(t.Context(), providers.AdsSearchQuery{Query: "tea"}, "")
	if err != nil || len(page.Items) != 2 || page.Items[0].Check() == nil || page.Items[1].ID != "1871655924410641" {
		t.Errorf("got %+v with error %v, want one that breaks the schema and one ad", page.Items, err)
	}
}
