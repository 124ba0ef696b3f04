package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
	"github.com/socialdata/socialdata/watch"
)

// TestFeedsAreReadByAFeedLibrary reads the feed of a monitor with a library that readers of feeds use.
func TestFeedsAreReadByAFeedLibrary(t *testing.T) {
	t.Parallel()
	store, known := watch.NewMemory(), keys.NewMemory(keys.MemoryConfig{})
	account, err := known.CreateAccount(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	secret, key, err := known.CreateKey(t.Context(), keys.NewKey{Account: account.ID, Environment: keys.Live, Manage: true})
	if err != nil {
		t.Fatal(err)
	}
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithWatches(store), socialdata.WithKeys(known))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(client, server.WithChanges())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	defer web.Close()

	noon := time.Now().UTC().Truncate(time.Hour) // what is older than the retention loses its content
	if _, _, err := store.Put(t.Context(), watch.Monitor{
		Definition: watch.Definition{Ask: watch.Ask{Operation: "posts", Platform: "mock", List: true}, Every: time.Hour},
		Account:    account.ID, Name: "ann", Key: key.ID, CreatedAt: noon, Progress: watch.Progress{NextAt: noon.AddDate(100, 0, 0)},
	}, 0); err != nil {
		t.Fatal(err)
	}
	claims, err := store.Claim(t.Context(), noon.AddDate(200, 0, 0), 1, time.Minute)
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	if err := store.Commit(t.Context(), watch.Poll{Claim: claims[0], Changes: []schema.Change{{
		ID: "chg_1", At: noon, Monitor: new("ann"), Type: watch.New, Key: new("1"),
		Object: json.RawMessage(`{"url":"https://mock.example/p/1","text":"قهوة & <tea>","author":{"name":"Ann"}}`),
	}}}); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, web.URL+"/manage/feeds/ann", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultClient.Do(r) //nolint:forbidigo // a test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var made schema.MonitorFeed
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || made.Secret == nil {
		t.Fatal(made, err)
	}
	for ending, kind := range map[string]string{".atom": "atom", ".json": "json"} {
		feed, err := gofeed.NewParser().ParseURLWithContext(web.URL+*made.Secret+ending, t.Context())
		if err != nil {
			t.Fatalf("%s: %v", ending, err)
		}
		if feed.FeedType != kind || len(feed.Items) != 1 {
			t.Fatalf("%s: %s with %d items", ending, feed.FeedType, len(feed.Items))
		}
		item := feed.Items[0]
		if item.Title != "قهوة & <tea>" || item.Link != "https://mock.example/p/1" || !strings.Contains(item.Content, "tea") ||
			item.PublishedParsed == nil && item.UpdatedParsed == nil || len(item.Authors) != 1 || item.Authors[0].Name != "Ann" {
			t.Errorf("%s: %+v", ending, item)
		}
	}
}
