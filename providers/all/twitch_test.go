package all

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// twitchMock holds the address of Twitch's own mock of Helix, a part of the Twitch CLI:
//
//	twitch mock-api generate -c 12 && twitch mock-api start -p 8081
//	SOCIALDATA_TEST_TWITCH_MOCK=http://127.0.0.1:8081 go test ./providers/all -run TwitchItself -v
//
// The mock listens on every interface, so it is best given a network of its own. Unlike Helix it answers every id of a
// video with all of them, knows no dead cursor and refuses to count followers.
const twitchMock = "SOCIALDATA_TEST_TWITCH_MOCK"

func TestAnswersOfTwitchsOwnMockAreConverted(t *testing.T) {
	t.Parallel()
	at := os.Getenv(twitchMock)
	if at == "" {
		t.Skipf("no mock of Helix is named: set %s to the address of twitch mock-api start (github.com/twitchdev/twitch-cli)", twitchMock)
	}
	m := mockOfTwitch{at: strings.TrimRight(at, "/")}
	m.connect(t)
	m.users(t)
	m.videos(t)
	m.clips(t)
}

// mockOfTwitch compares what the engine reads with the mock's own data.
type mockOfTwitch struct {
	at     string
	client *socialdata.Client
}

// units lists the mock's data of one kind.
func units[T any](t *testing.T, m *mockOfTwitch, kind string) []T {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.at+"/units/"+kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to the end
	var page struct{ Data []T }
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	if len(page.Data) == 0 {
		t.Fatalf("the mock holds no %s: run twitch mock-api generate first", kind)
	}
	return page.Data
}

func (m *mockOfTwitch) connect(t *testing.T) {
	t.Helper()
	app := units[struct{ ID, Secret string }](t, m, "clients")[0]
	settings := map[string]string{
		"SOCIALDATA_TWITCH_CLIENT_ID":     app.ID,
		"SOCIALDATA_TWITCH_CLIENT_SECRET": app.Secret,
		"SOCIALDATA_TWITCH_BASE_URL":      m.at + "/mock",
		"SOCIALDATA_TWITCH_TOKEN_URL":     m.at + "/auth/token",
	}
	m.client = clientWith(t, &http.Client{}, settings)
}

// users reads each account as a profile, as a broadcast and in a search.
func (m *mockOfTwitch) users(t *testing.T) {
	t.Helper()
	viewers := map[string]int64{}
	for _, s := range units[struct {
		Login string `json:"user_login"`
		Count int64  `json:"viewer_count"`
	}](t, m, "streams") {
		viewers[s.Login] = s.Count
	}
	for _, u := range units[struct{ ID, Login string }](t, m, "users") {
		p, err := m.client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Twitch, Handle: strings.ToUpper(u.Login)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Data.ID != u.ID || p.Data.Handle != u.Login || p.Data.Lang == nil || p.Data.Followers != nil {
			t.Errorf("profile of %s: got %+v; want id %s, a language and no followers", u.Login, p.Data, u.ID)
		}
		l, err := m.client.Live(t.Context(), socialdata.LiveRequest{Platform: platform.Twitch, Handle: u.Login})
		if err != nil {
			t.Fatal(err)
		}
		count, onAir := viewers[u.Login]
		if l.Data.Host.ID != u.ID || l.Data.IsLive != onAir || onAir && (l.Data.Viewers == nil || *l.Data.Viewers != count || l.Data.StartedAt == nil) {
			t.Errorf("live of %s: %+v, want on air %v with %d viewers", u.Login, l.Data, onAir, count)
		}
		if !m.finds(t, u.Login, u.ID) {
			t.Errorf("a search does not find %s", u.Login)
		}
	}
	_, err := m.client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Twitch, Handle: "nobody_at_all"})
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != problem.NotFound {
		t.Errorf("an unknown login: got %v, want not_found", err)
	}
}

func (m *mockOfTwitch) finds(t *testing.T, login, id string) bool {
	t.Helper()
	for r, err := range socialdata.Walk(t.Context(), m.client.Search, socialdata.SearchRequest{Platform: platform.Twitch, Query: login}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Shared().ID == id {
			return true
		}
	}
	return false
}

// videos reads each video alone and in the list of its channel.
func (m *mockOfTwitch) videos(t *testing.T) {
	t.Helper()
	for _, v := range units[struct {
		ID    string
		Login string `json:"user_login"`
		Title string
	}](t, m, "videos") {
		p, err := m.client.Post(t.Context(), socialdata.PostRequest{Platform: platform.Twitch, ID: v.ID})
		if err != nil {
			t.Fatal(err)
		}
		if p.Data.Author.Handle != v.Login || !strings.HasPrefix(p.Data.Text, v.Title) || p.Data.CreatedAt == nil || p.Data.Media[0].DurationS == nil {
			t.Errorf("video %s: got %+v; want %q of %s, with a time and a duration", v.ID, p.Data, v.Title, v.Login)
		}
		found := false
		for p, err := range socialdata.Walk(t.Context(), m.client.Posts, socialdata.PostsRequest{Platform: platform.Twitch, Handle: v.Login}) {
			if err != nil {
				t.Fatal(err)
			}
			found = found || p.ID == v.ID
		}
		if !found {
			t.Errorf("video %s is not among the posts of %s", v.ID, v.Login)
		}
	}
}

// clips reads the clips of each channel, and each clip alone.
func (m *mockOfTwitch) clips(t *testing.T) {
	t.Helper()
	read := 0
	for _, u := range units[struct{ ID, Login string }](t, m, "users") {
		page, err := m.client.Reels(t.Context(), socialdata.ReelsRequest{Platform: platform.Twitch, Handle: u.Login})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Data {
			read++
			p, err := m.client.Post(t.Context(), socialdata.PostRequest{Platform: platform.Twitch, ID: c.URL})
			if err != nil {
				t.Fatal(err)
			}
			if p.Data.ID != c.ID || p.Data.Author.ID != u.ID || p.Data.Author.Handle != u.Login || p.Data.CreatedAt == nil {
				t.Errorf("clip %s: %+v, in the list %+v", c.ID, p.Data, c)
			}
		}
	}
	if read == 0 {
		t.Error("no channel has a clip")
	}
}
