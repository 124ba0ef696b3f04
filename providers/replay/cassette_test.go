package replay_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/replay"
)

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// answering returns a transport that answers with the texts that text returns, as JSON.
func answering(text func(r *http.Request, body string) string) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		body := ""
		if r.Body != nil {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = string(b)
		}
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text(r, body))
		return w.Result(), nil
	})
}

func record(t *testing.T, dir string, next http.RoundTripper, hide ...privacy.Redaction) *http.Client {
	t.Helper()
	to, err := replay.Record(dir, next, hide...)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: to}
}

func play(t *testing.T, dir string) *http.Client {
	t.Helper()
	from, err := replay.Play(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: from}
}

// files returns what is in the files of a folder, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[filepath.Base(path)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The secrets that are searched for in the files. Each has characters that URLs, JSON and base64 write differently.
const (
	inHeader  = `head/er "secret"+1`
	inQuery   = `que&ry secret/22`
	short     = `s3c`
	inPath    = `123456:AAFpath-secret`
	appSecret = `app&secret/"333`
	given     = `given-access/token+4`
)

// TestNoCredentialReachesAFile records a provider whose upstream repeats all credentials in every form, and searches the
// folder for them.
func TestNoCredentialReachesAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var echoed int
	secrets := []string{inHeader, inQuery, inPath, appSecret, given}
	next := answering(func(r *http.Request, body string) string {
		if r.URL.Path == "/oauth/token" {
			return `{"access_token":"` + given + `","expires_in":3600}`
		}
		echoed++
		out := "salma: " + r.URL.Path + " " + body
		for _, secret := range secrets {
			out += " " + strings.Join(formsOf(t, secret), " ")
		}
		return out
	})
	open := func(web *http.Client, secretOf func(string) string) func(ctx context.Context, handle string) ([]byte, error) {
		app := upstream.AppTokens(web, "https://id.example/oauth/token", "an app", secretOf(appSecret))
		c := upstream.New(upstream.Config{
			HTTP: web, Base: "https://api.example/bot" + secretOf(inPath), PathCredential: secretOf(inPath), Tokens: app,
			Header: http.Header{"X-Api-Key": {secretOf(inHeader)}}, Credentials: []string{"key", "pin", "app_secret"},
		})
		return func(ctx context.Context, handle string) ([]byte, error) {
			r := upstream.Request{Method: http.MethodPost, Path: []string{"users"}, JSON: map[string]string{
				"handle": handle, "proof": secretOf(inQuery), "header": secretOf(inHeader),
			}}
			r = r.With("key", secretOf(inQuery)).With("pin", secretOf(short)).With("app_secret", secretOf(appSecret))
			res, err := c.Do(ctx, r)
			if err != nil {
				return nil, err
			}
			return res.Body, nil
		}
	}
	live, err := open(record(t, dir, next), func(s string) string { return s })(t.Context(), "salma")
	if err != nil {
		t.Fatal(err)
	}
	found := files(t, dir)
	if len(found) != 2 || echoed != 1 {
		t.Fatalf("%d files of %d exchanges: %v", len(found), echoed, found)
	}
	for name, text := range found {
		for _, secret := range secrets {
			for _, form := range formsOf(t, secret) {
				if strings.Contains(text, form) {
					t.Errorf("%s has %q in the form %q:\n%s", name, secret, form, text)
				}
			}
		}
	}
	if text := found["MANIFEST.json"]; strings.Contains(text, short) {
		t.Errorf("a short credential is in the manifest:\n%s", text)
	}
	// A client with other credentials gets the same.
	other := open(play(t, dir), func(s string) string { return "another-" + fmt.Sprint(len(s)) })
	played, err := other(t.Context(), "salma")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(live), string(played)); diff != "" {
		t.Errorf("played (-live +played):\n%s", diff)
	}
	_, err = other(t.Context(), "nobody")
	if !errors.Is(err, providers.ErrUnavailable) || !strings.Contains(err.Error(), `"handle":"salma"`) {
		t.Errorf("what was not recorded is %v", err)
	}
}

// formsOf returns a secret in plain, as a URL, JSON and base64 write it.
func formsOf(t *testing.T, secret string) []string {
	t.Helper()
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Error(err)
	}
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`),
		base64.StdEncoding.EncodeToString([]byte(secret))[:len(secret)*8/6], strings.ReplaceAll(secret, "/", `\/`),
	}
}

// TestOtherClientsAreRecordedWithoutCredentials records requests that none of the shipped providers makes.
func TestOtherClientsAreRecordedWithoutCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const secret = "secret-of-another-client"
	send := func(web *http.Client, secret string) (body string) {
		t.Helper()
		for _, r := range []struct{ method, url, body string }{
			{http.MethodGet, "https://ann:" + secret + "@api.example/a?api_key=" + secret + "&q=1#x", ""},
			{http.MethodPost, "https://api.example/b", "access_token=" + secret + "&q=2"},
			{http.MethodPost, "https://api.example/c", `{"token":"` + secret + `","q":3}`},
			{http.MethodPost, "https://api.example/token", "grant_type=password&password=" + secret},
		} {
			req, err := http.NewRequestWithContext(t.Context(), r.method, r.url, strings.NewReader(r.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Authorization": {"Bearer " + secret}, "Cookie": {"session=" + secret}}
			res, err := web.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(r.url, "/token") {
				body += string(b)
			}
		}
		return body
	}
	send(record(t, dir, answering(func(r *http.Request, body string) string {
		return `{"echo":["` + r.URL.RawQuery + `","` + strings.ReplaceAll(body, `"`, "'") + `","` + secret + `"]}`
	})), secret)
	for name, text := range files(t, dir) {
		if strings.Contains(text, secret) {
			t.Errorf("%s has the credential:\n%s", name, text)
		}
	}
	if got := send(play(t, dir), "of-a-third-client"); !strings.Contains(got, "q=1") || !strings.Contains(got, "q=2") {
		t.Errorf("played %s", got)
	}
}

