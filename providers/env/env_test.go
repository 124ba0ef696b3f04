package env

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesOfVariables(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"ClientID": "SOCIALDATA_KICK_CLIENT_ID", "client_id": "SOCIALDATA_KICK_CLIENT_ID", "APIKey": "SOCIALDATA_KICK_API_KEY",
		"BaseURL": "SOCIALDATA_KICK_BASE_URL", "PDSURL": "SOCIALDATA_KICK_PDSURL", "NoReviews": "SOCIALDATA_KICK_NO_REVIEWS",
		"Token": "SOCIALDATA_KICK_TOKEN", "scrapecreators.api_key": "SOCIALDATA_SCRAPECREATORS_API_KEY",
	} {
		if got := Name("kick", setting); got != want {
			t.Errorf("Name(%s) = %s, want %s", setting, got, want)
		}
	}
}

// word is a setting with values of its own.
type word string

func (w *word) UnmarshalText(b []byte) error {
	*w = word(strings.ToUpper(string(b)))
	return nil
}

type config struct {
	Token string
	Own   bool
	Pages int
	Word  word
	Kept  string
	HTTP  *http.Client
}

func TestFillReadsEachKindOfField(t *testing.T) {
	t.Parallel()
	set := map[string]string{
		"SOCIALDATA_A_TOKEN": "t", "SOCIALDATA_A_OWN": "true", "SOCIALDATA_A_PAGES": "7", "SOCIALDATA_A_WORD": "loud",
		"SOCIALDATA_A_KEPT": "", "SOCIALDATA_A_HTTP": "x",
	}
	got := config{Kept: "before"}
	if err := Fill(func(name string) (string, bool) { v, ok := set[name]; return v, ok }, "a", &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config{Token: "t", Own: true, Pages: 7, Word: "LOUD", Kept: "before"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFillNamesEveryVariableThatCannotBeRead(t *testing.T) {
	t.Parallel()
	set := map[string]string{"SOCIALDATA_A_OWN": "perhaps", "SOCIALDATA_A_PAGES": "ten"}
	err := Fill(func(name string) (string, bool) { v, ok := set[name]; return v, ok }, "a", new(config))
	if err == nil {
		t.Fatal("it read them")
	}
	want := "SOCIALDATA_A_OWN: must be true or false, not \"perhaps\"\nSOCIALDATA_A_PAGES: must be a whole number, not \"ten\""
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
