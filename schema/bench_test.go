package schema_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// full returns objects of a realistic size, with every checked field set.
func full() map[string]schema.Object {
	ann := actor()
	ann.AvatarURL = new("https://mock.example/avatars/9.jpg?size=200")
	still := "https://mock.example/v/1.jpg"
	media := []schema.Media{
		{Type: schema.Video, URL: "https://mock.example/v/1.mp4", ThumbnailURL: &still, DurationS: new(12.5)},
		{Type: schema.Image, URL: "https://mock.example/i/2.jpg"},
	}
	enrichment := schema.Some(&schema.Enrichment{
		Dialect: schema.Gulf, Sentiment: schema.Sentiment{Label: schema.Positive, Score: 0.5},
		Entities: []schema.Entity{{Text: "Riyadh", Type: "location"}}, Topics: []string{"travel", "food"},
	})
	common := valid()
	common.Enrichment = enrichment
	return map[string]schema.Object{
		"post": &schema.Post{
			Common: common, Author: ann, Text: "a text of some length, with a #tag and a @mention", Lang: new("ar"),
			CreatedAt: new(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), Media: media,
			Engagement: schema.Engagement{Likes: new(int64(1)), Comments: new(int64(2)), Views: new(int64(3))},
			Hashtags:   []string{"tag"}, Mentions: []string{"mention"},
		},
		"profile": &schema.Profile{
			Common: common, Handle: "ann", AvatarURL: ann.AvatarURL, Followers: new(int64(5)), Following: new(int64(6)),
			PostsCount: new(int64(7)), Lang: new("ar"), Country: new("SA"),
			Links: []string{"https://mock.example/a", "https://mock.example/b"},
		},
		"product": &schema.Product{
			Common: common, Store: schema.StoreSummary{Platform: platform.Mock, ID: "s", URL: "https://mock.example/s"},
			Price: schema.Price{Amount: 12, Currency: "SAR"}, Images: []string{"https://mock.example/i/2.jpg"},
			Rating: new(4.5), ReviewsCount: new(int64(12)), Categories: []string{"a", "b"},
		},
	}
}

func BenchmarkValidate(b *testing.B) {
	for name, o := range full() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := o.Check(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode is compared with BenchmarkValidate: it decodes the same objects from their JSON.
func BenchmarkDecode(b *testing.B) {
	for name, o := range full() {
		data, err := schema.Marshal(o)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := json.Unmarshal(data, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