// TestRedactionAppliesToRecordings checks answers of both kinds, JSON and text.
func TestRedactionAppliesToRecordings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"bio":"ann@example.com or +966 55 123 4567"}`, "<p>ann@example.com, +966 55 123 4567</p>"} {
		for hide, want := range map[privacy.Redaction][2]bool{"": {true, true}, privacy.Emails: {false, true}, privacy.Phones: {true, false}} {
			dir := t.TempDir()
			web := record(t, dir, answering(func(*http.Request, string) string { return text }), hide)
			if got := get(t, web, "https://api.example/ann"); got != text {
				t.Errorf("the live answer is %s", got)
			}
			got := get(t, play(t, dir), "https://api.example/ann")
			if strings.Contains(got, "ann@example.com") != want[0] || strings.Contains(got, "123 4567") != want[1] {
				t.Errorf("without %q: %s", hide, got)
			}
		}
	}
}

func get(t *testing.T, web *http.Client, address string) string {
	t.Helper()
	res, err := web.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAnswersComeInTheOrderOfRecording records in two sittings.
func TestAnswersComeInTheOrderOfRecording(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	next := answering(func(*http.Request, string) string { n++; return fmt.Sprintf("answer %d", n) })
	get(t, record(t, dir, next), "https://api.example/a?x=1&y=2")
	again := record(t, dir, next)
	get(t, again, "https://api.example/a?y=2&x=1")
	get(t, again, "https://api.example/a/b")
	web := play(t, dir)
	for i, want := range []string{"answer 1", "answer 2", "answer 2"} {
		if got := get(t, web, "https://api.example/a?x=1&y=2"); got != want {
			t.Errorf("read %d is %q, want %q", i, got, want)
		}
	}
	for address, want := range map[string]string{
		"https://api.example/a/c?x=1": "no answer to GET https://api.example/a/c?x=1 is recorded; the nearest are " +
			"GET https://api.example/a?x=1&y=2, GET https://api.example/a?y=2&x=1, GET https://api.example/a/b",
		"https://other.example/": "nothing of this host is",
	} {
		res, err := web.Get(address)
		if err == nil {
			_ = res.Body.Close()
			t.Errorf("%s was answered", address)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if _, err := replay.Play(t.TempDir()); err == nil {
		t.Error("an empty folder is played")
	}
}

// captured is an exchange of the captured answers.
type captured struct {
	File    string
	Request struct {
		Method, URL string
		Body        json.RawMessage
	}
	Status  int
	Headers map[string]string
	path    string
}

// TestCapturedAnswersAreRecordedAndPlayed records every captured answer whose request has no other, and plays it.
func TestCapturedAnswersAreRecordedAndPlayed(t *testing.T) {
	t.Parallel()
	const samples = "../../../shared/upstreams/samples"
	if _, err := os.Stat(samples); err != nil {
		t.Skip("the captured answers are not here: ", err)
	}
	lone := loneExchanges(t, samples)
	if len(lone) < 500 {
		t.Errorf("only %d captured answers", len(lone))
	}
	dir, at := t.TempDir(), 0
	upstreams := transport(func(*http.Request) (*http.Response, error) {
		body, err := os.ReadFile(lone[at].path)
		header := http.Header{}
		for name, value := range lone[at].Headers {
			header.Set(name, value)
		}
		return &http.Response{StatusCode: lone[at].Status, Header: header, Body: io.NopCloser(bytes.NewReader(body))}, err
	})
	recorder, err := replay.Record(dir, upstreams)
	if err != nil {
		t.Fatal(err)
	}
	live := make([]answer, len(lone))
	for at = range lone {
		live[at] = lone[at].send(t, recorder)
	}
	player, err := replay.Play(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range lone {
		if diff := cmp.Diff(live[i], c.send(t, player), cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s: %s %s (-live +played):\n%s", c.path, c.Request.Method, c.Request.URL, diff)
		}
	}
}

// answer is what a caller sees of a response.
type answer struct {
	status int
	header http.Header
	body   string
}

// loneExchanges returns the captured exchanges whose request occurs once, and does not obtain a token.
func loneExchanges(t *testing.T, samples string) (lone []captured) {
	t.Helper()
	all, times := []captured{}, map[string]int{}
	err := filepath.WalkDir(samples, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "MANIFEST.json" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var list []captured
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		for _, c := range list {
			c.path = filepath.Join(filepath.Dir(path), c.File)
			all = append(all, c)
			times[c.Request.Method+c.Request.URL+string(c.Request.Body)]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		ofToken := strings.Contains(string(c.Request.Body), "grant_type") // these are not recorded
		if times[c.Request.Method+c.Request.URL+string(c.Request.Body)] == 1 && !ofToken {
			lone = append(lone, c)
		}
	}
	return lone
}

// send sends the request of c by a transport.
func (c captured) send(t *testing.T, by http.RoundTripper) answer {
	t.Helper()
	body := []byte(c.Request.Body)
	var form string
	if json.Unmarshal(body, &form) == nil {
		body = []byte(form)
	}
	r, err := http.NewRequestWithContext(t.Context(), c.Request.Method, c.Request.URL, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := by.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read whole
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}
