package webhooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/internal/webhooks"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/watch"
)

// desk is a sender with its store and a clock that the test controls.
type desk struct {
	store  watch.Store
	safe   *webhooks.Safe
	sender *webhooks.Sender

	mu  sync.Mutex
	now time.Time
}

func (d *desk) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *desk) pass(by time.Duration) {
	d.mu.Lock()
	d.now = d.now.Add(by)
	d.mu.Unlock()
	d.sender.Nudge()
}

// open returns a desk. configure may be nil.
func open(tb testing.TB, configure func(*webhooks.Config)) *desk {
	tb.Helper()
	d := &desk{store: watch.NewMemory(), now: time.Now().Truncate(time.Second)}
	var err error
	if d.safe, err = webhooks.NewSafe([]byte("a secret of the deployment")); err != nil {
		tb.Fatal(err)
	}
	cfg := webhooks.Config{
		Store: d.store, Safe: d.safe, Guard: webhooks.Guard{Private: true}, Now: d.Now, Look: time.Hour,
		Patience: 20 * time.Second,
	}
	if configure != nil {
		configure(&cfg)
	}
	d.sender = webhooks.Start(cfg)
	tb.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // attempts that hang are canceled
		_ = d.sender.Close(ctx)
	})
	return d
}

// endpoint creates an endpoint and returns its secret.
func (d *desk) endpoint(tb testing.TB, name, url string) string {
	tb.Helper()
	secret, sealed, err := d.safe.New("ann", name)
	if err == nil {
		e := watch.Endpoint{Account: "ann", Name: name, URL: url, Secret: sealed, CreatedAt: d.Now()}
		_, _, err = d.store.PutEndpoint(tb.Context(), e, 0)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return secret
}

func (d *desk) tell(tb testing.TB, ids ...string) {
	tb.Helper()
	var all []schema.Change
	for _, id := range ids {
		all = append(all, schema.Change{
			ID: "chg_" + id, At: d.Now(), Type: watch.New, Monitor: new("m"), Object: json.RawMessage(`{"text":"<b> & é"}`),
			Fields: []schema.FieldChange{},
		})
	}
	if err := d.store.Tell(tb.Context(), "ann", all); err != nil {
		tb.Fatal(err)
	}
	d.sender.Nudge()
}

// await waits until fits returns true for the delivery of the change seq to an endpoint, and returns the delivery.
func (d *desk) await(tb testing.TB, endpoint string, seq int64, fits func(watch.Delivery) bool) watch.Delivery {
	tb.Helper()
	for tb.Context().Err() == nil {
		got, err := d.store.Deliveries(tb.Context(), watch.Outgoing{Account: "ann", Endpoint: endpoint})
		if err != nil {
			tb.Fatal(err)
		}
		for _, one := range got {
			if one.Seq == seq && fits(one) {
				return one
			}
		}
		time.Sleep(time.Millisecond)
	}
	tb.Fatalf("the delivery %s.%d never reaches the expected state", endpoint, seq)
	return watch.Delivery{}
}

func attempts(n int) func(watch.Delivery) bool {
	return func(d watch.Delivery) bool { return d.Attempts >= n }
}

func isDelivered(d watch.Delivery) bool { return d.State == watch.Delivered }

func serve(tb testing.TB, h http.HandlerFunc) string {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return s.URL
}

func TestADeliveryFollowsStandardWebhooks(t *testing.T) {
	t.Parallel()
	type call struct {
		header http.Header
		body   []byte
	}
	calls := make(chan call, 10)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		calls <- call{r.Header, body}
	})
	d := open(t, nil)
	secret := d.endpoint(t, "a", url)
	d.tell(t, "1")
	got := <-calls
	h, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Verify(got.body, got.header); err != nil {
		t.Errorf("the signature: %v", err)
	}
	want := `{"id":"chg_1","seq":1,"at":"` + d.Now().UTC().Format(time.RFC3339) + `","monitor":"m","type":"new","platform":null,` +
		`"operation":null,"key":null,"object":{"text":"<b> & é"},"fields":[],"detail":null}`
	var change schema.Change
	if err := json.Unmarshal(got.body, &change); err != nil || change.ID != "chg_1" || len(got.body) > len(want)+20 {
		t.Errorf("body %s, %v; want %s", got.body, err, want)
	}
	for name, want := range map[string]string{
		"Webhook-Id": "chg_1", "Webhook-Timestamp": fmt.Sprint(d.Now().Unix()), "Content-Type": "application/json",
	} {
		if got := got.header.Get(name); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
	if one := d.await(t, "a", 1, isDelivered); one.Status != 200 || one.Attempts != 1 || one.Detail != "" {
		t.Errorf("delivery %+v", one)
	}
}

