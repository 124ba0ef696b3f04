package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/server"
)

func TestOnlyTheOperatorErases(t *testing.T) {
	t.Parallel()
	may := func(r *http.Request) error {
		if r.Header.Get("Authorization") == "Bearer operator" {
			return nil
		}
		return problem.New(problem.Unauthorized, "not you")
	}
	s := open(t, enginetest.Config{}, server.WithErasures(may))
	send := func(method, secret, body string) (int, string) {
		t.Helper()
		r := s.send(t, secret, method, "/manage/erasures", body)
		return r.status, string(r.body)
	}
	const ann = `{"platform":"mock","handle":"@Ann"}`
	if status, body := send(http.MethodPost, s.Secret, ann); status != http.StatusUnauthorized {
		t.Errorf("an API key erases: %d %s", status, body)
	}
	for body, want := range map[string]int{
		ann: http.StatusOK,
		`{"platform":"mock","handle":"ann","dry_run":true}`: http.StatusOK,
		`{"platform":"mock","handle":"ann","dryrun":true}`:  http.StatusBadRequest,
		`{"platform":"mock"}`:                               http.StatusBadRequest,
		`{"platform":"mock","handle":"ann"} {}`:             http.StatusBadRequest,
		`[]`:                                                http.StatusBadRequest,
		``:                                                  http.StatusBadRequest,
		`{"platform":"mock","handle":"ann","reason":"Ann has asked us"}`: http.StatusBadRequest,
	} {
		if status, got := send(http.MethodPost, "operator", body); status != want {
			t.Errorf("POST %s: %d %s, want %d", body, status, got, want)
		}
	}
	if status, body := send(http.MethodDelete, "operator", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %d %s", status, body)
	}
	status, body := send(http.MethodGet, "operator", "")
	var list struct {
		Data []struct{ Kind, By, Subject string }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		t.Fatalf("GET: %d %s, %v", status, body, err)
	}
	if len(list.Data) != 2 || list.Data[1].Kind != "erased" || list.Data[1].By != "http" ||
		strings.Contains(body, "nn\"") {
		t.Errorf("the receipts are %s", body)
	}
}

func TestThereAreNoErasuresWithoutTheOption(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	if status := s.send(t, s.Secret, http.MethodGet, "/manage/erasures", "").status; status != http.StatusNotFound {
		t.Errorf("GET /manage/erasures: %d, want 404", status)
	}
}
