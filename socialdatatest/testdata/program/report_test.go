package report

import (
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/socialdatatest"
)

func TestFollowers(t *testing.T) {
	s := socialdatatest.Start(t)
	n, err := Followers(t.Context(), s.URL, s.Key, "mock", "salma")
	if err != nil || n == 0 {
		t.Errorf("%d, %v", n, err)
	}
	if cost := s.Charged(t)["profile"]; cost != 1 {
		t.Errorf("it has cost %d", cost)
	}
	if _, err := Followers(t.Context(), s.URL, s.Poor(t), "mock", "salma"); err == nil || !strings.Contains(err.Error(), "402") {
		t.Errorf("without credits: %v", err)
	}
}

func TestFollowersAreReadAgain(t *testing.T) {
	s := socialdatatest.Start(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/mock/profile?handle=salma", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + s.Key}, "X-Sandbox": {"status=503; after=1s; times=2"}}
	if _, wait, err := once(r); err != nil || wait == 0 {
		t.Fatalf("the first call: %v, %v", wait, err)
	}
	if n, err := Followers(t.Context(), s.URL, s.Key, "mock", "salma"); err != nil || n == 0 {
		t.Errorf("the call after a refusal: %d, %v", n, err)
	}
}
