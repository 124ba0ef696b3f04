package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
)

func TestTheLogNamesTheVariableOfAMissingSetting(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	unset := mock.NewFor(platform.Kick, mock.Config{}).Without("client_id")
	client, err := socialdata.New(socialdata.WithProviders(providers.Chain{unset}),
		socialdata.WithLogger(newLog(&said, slog.LevelDebug)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Profile(t.Context(), socialdata.ProfileRequest{Platform: platform.Kick, Handle: "a"})
	const variable = "SOCIALDATA_KICK_CLIENT_ID"
	if err == nil || strings.Contains(err.Error(), variable) {
		t.Errorf("the caller sees %v", err)
	}
	if !strings.Contains(said.String(), variable) {
		t.Errorf("the log says %s", said.String())
	}
}

func TestSettingsOfOtherProvidersAreNamedAfterThem(t *testing.T) {
	t.Parallel()
	lacking := providers.MissingError{Platform: platform.Kick, Settings: []string{"client_id", "scrapecreators.api_key"}}
	const want = "set SOCIALDATA_KICK_CLIENT_ID and SOCIALDATA_SCRAPECREATORS_API_KEY"
	if got := toSet(lacking.Qualified()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
