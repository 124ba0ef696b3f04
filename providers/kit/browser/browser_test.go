package browser_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/browser"
)

func TestHeadersAreACopyWithMoreInPlace(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]func(...string) http.Header{
		"Page": browser.Page, "Navigation": browser.Navigation, "Script": browser.Script,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain, more := header(), header("Accept-Language", "pt-BR", "referer", "https://example.com/")
			if plain.Get("User-Agent") != browser.Agent || plain.Get("Referer") != "" {
				t.Errorf("header is %v", plain)
			}
			want := plain.Clone()
			want["Accept-Language"], want["Referer"] = []string{"pt-BR"}, []string{"https://example.com/"}
			if diff := cmp.Diff(want, more); diff != "" {
				t.Errorf("header with more (-want +got):\n%s", diff)
			}
			more.Set("Accept", "text/plain")
			if header().Get("Accept") == "text/plain" {
				t.Error("what is written to one header is in the next")
			}
		})
	}
}
