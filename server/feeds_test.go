package server_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/watch"
)

// feeding is a site with a monitor whose changes a test writes itself.
type feeding struct {
	*site
	store   *watch.Memory
	secret  string // of the key that made the monitor
	key     keys.Key
	address string // of the feed, without its ending
	log     strings.Builder
	made    int // changes
}

// never is when the monitor of a [feeding] polls by itself.
var never = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

func openFeeding(t *testing.T, opts ...server.Option) *feeding {
	t.Helper()
	f := &feeding{store: watch.NewMemory()}
	cfg := enginetest.Config{Options: []socialdata.Option{socialdata.WithWatches(f.store)}}
	opts = append(opts, server.WithChanges(), server.WithLogger(slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	f.site = open(t, cfg, opts...)
	var err error
	f.secret, f.key, err = f.Keys.CreateKey(t.Context(), keys.NewKey{Account: f.Key.Account, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.store.Put(t.Context(), watch.Monitor{
		Definition: watch.Definition{
			Ask:   watch.Ask{Operation: "posts", Platform: "mock", Params: map[string]string{"handle": "salma"}, List: true},
			Every: 24 * time.Hour, Pages: 1,
		},
		Account: f.Key.Account, Name: "salma", Key: f.key.ID, CreatedAt: enginetest.Start, Progress: watch.Progress{NextAt: never},
	}, 0); err != nil {
		t.Fatal(err)
	}
	var made schema.MonitorFeed
	f.manage(t, http.MethodPut, "/manage/feeds/salma", "", http.StatusCreated, &made)
	if made.Monitor != "salma" || made.Secret == nil {
		t.Fatalf("made %+v, want a feed of salma with an address", made)
	}
	f.address = *made.Secret
	return f
}

func (f *feeding) manage(t *testing.T, method, path, body string, status int, into any) {
	t.Helper()
	r := f.send(t, f.secret, method, path, body)
	if r.status != status {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, r.status, status, r.body)
	}
	if into != nil {
		if err := json.Unmarshal(r.body, into); err != nil {
			t.Fatal(err)
		}
	}
}

// add writes changes of the monitor, of a type and with an object each, one second after the other.
func (f *feeding) add(t *testing.T, kind string, objects ...string) {
	t.Helper()
	claims, err := f.store.Claim(t.Context(), never, 1, time.Minute)
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d monitors are due: %v", len(claims), err)
	}
	p := watch.Poll{Claim: claims[0], Progress: claims[0].Monitor.Progress}
	for _, object := range objects {
		f.made++
		p.Changes = append(p.Changes, schema.Change{
			ID: fmt.Sprintf("chg_%d", f.made), At: enginetest.Start.Add(time.Duration(f.made) * time.Second),
			Monitor: new("salma"), Type: kind, Platform: new("mock"), Operation: new("posts"), Key: new(fmt.Sprint(f.made)),
			Object: json.RawMessage(object),
		})
	}
	if err := f.store.Commit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// parsedAtom is what a reader takes from an Atom feed.
type parsedAtom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Self    struct {
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Author  string `xml:"author>name"`
		Link    struct {
			Href string `xml:"href,attr"`
		} `xml:"link"`
		Content string `xml:"content"`
	} `xml:"entry"`
}

type parsedJSONFeed struct {
	Version string `json:"version"`
	Title   string `json:"title"`
	FeedURL string `json:"feed_url"`
	Items   []struct {
		ID        string `json:"id"`
		URL       string `json:"url"`
		Title     string `json:"title"`
		Text      string `json:"content_text"`
		Published string `json:"date_published"`
	} `json:"items"`
}

// feeds reads both forms, checks what their specifications demand, and returns them.
// https://www.rfc-editor.org/rfc/rfc4287 https://www.jsonfeed.org/version/1.1/
func (f *feeding) feeds(t *testing.T) (atom parsedAtom, feed parsedJSONFeed) {
	t.Helper()
	a, j := f.getAs(t, "", f.address+".atom"), f.getAs(t, "", f.address+".json")
	if err := xml.Unmarshal(a.body, &atom); err != nil || a.status != http.StatusOK {
		t.Fatalf("Atom: status %d, want 200 and XML (%v): %s", a.status, err, a.body)
	}
	if err := json.Unmarshal(j.body, &feed); err != nil || j.status != http.StatusOK {
		t.Fatalf("JSON Feed: status %d, want 200 and JSON (%v): %s", j.status, err, j.body)
	}
	for name, want := range map[*reply]string{&a: "application/atom+xml; charset=utf-8", &j: "application/feed+json; charset=utf-8"} {
		h := name.header
		if h.Get("Content-Type") != want || h.Get("Cache-Control") != "private, max-age=60" || h.Get("X-Robots-Tag") != "noindex" ||
			h.Get("Set-Cookie") != "" {
			t.Errorf("the header of %s is %v", want, h)
		}
	}
	if !strings.HasPrefix(atom.ID, "urn:") || atom.Title == "" || atom.Author == "" || feed.Title == "" || feed.Items == nil ||
		feed.Version != "https://jsonfeed.org/version/1.1" || len(feed.Items) != len(atom.Entries) {
		t.Errorf("Atom has %q, %q, %q and %d entries, JSON Feed %q, %q and %d", atom.ID, atom.Title, atom.Author, len(atom.Entries),
			feed.Version, feed.Title, len(feed.Items))
	}
	ids := map[string]bool{}
	times := []string{atom.Updated}
	for i, e := range atom.Entries {
		item := feed.Items[i]
		if ids[e.ID] = true; !strings.HasPrefix(e.ID, "urn:") || e.ID != item.ID || e.Title == "" || item.Text == "" {
			t.Errorf("entry %d is %+v, and %+v", i, e, item)
		}
		times = append(times, e.Updated, item.Published)
	}
	for _, at := range times {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			t.Error(err)
		}
	}
	if len(ids) != len(atom.Entries) {
		t.Errorf("%d ids of %d entries", len(ids), len(atom.Entries))
	}
	return atom, feed
}

func TestAFeedHasWhatIsNew(t *testing.T) {
	t.Parallel()
	f := openFeeding(t)
	if atom, _ := f.feeds(t); len(atom.Entries) != 0 {
		t.Errorf("a feed without changes has %+v", atom)
	}
	f.add(t, watch.Ready, `null`)
	f.add(t, watch.New,
		`{"url":"https://mock.example/p/1","text":"first line\nsecond","author":{"handle":"salma"},"created_at":"2026-10-31T08:00:00Z"}`,
		`{"url":"https://mock.example/p/2","title":"<b>سلمى</b> & co","text":"a\u0001b ]]> &amp;","author":{"name":"Salma","handle":"salma"}}`,
		`null`)
	f.add(t, watch.Changed, `{"text":"no news"}`)
	atom, feed := f.feeds(t)
	if len(atom.Entries) != 3 {
		t.Fatalf("%d entries; want the three that are new", len(atom.Entries))
	}
	erased, second, first := atom.Entries[0], atom.Entries[1], atom.Entries[2]
	if erased.Title != "4" || erased.Link.Href != "" || second.Title != "<b>سلمى</b> & co" || second.Content != "a\uFFFDb ]]> &amp;" ||
		second.Author != "Salma" || first.Title != "first line" || first.Content != "first line\nsecond" ||
		first.Link.Href != "https://mock.example/p/1" || first.Author != "salma" {
		t.Errorf("the entries are %+v", atom.Entries)
	}
	if item := feed.Items[2]; item.Published != "2026-10-31T08:00:00Z" || item.URL != "https://mock.example/p/1" {
		t.Errorf("the first item is %+v", item)
	}
	many := make([]string, 60)
	for i := range many {
		many[i] = fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("ط", 100+i))
	}
	f.add(t, watch.New, many...)
	if atom, _ = f.feeds(t); len(atom.Entries) != 50 || atom.Entries[0].Content != strings.Repeat("ط", 159) {
		t.Errorf("%d entries, the newest %q", len(atom.Entries), atom.Entries[0].Content)
	}
}

func TestAnUnchangedFeedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	f := openFeeding(t)
	f.add(t, watch.New, `{"text":"one"}`)
	first := f.getAs(t, "", f.address+".atom")
	tag := first.header.Get("ETag")
	for path, want := range map[string]int{f.address + ".atom": http.StatusNotModified, f.address + ".json": http.StatusOK} {
		if r := f.with(t, path, "If-None-Match", tag); r.status != want {
			t.Errorf("%s: %d, want %d", path[len(path)-5:], r.status, want)
		}
	}
	f.add(t, watch.New, `{"text":"two"}`)
	if r := f.with(t, f.address+".atom", "If-None-Match", tag); r.status != http.StatusOK || r.header.Get("ETag") == tag {
		t.Errorf("a feed that has changed: %d with the tag %s", r.status, r.header.Get("ETag"))
	}
	if r := f.do(t, http.MethodHead, f.address+".json", http.Header{}); r.status != http.StatusOK || len(r.body) != 0 {
		t.Errorf("HEAD: status %d, %d bytes; want 200, 0", r.status, len(r.body))
	}
	if r := f.do(t, http.MethodPost, f.address+".json", http.Header{}); r.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", r.status)
	}
	if n := len(f.Charges(t)); n != 0 {
		t.Errorf("%d charges, want 0", n)
	}
}

