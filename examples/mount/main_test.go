package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/socialdata/socialdata/schema"
)

func TestAPIIsServedUnderThePrefix(t *testing.T) {
	t.Parallel()
	mux, secret, err := newMux(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/data/v1/mock/profile?handle=ann", nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	var got schema.Envelope[schema.Profile]
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("status %d: %v", w.Code, err)
	}
	if got.Data.Handle != "ann" || got.Meta.CreditsUsed != 1 || got.Meta.CreditsRemaining != 99 {
		t.Errorf("got %+v", got)
	}
}
