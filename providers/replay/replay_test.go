package replay_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/socialdata/socialdata/providers/replay"
)

func TestTransportKeepsPathQueryAndRedirectsWithinTheUpstream(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api.example/old" {
			w.Header().Set("Location", "http://"+r.Host+"/api.example/new%2Fpath?q=1")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, r.URL.EscapedPath(), "?", r.URL.RawQuery) //nolint:errcheck // a test server
	}))
	defer recorder.Close()
	transport, err := replay.New(recorder.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport}
	res, err := client.Get("https://api.example/old")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := "/api.example/new%2Fpath?q=1"; string(b) != want {
		t.Errorf("asked for %s, want %s", b, want)
	}
	if got, want := res.Request.URL.String(), "https://api.example/new%2Fpath?q=1"; got != want {
		t.Errorf("the answer is from %s, want %s", got, want)
	}
}

func TestNewRefusesWhatIsNoURL(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "127.0.0.1:9000", "ftp://127.0.0.1"} {
		if _, err := replay.New(base, nil); err == nil {
			t.Errorf("New(%q) accepted it", base)
		}
	}
}