// TestTheAddressOfAnEndedFeedIsUnknown checks that an address leads nowhere once its feed, its monitor or its key has ended, and how one
// begins.
func TestTheAddressOfAnEndedFeedIsUnknown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, method, path string }{
		{"the feed", http.MethodDelete, "/manage/feeds/salma"},
		{"the monitor", http.MethodDelete, "/manage/monitors/salma"},
		{"the key", http.MethodDelete, "/manage/keys/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := openFeeding(t)
			f.feeds(t)
			var again schema.MonitorFeed
			if f.manage(t, http.MethodPut, "/manage/feeds/salma", "", http.StatusOK, &again); again.Secret != nil {
				t.Errorf("the address is shown again")
			}
			if tt.name == "the key" {
				tt.path += f.key.ID
			}
			if r := f.send(t, f.secret, tt.method, tt.path, ""); r.status >= 300 {
				t.Fatalf("ending it: status %d, want a success: %s", r.status, r.body)
			}
			for _, ending := range []string{".atom", ".json"} {
				r := f.getAs(t, "", f.address+ending)
				if p := r.wantProblem(t, problem.NotFound); strings.Contains(string(r.body), "feeds/") || r.header.Get("ETag") != "" {
					t.Errorf("got %+v, ETag %q; want no address and no tag", p, r.header.Get("ETag"))
				}
			}
			if tt.name != "the feed" {
				return
			}
			var made schema.MonitorFeed
			f.manage(t, http.MethodPut, "/manage/feeds/salma", "", http.StatusCreated, &made)
			if made.Secret == nil || *made.Secret == f.address {
				t.Error("a new feed has no address of its own")
			}
		})
	}
}

func TestUnknownFeedsAreRefused(t *testing.T) {
	t.Parallel()
	f := openFeeding(t)
	token := strings.TrimPrefix(f.address, "/feeds/")
	for _, path := range []string{
		"/feeds/", "/feeds/.atom", "/feeds/" + token, "/feeds/" + token + ".rss", "/feeds/" + strings.ToLower(token) + ".atom",
		"/feeds/a/" + token + ".atom", "/feeds/" + token[1:] + ".json",
	} {
		f.getAs(t, "", path).wantProblem(t, problem.NotFound)
	}
	for _, name := range []string{"other", "Salma!"} {
		if r := f.send(t, f.secret, http.MethodPut, "/manage/feeds/"+name, ""); r.status != http.StatusNotFound {
			t.Errorf("a feed of the monitor %q: status %d, want 404", name, r.status)
		}
	}
}

// TestTheAddressOfAFeedIsSecret looks for the token in the log and in a repeated answer.
func TestTheAddressOfAFeedIsSecret(t *testing.T) {
	t.Parallel()
	f := openFeeding(t, server.WithPublicURL("https://api.example.com/social"))
	if !strings.HasPrefix(f.address, "https://api.example.com/social/feeds/") {
		t.Errorf("the address begins with %.40s", f.address)
	}
	f.address = strings.TrimPrefix(f.address, "https://api.example.com/social")
	f.add(t, watch.New, `{"text":"one"}`)
	atom, feed := f.feeds(t)
	if want := "https://api.example.com/social" + f.address; atom.Self.Href != want+".atom" || feed.FeedURL != want+".json" {
		t.Errorf("the feeds call themselves %q and %q", atom.Self.Href, feed.FeedURL)
	}
	f.manage(t, http.MethodDelete, "/manage/feeds/salma", "", http.StatusNoContent, nil)
	header := http.Header{"Idempotency-Key": {"0123456789abcdef"}, "Authorization": {"Bearer " + f.secret}}
	for i := range 2 {
		var made schema.MonitorFeed
		r := f.request(t, http.MethodPut, "/manage/feeds/salma", "", header)
		if err := json.Unmarshal(r.body, &made); err != nil || r.status != http.StatusCreated || (made.Secret == nil) != (i == 1) {
			t.Errorf("answer %d: status %d (%v): %s; want 201, the secret in the first alone", i, r.status, err, r.body)
		}
	}
	f.getAs(t, "", f.address+".atom").wantProblem(t, problem.NotFound)
	f.web.Close() // so that the log is complete
	if log := f.log.String(); strings.Contains(log, strings.TrimPrefix(f.address, "/feeds/")) || !strings.Contains(log, "operation=feeds") {
		t.Errorf("the log has the token, or no line of the operation feeds:\n%s", log)
	}
}