func TestBothSecretsSignForADay(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 10)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- r.Header.Get("Webhook-Signature") + "\n" + r.Header.Get("Webhook-Timestamp") + "\n" + string(body)
	})
	d := open(t, nil)
	first := d.endpoint(t, "a", url)
	second, sealed, err := d.safe.New("ann", "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.store.Rekey(t.Context(), "ann", "a", sealed, d.Now().Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	verified := func(secret, id, call string) bool {
		t.Helper()
		signature, rest, _ := strings.Cut(call, "\n")
		timestamp, body, _ := strings.Cut(rest, "\n")
		h, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		header.Set("webhook-id", id)
		header.Set("webhook-timestamp", timestamp)
		header.Set("webhook-signature", signature)
		return h.VerifyIgnoringTimestamp([]byte(body), header) == nil
	}
	d.tell(t, "1")
	if call := <-calls; !verified(first, "chg_1", call) || !verified(second, "chg_1", call) {
		t.Errorf("within the day, not both secrets verify %q", call)
	}
	d.pass(24 * time.Hour)
	d.tell(t, "2")
	call := <-calls
	for !strings.Contains(call, `"id":"chg_2"`) { // the first one again: its lease expired before it was recorded as sent
		call = <-calls
	}
	if verified(first, "chg_2", call) || !verified(second, "chg_2", call) {
		t.Errorf("after the day, another secret than the second verifies %q", call)
	}
}

// TestReceivers checks the result of one attempt for each kind of receiver.
func TestReceivers(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	elsewhere := atomic.Int64{}
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	answer := func(status int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
		}
	}
	const soon, later = 5 * time.Second, 6 * time.Second
	for _, tt := range []struct {
		name        string
		url         string
		receiver    http.HandlerFunc
		status      int
		detail      string
		least, most time.Duration // until the next attempt
		disabled    bool
	}{
		{name: "fails", receiver: answer(500), status: 500, detail: "it answered 500", least: soon, most: later},
		{
			name: "redirects", receiver: answer(302, "Location", other), status: 302,
			detail: "it answered 302, and redirects are not followed", least: soon, most: later,
		},
		{
			name: "has Retry-After", receiver: answer(429, "Retry-After", "120"), status: 429, detail: "it answered 429",
			least: 2 * time.Minute, most: 2 * time.Minute,
		},
		{
			name: "has a Retry-After that is too long", receiver: answer(503, "Retry-After", "999999999"), status: 503,
			detail: "it answered 503", least: 24 * time.Hour, most: 24 * time.Hour,
		},
		{name: "answers 410", receiver: answer(410), status: 410, detail: "it answered 410", least: soon, most: later, disabled: true},
		{name: "hangs", receiver: hang, detail: "it did not answer within 15 seconds", least: soon, most: later},
		{name: "is closed", url: closed.URL, detail: "the connection failed", least: soon, most: later},
		{
			name: "hangs up", detail: "it closed the connection without an answer", least: soon, most: later,
			receiver: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		},
		{
			name: "does not speak HTTP", url: "http://" + talker(t, "hello\r\n\r\n"), detail: "the connection failed", least: soon, most: later,
		},
		{
			name: "is a metadata service", url: "http://169.254.169.254/", least: soon, most: later,
			detail: "its name resolves to an address to which nothing is sent",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := open(t, func(c *webhooks.Config) {
				if tt.name == "hangs" {
					c.Patience = 50 * time.Millisecond
				}
			})
			if tt.url == "" {
				tt.url = serve(t, tt.receiver)
			}
			d.endpoint(t, "a", tt.url)
			d.tell(t, "1")
			got := d.await(t, "a", 1, attempts(1))
			if got.State != watch.Waiting || got.Status != tt.status || got.Detail != tt.detail {
				t.Errorf("delivery %+v", got)
			}
			if wait := got.NextAt.Sub(got.LastAt); wait < tt.least || wait > tt.most {
				t.Errorf("the next attempt is after %v; want %v to %v", wait, tt.least, tt.most)
			}
			e, err := d.store.Endpoint(t.Context(), "ann", "a")
			if err != nil || (e.State() == watch.Disabled) != tt.disabled || !e.FailingSince.Equal(d.Now()) {
				t.Errorf("endpoint %+v, %v", e, err)
			}
			told, err := d.store.Changes(t.Context(), watch.Since{Account: "ann", Type: watch.EndpointDisabled})
			if err != nil || (len(told) == 1) != tt.disabled {
				t.Errorf("reported %v, %v", told, err)
			}
		})
	}
	t.Cleanup(func() {
		if elsewhere.Load() > 0 {
			t.Error("a redirect was followed")
		}
	})
}

