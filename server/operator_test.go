package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
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
	s := open(t, enginetest.Config{}, server.WithOperator(may))
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
		t.Errorf("DELETE: status %d, want 405: %s", status, body)
	}
	status, body := send(http.MethodGet, "operator", "")
	var list struct {
		Data []struct{ Kind, By, Subject string }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		t.Fatalf("GET: status %d, want 200 and a list (%v): %s", status, err, body)
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

func TestOnlyTheOperatorManagesAccounts(t *testing.T) {
	t.Parallel()
	may := func(r *http.Request) error {
		if r.Header.Get("Authorization") == "Bearer operator" {
			return nil
		}
		return problem.New(problem.Unauthorized, "not you")
	}
	s := open(t, enginetest.Config{}, server.WithChanges(), server.WithOperator(may))
	for _, secret := range []string{s.Secret, "", "wrong"} {
		for _, path := range []string{"/manage/accounts", "/manage/accounts/shop", "/manage/accounts/shop/grant"} {
			for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost} {
				if r := s.send(t, secret, method, path, "{}"); r.status != http.StatusUnauthorized {
					t.Errorf("%s %s with %q: status %d, want 401: %s", method, path, secret, r.status, r.body)
				}
			}
		}
	}
	client, err := remote.New(s.web.URL, remote.Config{Key: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	all := client.Operator().Accounts()
	a, isNew, err := all.Make(t.Context(), "a shop", schema.AccountSpec{Monthly: new(int64(15))})
	if err != nil || !isNew || a.Balance != 15 || a.Monthly != 15 {
		t.Fatalf("Make = %+v, %t, %v; want a new account with 15 credits a month", a, isNew, err)
	}
	if got, err := all.Show(t.Context(), "a shop"); err != nil || got != a {
		t.Errorf("Show = %+v, %v; want %+v", got, err, a)
	}
	for range 2 {
		if got, err := all.Grant(t.Context(), a.ID, schema.CreditGrant{Credits: 2, Key: "invoice 7"}); err != nil || got.Balance != 17 {
			t.Errorf("Grant = %+v, %v; want 17 credits", got, err)
		}
	}
	grant := func(key, body string) (status int, balance int64, replayed string) {
		t.Helper()
		r := s.request(t, http.MethodPost, "/manage/accounts/"+a.ID+"/grant", body,
			http.Header{"Authorization": {"Bearer operator"}, "Idempotency-Key": {key}})
		var got schema.Account
		if err := json.Unmarshal(r.body, &got); err != nil {
			t.Fatal(err)
		}
		return r.status, got.Balance, r.header.Get("X-Idempotent-Replay")
	}
	const key = "0123456789abcdef"
	for i, want := range []string{"", "true"} {
		if status, n, replayed := grant(key, `{"credits":3}`); status != http.StatusOK || n != 20 || replayed != want {
			t.Errorf("grant %d: %d, %d credits, replayed %q; want 20 and %q", i, status, n, replayed, want)
		}
	}
	if status, _, _ := grant(key, `{"credits":4}`); status != http.StatusBadRequest {
		t.Errorf("another grant with the same Idempotency-Key: got %d, want 400", status)
	}
	// The record of the answer is stored after the grant: without it, the ledger recognises the key.
	if got, err := all.Grant(t.Context(), a.ID, schema.CreditGrant{Credits: 3, Key: key}); err != nil || got.Balance != 20 {
		t.Errorf("the grant of that Idempotency-Key again = %+v, %v; want 20 credits", got, err)
	}
	closed, err := all.Close(t.Context(), a.ID)
	if err != nil || closed.ClosedAt == nil || closed.Balance != 20 {
		t.Errorf("Close = %+v, %v; want a closed account with 20 credits", closed, err)
	}
	found := map[string]bool{}
	for a, err := range all.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		found[a.Name] = a.ClosedAt != nil
	}
	if !found["a shop"] || len(found) < 2 {
		t.Errorf("List = %v; want the closed shop and another account", found)
	}
}
