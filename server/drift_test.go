package server_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/server"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// documents are routes that are not operations. They do not change while the program runs, or report its state.
var documents = []string{"/docs", "/openapi.json", "/livez", "/readyz"}

// functions are the names of the operations as functions of a generated client: the operationIds of the description.
var functions = map[string]string{
	"me": "getMe", "usage": "listUsage", "estimate": "getEstimate", "requests": "listRequests", "keys": "listKeys", "monitors": "listMonitors", "changes": "listChanges", "history": "listHistory", "endpoints": "listEndpoints", "deliveries": "listDeliveries", "bulk": "listBulk", "bulk_results": "listBulkResults", "platforms": "listPlatforms", "profile": "getProfile", "followers": "listFollowers",
	"following": "listFollowing", "audience": "getAudience", "live": "getLive", "linked": "listLinked", "posts": "listPosts",
	"post": "getPost", "trending": "listTrending", "search": "search", "suggestions": "getSuggestions", "comments": "listComments",
	"replies": "listReplies", "transcript": "getTranscript", "reels": "listReels", "collections": "listCollections",
	"collection": "getCollection", "collection/posts": "listCollectionPosts", "collection/tracks": "listCollectionTracks",
	"track": "getTrack", "tracks": "listTracks", "track/posts": "listTrackPosts", "community": "getCommunity",
	"community/posts": "listCommunityPosts", "products": "listProducts", "product": "getProduct", "reviews": "listReviews",
	"stats": "getStats",
	"store": "getStore", "ads": "listAds", "ads/search": "searchAds", "ad": "getAd", "advertisers": "searchAdvertisers",
	"event": "getEvent", "events": "listEvents", "events/search": "searchEvents", "enrich": "enrich", "search_across": "searchAcross",
	"job": "getJob", "raw": "getRaw", "health": "getHealth", "resolve": "resolveAddress", "read": "readAddress", "reads": "readAddresses",
	"profile/batch": "getProfileBatch", "audience/batch": "getAudienceBatch", "live/batch": "getLiveBatch",
	"post/batch": "getPostBatch", "transcript/batch": "getTranscriptBatch", "collection/batch": "getCollectionBatch",
	"track/batch": "getTrackBatch", "community/batch": "getCommunityBatch", "product/batch": "getProductBatch",
	"store/batch": "getStoreBatch", "ad/batch": "getAdBatch", "event/batch": "getEventBatch",
}

func TestEveryPathOfTheDescriptionIsARow(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(s.get(t, "/openapi.json").body, &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for path, methods := range doc.Paths {
		if len(methods) != 1 {
			t.Errorf("%s has %d methods, want get alone", path, len(methods))
		}
		if !slices.Contains(documents, path) {
			got[path] = methods["get"].OperationID
		}
	}
	want := map[string]string{}
	for _, o := range socialdata.Operations() {
		want[describedPath(o)] = functions[o.Name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-table +description):\n%s", diff)
	}
}

func TestEveryRowHasARoute(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for _, o := range socialdata.Operations() {
		path := strings.NewReplacer("{platform}", "mock", "{provider}", "mock", "{path...}", "users/salma").Replace(o.Path)
		if r := s.get(t, path); r.status == http.StatusNotFound {
			t.Errorf("%s: status 404, want a route: %s", path, r.body)
		}
	}
	for _, path := range append([]string{"/llms.txt", "/.well-known/api-catalog"}, documents...) {
		if r := s.getAs(t, "", path); r.status != http.StatusOK {
			t.Errorf("%s: status %d", path, r.status)
		}
	}
}

func TestDescriptionIsTheGoldenFile(t *testing.T) {
	t.Parallel()
	// Without providers every path has every platform, so that this does not depend on what the providers can read.
	s := open(t, enginetest.Config{Providers: []providers.Provider{}}, server.WithChanges(), server.WithOperator(func(*http.Request) error { return nil }))
	wantGolden(t, "testdata/openapi.golden.json", s.get(t, "/openapi.json").body)
	wantGolden(t, "testdata/manage.golden.json", s.get(t, "/manage/openapi.json").body)
}

// wantGolden compares a description with its golden file. Each reference in it must lead somewhere.
func wantGolden(t *testing.T, golden string, got []byte) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(got, &doc); err != nil {
		t.Fatal(err)
	}
	for _, ref := range regexp.MustCompile(`"\$ref": "#/([^"]+)"`).FindAllSubmatch(got, -1) {
		at := doc
		for name := range strings.SplitSeq(string(ref[1]), "/") {
			members, _ := at.(map[string]any)
			at = members[name]
		}
		if at == nil {
			t.Errorf("%s: there is no %s", golden, ref[1])
		}
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); run go test -update if that is meant:\n%s", golden, diff)
	}
}