// talker answers every connection with a fixed text.
func talker(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(text))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// TestANameThatChangesItsAddressIsRefused resolves to the receiver in the first look-ups, and then to a metadata
// service.
func TestANameThatChangesItsAddressIsRefused(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Connection", "close")
	})
	_, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	var lookups atomic.Int64
	guard := webhooks.Guard{Private: true, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		if lookups.Add(1) <= 2 { // when it is created, and at the first attempt
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	}}
	url = "http://receiver.example:" + port
	if err := guard.Check(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	d := open(t, func(c *webhooks.Config) { c.Guard = guard })
	d.endpoint(t, "a", url)
	d.tell(t, "1")
	d.await(t, "a", 1, isDelivered)
	d.tell(t, "2")
	got := d.await(t, "a", 2, attempts(1))
	if got.Detail != "its name resolves to an address to which nothing is sent" || calls.Load() != 1 {
		t.Errorf("delivery %+v after %d calls", got, calls.Load())
	}
}

func TestPausesBetweenAttemptsGrowUntilTheLast(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	d.endpoint(t, "a", serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))
	d.tell(t, "1")
	var pauses []time.Duration
	got := d.await(t, "a", 1, attempts(1))
	for got.State == watch.Waiting {
		pauses = append(pauses, got.NextAt.Sub(got.LastAt))
		d.pass(got.NextAt.Sub(d.Now()))
		got = d.await(t, "a", 1, attempts(got.Attempts+1))
	}
	hour := time.Hour
	want := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour,
	}
	if len(pauses) != len(want) {
		t.Fatalf("%d pauses %v; want %d", len(pauses), pauses, len(want))
	}
	for i, least := range want {
		if pauses[i] < least || pauses[i] > least+least/5 {
			t.Errorf("pause %d is %v; want %v and at most a fifth more", i, pauses[i], least)
		}
	}
	if got.State != watch.Failed || got.Attempts != 10 {
		t.Errorf("in the end %+v", got)
	}
	// Three days of failures do not disable an endpoint, five do.
	d.tell(t, "2")
	d.await(t, "a", 2, attempts(1))
	if e, err := d.store.Endpoint(t.Context(), "ann", "a"); err != nil || e.State() != watch.Active {
		t.Fatalf("endpoint %+v, %v", e, err)
	}
	d.pass(48 * time.Hour)
	d.await(t, "a", 2, attempts(2))
	e, err := d.store.Endpoint(t.Context(), "ann", "a")
	if err != nil || e.Problem != "every attempt of the last five days has failed; the last result: it answered 500" {
		t.Errorf("endpoint %+v, %v", e, err)
	}
}

func TestASlowEndpointDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var hung atomic.Int64
	slow := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		hung.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	d := open(t, nil)
	d.endpoint(t, "slow", slow)
	d.endpoint(t, "quick", serve(t, func(http.ResponseWriter, *http.Request) {}))
	ids := make([]string, 200)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	d.tell(t, ids...)
	for seq := range int64(200) {
		d.await(t, "quick", seq+1, isDelivered)
	}
	if n := hung.Load(); n > 48 {
		t.Errorf("%d deliveries hang at one endpoint; want a few", n)
	}
}

func TestDeliveriesOfAKilledSenderAreSentAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Webhook-Id") != "chg_1" {
			w.WriteHeader(400)
		}
		calls.Add(1)
	})
	d := open(t, nil)
	d.endpoint(t, "a", url)
	if err := d.sender.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.tell(t, "1")
	if _, err := d.store.Queue(t.Context(), d.Now(), 10); err != nil {
		t.Fatal(err)
	}
	if taken, err := d.store.ClaimDeliveries(t.Context(), d.Now(), 1, 1, time.Minute, nil); err != nil || len(taken) != 1 {
		t.Fatalf("taken %v, %v", taken, err)
	}
	second := webhooks.Start(webhooks.Config{
		Store: d.store, Safe: d.safe, Guard: webhooks.Guard{Private: true}, Now: d.Now, Look: time.Millisecond,
	})
	t.Cleanup(func() { _ = second.Close(context.Background()) })
	d.pass(time.Minute)
	if got := d.await(t, "a", 1, isDelivered); got.Attempts != 1 || calls.Load() != 1 {
		t.Errorf("delivery %+v after %d calls", got, calls.Load())
	}
}

func TestAnEndpointWhoseSecretIsLostIsDisabled(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	d := open(t, func(c *webhooks.Config) {
		var err error
		if c.Safe, err = webhooks.NewSafe([]byte("another secret of the deployment")); err != nil {
			t.Fatal(err)
		}
	})
	d.endpoint(t, "a", url)
	d.tell(t, "1")
	d.await(t, "a", 1, attempts(1))
	e, err := d.store.Endpoint(t.Context(), "ann", "a")
	if err != nil || !strings.Contains(e.Problem, "secret can no longer be decrypted") || calls.Load() != 0 {
		t.Errorf("endpoint %+v, %v, after %d calls", e, err, calls.Load())
	}
}

func TestALargeChangeIsSentWithoutItsObject(t *testing.T) {
	t.Parallel()
	large := json.RawMessage(`"` + strings.Repeat("x", 21_000) + `"`)
	field := schema.FieldChange{Field: "text", Before: large, After: large}
	for _, tt := range []struct {
		name   string
		change schema.Change
		object bool
		detail string
	}{
		{"small", schema.Change{Object: json.RawMessage(`{}`)}, true, ""},
		{"large", schema.Change{Object: large}, false, "the object is left out because the change is larger than 20 KB; read it at /v1/changes"},
		{
			"fields",
			schema.Change{Object: large, Detail: new("more"), Fields: []schema.FieldChange{field}},
			false,
			"more; the object is left out because the change is larger than 20 KB; read it at /v1/changes; the values of its fields are left out as well",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bodies := make(chan []byte, 1)
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				bodies <- b
			})
			d := open(t, nil)
			d.endpoint(t, "a", url)
			tt.change.ID, tt.change.Type = "chg_1", watch.New
			if err := d.store.Tell(t.Context(), "ann", []schema.Change{tt.change}); err != nil {
				t.Fatal(err)
			}
			d.sender.Nudge()
			body := <-bodies
			var got schema.Change
			if err := json.Unmarshal(body, &got); err != nil || len(body) > 20_000 {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			detail := ""
			if got.Detail != nil {
				detail = *got.Detail
			}
			if has := string(got.Object) != "null"; has != tt.object || detail != tt.detail || len(got.Fields) != len(tt.change.Fields) {
				t.Errorf("object %s, detail %q, %d fields", got.Object, detail, len(got.Fields))
			}
		})
	}
}

