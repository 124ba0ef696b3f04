package server_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/remote"
)

func TestTheLogMarksCallsOfTheGoClient(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	s.get(t, "/v1/me")
	client, err := remote.New(s.web.URL, remote.Config{Key: s.Secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Account().Me(t.Context(), accounts.MeRequest{}); err != nil {
		t.Fatal(err)
	}
	s.with(t, "/v1/me", "User-Agent", "curl/8 socialdata-go")
	calls, err := s.Open.Operator().Requests(t.Context(), s.Key.Account, accounts.RequestsRequest{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range calls {
		got = append(got, c.Source)
	}
	if diff := cmp.Diff([]string{"api", "remote", "api"}, got); diff != "" {
		t.Errorf("sources, newest first (-want +got):\n%s", diff)
	}
}
