package instagram

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// captured decodes an answer that Instagram gave to a member. It has the same format as public ones.
func captured(t *testing.T, name string, dst any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/upstreams/samples/instagram", name))
	if err != nil {
		t.Skip("the captured answers are not here: ", err)
	}
	if err := wire.Decode(t.Context(), b, dst); err != nil {
		t.Fatal(err)
	}
}

// seen is the part of a post that is compared.
type seen struct {
	ID, URL, Handle, At string
	Media               string // v for a video, i for an image
	Likes, Views        int64  // 0 when unknown
}

func seenOf(p schema.Post) seen {
	s := seen{ID: p.ID, URL: p.URL, Handle: p.Author.Handle}
	if p.CreatedAt != nil {
		s.At = p.CreatedAt.Format(time.RFC3339)
	}
	for _, m := range p.Media {
		s.Media += string(m.Type[:1])
	}
	if n := p.Engagement.Likes; n != nil {
		s.Likes = *n
	}
	if n := p.Engagement.Views; n != nil {
		s.Views = *n
	}
	return s
}

func TestPostsAsTheAppsGetThem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		want seen
	}{
		{"own-media-info-v1-carousel.json", seen{
			ID: "2317006284167526179", URL: "https://www.instagram.com/p/CAnqPB-Jzcj/", Handle: "jlo",
			At: "2020-05-25T17:44:54Z", Media: "iii", Likes: 820750,
		}},
		{"own-media-info-v1-carousel-video.json", seen{
			ID: "2273581388251073154", URL: "https://www.instagram.com/p/B-NYjoGpQqC/", Handle: "jlo",
			At: "2020-03-26T19:47:23Z", Media: "viii", Likes: 1246110,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			var a struct {
				Items wire.Rows[node] `json:"items"`
			}
			captured(t, tt.file, &a)
			for _, row := range a.Items.All() {
				if diff := cmp.Diff(tt.want, seenOf(row.V.post(schema.UnknownActor(), row.Raw))); diff != "" {
					t.Errorf("the post (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestReelsAsTheAppsGetThem(t *testing.T) {
	t.Parallel()
	var a struct {
		Items wire.Rows[struct {
			Media wire.Object[node] `json:"media"`
		}] `json:"items"`
	}
	captured(t, "own-reels-v1.json", &a)
	if a.Items.Len() != 4 {
		t.Fatalf("%d reels, want 4", a.Items.Len())
	}
	for i, row := range a.Items.All() {
		n := row.V.Media.V
		if !n.isReel() {
			t.Errorf("reel %d is not one", i)
		}
		want := seen{
			ID: "2589531623544609760", URL: "https://www.instagram.com/reel/CPv3UqsBFvg/", Handle: "noholita",
			At: "2021-06-05T18:11:50Z", Media: "v", Likes: 16965, Views: 401421,
		}
		if diff := cmp.Diff(want, seenOf(n.post(schema.UnknownActor(), nil))); i == 0 && diff != "" {
			t.Errorf("the first reel (-want +got):\n%s", diff)
		}
	}
}

func TestPostsAndCommentsOfOlderQueries(t *testing.T) {
	t.Parallel()
	var feed struct {
		Data struct {
			User webUser `json:"user"`
		} `json:"data"`
	}
	captured(t, "own-graphql-timeline-edges.json", &feed)
	var media string
	for _, row := range feed.Data.User.Timeline.Edges.All() {
		p := row.V.Node.V.post(row.V.Node.Raw)
		if p.Author.Handle != "robertdowneyjr" || p.CreatedAt == nil || p.Engagement.Likes == nil || p.Text == "" {
			t.Errorf("post %s is not whole: %+v", p.ID, p)
		}
		media += seenOf(p).Media[:1]
	}
	if media != "vviiii" {
		t.Errorf("the posts begin with %s, want vviiii", media)
	}
	var post struct {
		Data struct {
			Media item `json:"shortcode_media"`
		} `json:"data"`
	}
	captured(t, "own-graphql-comments.json", &post)
	comments, err := post.Data.Media.remarks(t.Context(), key{"2460000000000000001", "CIvZJcurJaW"})
	if err != nil || len(comments) == 0 || comments[0].ID != "17969014687354566" || comments[0].Author.Handle != "myself_walker" {
		t.Errorf("comments %+v and error %v", comments, err)
	}
}

// The number of a post and its shortcode can be converted into each other, and either may be missing.
func TestPostsThatAreNamedInOneWay(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, id, url string }{
		{"both", `{"pk": "2317006284167526179", "code": "CAnqPB-Jzcj"}`, "2317006284167526179", "https://www.instagram.com/p/CAnqPB-Jzcj/"},
		{"the id alone", `{"id": "2317006284167526179_305701719"}`, "2317006284167526179", "https://www.instagram.com/p/CAnqPB-Jzcj/"},
		{"the number alone", `{"pk": 2317006284167526179, "product_type": "clips"}`, "2317006284167526179", "https://www.instagram.com/reel/CAnqPB-Jzcj/"},
		{"an id of another form", `{"id": "post_1", "code": "CAnqPB-Jzcj"}`, "", "https://www.instagram.com/p/CAnqPB-Jzcj/"},
		{"nothing", `{}`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if p, err := ParsePost(t.Context(), []byte(tt.body)); err != nil || p.ID != tt.id || p.URL != tt.url {
				t.Errorf("got %q at %q (%v), want %q at %q", p.ID, p.URL, err, tt.id, tt.url)
			}
		})
	}
	p, err := ParseWebPost(t.Context(), []byte(`{"id": "2317006284167526179"}`))
	if err != nil || p.URL != "https://www.instagram.com/p/CAnqPB-Jzcj/" {
		t.Errorf("the older form without a shortcode is at %q (%v)", p.URL, err)
	}
}