func TestAddressesToWhichNothingIsSent(t *testing.T) {
	t.Parallel()
	const never, private, public = 0, 1, 2
	for url, want := range map[string]int{
		"https://93.184.216.34/": public, "https://[2606:4700::1111]/hook": public,
		"https://127.0.0.1/": private, "https://[::1]/": private, "https://10.1.2.3/": private, "https://192.168.0.1/": private,
		"https://172.16.0.1/": private, "https://100.100.100.200/": private, "https://[fd00::1]/": private,
		"https://[::ffff:10.0.0.1]/": private, "https://[64:ff9b::10.0.0.1]/": private, "https://[2002:7f00:1::]/": private,
		"https://[::ffff:0:127.0.0.1]/": private, "https://[::ffff:0:10.0.0.1]/": private, "https://[2001:db9::5efe:127.0.0.1]/": private,
		"https://[::ffff:0:169.254.169.254]/": never, "https://[::ffff:0:0.0.0.0]/": never, "https://[::ffff:0:93.184.216.34]/": public,
		"https://93.184.216.34:65535/": public, "https://93.184.216.34:65536/": never, "https://93.184.216.34:99999/": never,
		"https://93.184.216.34:0/": never, "https://93.184.216.34/a b": never, "https://93.184.216.34/a?b= c": never,
		"https://93.184.216.34/a%20b": public, "http://93.184.216.34/": private,
		"https://169.254.169.254/": never, "https://0.0.0.0/": never, "https://0.1.2.3/": never, "https://[::]/": never,
		"https://[fe80::1]/": never, "https://[fe80::1%25eth0]/": never, "https://[fd00:ec2::254]/": never, "https://224.0.0.1/": never,
		"https://[::ffff:169.254.169.254]/": never, "https://[64:ff9b::169.254.169.254]/": never, "https://[::169.254.169.254]/": never,
		"https://[2002:a9fe:a9fe::]/": never, "https://255.255.255.255/": never, "https://[ff02::1]/": never,
		"ftp://93.184.216.34/": never, "https://u:p@93.184.216.34/": never, "https://93.184.216.34/#x": never, "https://": never,
		"/hook": never, "https://93.184.216.34/" + strings.Repeat("x", 2048): never, "%": never,
	} {
		for level, guard := range map[int]webhooks.Guard{private: {Private: true}, public: {}} {
			err := guard.Check(t.Context(), url)
			if (err == nil) != (want >= level) || err != nil && !errors.Is(err, watch.ErrInvalid) {
				t.Errorf("%.60s with Private %v: %v", url, guard.Private, err)
			}
		}
	}
	var asked []string
	guard := webhooks.Guard{Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
		asked = append(asked, name)
		if name == "nowhere.example" {
			return nil, errors.New("no such host")
		}
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}, nil
	}}
	for _, name := range []string{"nowhere.example", "both.example"} {
		if err := guard.Check(t.Context(), "https://"+name+":8443/x"); !errors.Is(err, watch.ErrInvalid) {
			t.Errorf("%s: %v; want ErrInvalid", name, err)
		}
	}
	if diff := cmp.Diff([]string{"nowhere.example", "both.example"}, asked); diff != "" {
		t.Errorf("names that were looked up (-want +got):\n%s", diff)
	}
}

// BenchmarkDeliveries sends to one endpoint that answers after 10 ms.
func BenchmarkDeliveries(b *testing.B) {
	url := serve(b, func(http.ResponseWriter, *http.Request) { time.Sleep(10 * time.Millisecond) })
	d := open(b, nil)
	d.endpoint(b, "a", url)
	ids := make([]string, b.N)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	b.ResetTimer()
	d.tell(b, ids...)
	await.Until(b, "every delivery", func() bool {
		e, err := d.store.Deliveries(b.Context(), watch.Outgoing{Account: "ann", Limit: 100})
		if err != nil {
			b.Fatal(err)
		}
		waiting := func(one watch.Delivery) bool { return one.State != watch.Delivered }
		return len(e) == min(100, b.N) && !slices.ContainsFunc(e, waiting)
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
}
