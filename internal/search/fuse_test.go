package search

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/socialdata/socialdata/schema"
)

// TestResultsAreRankedAlikeByValueAndByJSON has every kind of result with all fields that a ranking may look at.
func TestResultsAreRankedAlikeByValueAndByJSON(t *testing.T) {
	t.Parallel()
	for _, kind := range schema.ResultKinds() {
		for _, author := range []string{`{"platform":"bluesky","id":"7"}`, `{"platform":"bluesky","id":"unknown"}`} {
			full := fmt.Sprintf(`{"kind":%q,"platform":"mastodon","id":"1 \"","url":"https://a.example/1","author":%s,`+
				`"created_at":"2026-01-02T03:04:05.6Z","published_at":"2026-01-02T03:04:05Z","released_at":"2026-01-02T00:00:00Z"}`,
				kind, author)
			var value schema.SearchResult
			if err := json.Unmarshal([]byte(full), &value); err != nil {
				t.Fatal(err)
			}
			encoded, err := schema.Marshal([]schema.SearchResult{value})
			if err != nil {
				t.Fatal(err)
			}
			want, got := rankedOf(encoded)[0], rankedAs([]schema.SearchResult{value}, encoded)[0]
			if got.id != want.id || got.url != want.url || got.author != want.author || !got.at.Equal(want.at) {
				t.Errorf("%s by %s is ranked as %+v by its value, and as %+v by its JSON", kind, author, got, want)
			}
			if string(got.encoded()) != string(want.encoded()) {
				t.Errorf("%s is encoded as %s; want %s", kind, got.encoded(), want.encoded())
			}
		}
	}
}
