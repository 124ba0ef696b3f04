package all

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// TestALongTextIsSearchedToABound has an upstream send 5.5 MB of text that consists of addresses. An algorithm that
// compares each with all before it would take minutes, and the call would be a 504.
func TestALongTextIsSearchedToABound(t *testing.T) {
	t.Parallel()
	certs := newCertificates(t)
	model() // outside any bubble
	var text strings.Builder
	for i := 0; text.Len() < 5_500_000; i++ {
		fmt.Fprintf(&text, "https://a.example/%d)) ", i)
	}
	for name, bio := range map[string]string{
		"distinct addresses": text.String(),
		"one address":        "https://a.example/" + strings.Repeat(")", text.Len()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(map[string]string{
				"did": "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "handle": "ann.example", "description": bio,
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				n := &hostileNet{certs: certs, fault: fault{serve: func(w io.Writer, _ *http.Request) error {
					return send(w, plain("200 OK", "", string(body)))
				}}}
				s := startHostile(t, n, providers.Provider{Name: "bluesky", Platform: platform.Bluesky}, usual)
				defer n.ends.Wait()
				defer s.stop(t)
				got := s.get(t, "/v1/bluesky/profile?handle=ann.example")
				var answer struct {
					Data struct {
						Links []string `json:"links"`
					} `json:"data"`
				}
				if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.status != http.StatusOK {
					t.Fatalf("status %d, error %v; want 200, none", got.status, err)
				}
				if links := answer.Data.Links; len(links) == 0 || len(links) > 100 {
					t.Errorf("%d links, want some and no more than 100", len(links))
				}
			})
		})
	}
}
