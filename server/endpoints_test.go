package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// hook is a receiver that keeps what it was sent.
type hook struct {
	*httptest.Server

	calls chan hookCall
}

type hookCall struct {
	header http.Header
	body   []byte
}

func openHook(t *testing.T) hook {
	t.Helper()
	h := hook{calls: make(chan hookCall, 100)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h.calls <- hookCall{r.Header, body}
	}))
	t.Cleanup(h.Close)
	return h
}

// made is the answer to making an endpoint.
type made struct {
	schema.Endpoint

	Secret string `json:"secret"`
}

func TestEndpointsAreManagedOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	h := openHook(t)
	body := `{"url":"` + h.URL + `/hook"}`
	const put, post, del = http.MethodPut, http.MethodPost, http.MethodDelete
	for _, step := range []struct {
		name, method, path, body string
		status                   int
		shows                    bool // a secret
	}{
		{"made", put, "/manage/endpoints/orders", body, 201, true},
		{"the same again", put, "/manage/endpoints/orders", body, 200, false},
		{"changed", put, "/manage/endpoints/orders", `{"url":"` + h.URL + `","types":["new","endpoint.disabled"],"monitors":["a"]}`, 200, false},
		{"a new secret", post, "/manage/endpoints/orders/secret", "", 200, true},
		{"tried", post, "/manage/endpoints/orders/test", "", 200, false},
		{"no URL", put, "/manage/endpoints/orders", `{}`, 400, false},
		{"an unknown field", put, "/manage/endpoints/orders", `{"url":"` + h.URL + `","secret":"x"}`, 400, false},
		{"an unknown type", put, "/manage/endpoints/orders", `{"url":"` + h.URL + `","types":["news"]}`, 400, false},
		{"an invalid name of a monitor", put, "/manage/endpoints/orders", `{"url":"` + h.URL + `","monitors":["A"]}`, 400, false},
		{"an address of cloud metadata", put, "/manage/endpoints/orders", `{"url":"http://169.254.169.254/latest"}`, 400, false},
		{"a bad name", put, "/manage/endpoints/Orders", body, 400, false},
		{"an unknown delivery", post, "/manage/deliveries/orders.1/again", "", 404, false},
		{"a delivery to an unknown endpoint", post, "/manage/deliveries/x/again", "", 404, false},
		{"another method", http.MethodGet, "/manage/endpoints/orders", "", 405, false},
		{"ended", del, "/manage/endpoints/orders", "", 204, false},
		{"ended again", del, "/manage/endpoints/orders", "", 404, false},
		{"a secret of an unknown endpoint", post, "/manage/endpoints/orders/secret", "", 404, false},
		{"a test of an unknown endpoint", post, "/manage/endpoints/orders/test", "", 404, false},
	} {
		r := s.send(t, secret, step.method, step.path, step.body)
		if r.status != step.status {
			t.Fatalf("%s: status %d, want %d: %s", step.name, r.status, step.status, r.body)
		}
		var got made
		if step.status < 204 && json.Unmarshal(r.body, &got) != nil || strings.HasPrefix(got.Secret, "whsec_") != step.shows {
			t.Errorf("%s: got %s; want an object with a secret: %t", step.name, r.body, step.shows)
		}
	}
	if r := s.send(t, s.Secret, put, "/manage/endpoints/orders", body); r.status != http.StatusUnauthorized {
		t.Errorf("a key that does not manage: status %d, want 401: %s", r.status, r.body)
	}
}

func TestPrivateAddressesAreRefusedUnlessTheOperatorAllowsThem(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{PublicWebhooks: true}, server.WithChanges())
	secret := s.manageKey(t)
	for _, url := range []string{
		"http://example.com/", "https://127.0.0.1/", "https://10.0.0.1/", "https://localhost/", "https://[::1]/",
	} {
		r := s.send(t, secret, http.MethodPut, "/manage/endpoints/a", `{"url":"`+url+`"}`)
		if r.status != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400: %s", url, r.status, r.body)
		}
	}
}

func TestChangesOfAMonitorAreSent(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	h := openHook(t)
	var e made
	r := s.send(t, secret, http.MethodPut, "/manage/endpoints/orders", `{"url":"`+h.URL+`","types":["ready"]}`)
	if err := json.Unmarshal(r.body, &e); err != nil {
		t.Fatal(err)
	}
	sent := receiver(t, h, e.Secret)
	s.send(t, secret, http.MethodPut, "/manage/monitors/salma", profileBody)
	first := sent()
	var listed []schema.Change
	if err := json.Unmarshal(s.get(t, "/v1/changes").envelope(t).Data, &listed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(listed[:1], []schema.Change{first}); diff != "" {
		t.Errorf("the changes in the feed and those sent (-feed +sent):\n%s", diff)
	}
	var all []schema.Delivery
	for len(all) == 0 || all[0].State != "delivered" { // the attempt is noted when it was answered
		if err := json.Unmarshal(s.get(t, "/v1/deliveries?endpoint=orders").envelope(t).Data, &all); err != nil {
			t.Fatal(err)
		}
	}
	want := schema.Delivery{
		ID: "orders.1", Endpoint: "orders", Change: first.ID, Seq: 1, Type: "ready", State: "delivered", Attempts: 1,
		QueuedAt: all[0].QueuedAt, LastAt: all[0].LastAt, Status: new(int64(200)),
	}
	if diff := cmp.Diff([]schema.Delivery{want}, all); diff != "" || all[0].LastAt == nil {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	if r := s.send(t, secret, http.MethodPost, "/manage/deliveries/orders.1/again", ""); r.status != http.StatusOK {
		t.Fatalf("a repeated delivery: status %d, want 200: %s", r.status, r.body)
	}
	if again := sent(); again.ID != first.ID {
		t.Errorf("again, the id is %s; want %s", again.ID, first.ID)
	}
	s.send(t, secret, http.MethodPost, "/manage/endpoints/orders/test", "")
	if test := sent(); test.Type != "test" || test.ID == first.ID {
		t.Errorf("the test is %+v", test)
	}
	var endpoints []schema.Endpoint
	r = s.get(t, "/v1/endpoints")
	if err := json.Unmarshal(r.envelope(t).Data, &endpoints); err != nil || strings.Contains(string(r.body), "whsec_") {
		t.Errorf("got %s, %v; want endpoints without secrets", r.body, err)
	}
	if diff := cmp.Diff([]schema.Endpoint{e.Endpoint}, endpoints); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	if r := s.get(t, "/v1/deliveries?endpoint=none"); r.status != http.StatusNotFound {
		t.Errorf("deliveries of an unknown endpoint: %d", r.status)
	}
}
