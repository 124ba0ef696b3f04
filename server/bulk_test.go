package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/accounts"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/internal/await"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// bulkLines returns a file of n profiles, with handles that begin with p.
func bulkLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"platform":"mock","operation":"profile","params":{"handle":"p%d"}}`+"\n", i)
	}
	return b.String()
}

func (s *site) bulkState(t *testing.T, secret, name string) (j schema.BulkJob) {
	t.Helper()
	var e schema.Envelope[schema.BulkJob]
	if r := s.getAs(t, secret, "/v1/bulk?id="+name); r.status != http.StatusOK || json.Unmarshal(r.body, &e) != nil {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	return e.Data
}

func TestBulkJobsAreManagedOverHTTP(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	file := bulkLines(3) + "{\n"
	for _, step := range []struct {
		name, method, path, body string
		status                   int
		contains                 string
	}{
		{"an unknown option", "PUT", "/manage/bulk/night?max_credit=5", file, 400, `max_credit\" (did you mean max_credits?)`},
		{"a wrong option", "PUT", "/manage/bulk/night?order=dearest", file, 400, `\"order\"`},
		{"no line", "PUT", "/manage/bulk/night", "", 400, "no lines"},
		{
			"made", "PUT", "/manage/bulk/night?max_credits=50&order=cheapest", file, 201,
			`"accepted":3,"refused":[{"line":4,"problem":{`,
		},
		{"the same again", "PUT", "/manage/bulk/night?order=cheapest&max_credits=50", file, 200, `"credits":{"least":3,"most":3}`},
		{"stopped", "DELETE", "/manage/bulk/night", "", 200, `"id":"night"`},
		{"stopped when there is none", "DELETE", "/manage/bulk/day", "", 404, "no bulk job of that name"},
	} {
		r := s.send(t, secret, step.method, step.path, step.body)
		if r.status != step.status || !strings.Contains(string(r.body), step.contains) {
			t.Errorf("%s: status %d, want %d and %q: %s", step.name, r.status, step.status, step.contains, r.body)
		}
		if step.name == "made" {
			await.Until(t, "the job to be done", func() bool { return s.bulkState(t, secret, "night").State == "done" })
		}
	}
	if r := s.send(t, s.Secret, "PUT", "/manage/bulk/night", file); r.status != http.StatusUnauthorized {
		t.Errorf("a key that does not manage: status %d, want 401: %s", r.status, r.body)
	}
	if r := s.get(t, "/v1/bulk"); r.status != http.StatusOK || !strings.Contains(string(r.body), `{"data":[{"id":"night"`) {
		t.Errorf("the list: status %d, want 200 and the job night: %s", r.status, r.body)
	}
	if r := s.get(t, "/v1/bulk?id=day"); r.status != http.StatusNotFound {
		t.Errorf("an absent job: status %d, want 404: %s", r.status, r.body)
	}
}

func TestResultsOfABulkJobArePagesAndLines(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	if r := s.send(t, secret, "PUT", "/manage/bulk/night", bulkLines(5)); r.status != http.StatusCreated {
		t.Fatalf("status %d, want 201: %s", r.status, r.body)
	}
	await.Until(t, "the job to be done", func() bool { return s.bulkState(t, secret, "night").State == "done" })

	var pages [][]int64
	for path := "/v1/bulkresults?id=night&limit=2"; path != ""; {
		var e schema.Envelope[[]schema.BulkResult]
		r := s.get(t, path)
		if r.status != http.StatusOK || json.Unmarshal(r.body, &e) != nil {
			t.Fatalf("status %d, want 200 and a page: %s", r.status, r.body)
		}
		var lines []int64
		for _, row := range e.Data {
			lines = append(lines, row.Line)
		}
		if pages, path = append(pages, lines), ""; e.Meta.NextCursor != "" {
			path = "/v1/bulkresults?id=night&limit=2&cursor=" + url.QueryEscape(e.Meta.NextCursor)
		}
	}
	if diff := cmp.Diff([][]int64{{1, 2}, {3, 4}, {5}}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}

	for path, want := range map[string]int{"/v1/bulkresults?id=night": 5, "/v1/bulkresults?id=night&after=3": 2} {
		r := s.with(t, path, "Accept", "application/x-ndjson")
		if typ := r.header.Get("Content-Type"); bytes.Count(r.body, []byte("\n")) != want || typ != "application/x-ndjson" {
			t.Errorf("%s: got %s; want %d lines of application/x-ndjson: %s", path, typ, want, r.body)
		}
		if link := r.header.Get("Link"); link != "" {
			t.Errorf("%s: a job that is done has the link %s", path, link)
		}
	}
}

func TestResultsOfARunningBulkJobHaveALink(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	file := bulkLines(2) + `{"platform":"mock","operation":"profile","params":{"handle":"p2"}}`
	if _, err := s.Ledger.Reserve(t.Context(), credits.Spender{Account: s.Key.Account}, time.Hour, 1000); err != nil {
		t.Fatal(err)
	}
	if r := s.send(t, secret, "PUT", "/manage/bulk/night", file); r.status != http.StatusCreated {
		t.Fatalf("status %d, want 201: %s", r.status, r.body)
	}
	await.Until(t, "the job to wait", func() bool { return s.bulkState(t, secret, "night").State == "waiting" })
	r := s.with(t, "/v1/bulkresults?id=night", "Accept", "application/x-ndjson")
	if len(r.body) > 0 {
		t.Errorf("a job that waits has results: %s", r.body)
	}
	next, ok := strings.CutSuffix(strings.TrimPrefix(r.header.Get("Link"), "<"), `>; rel="next"`)
	if !ok {
		t.Fatalf("the link is %q", r.header.Get("Link"))
	}
	if _, err := s.Open.Operator().Accounts().Grant(t.Context(), s.Key.Account, schema.CreditGrant{Credits: 3}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the job to be done", func() bool { return s.bulkState(t, secret, "night").State == "done" })
	r = s.with(t, "/v1/bulkresults"+next, "Accept", "application/x-ndjson")
	if bytes.Count(r.body, []byte("\n")) != 3 || r.header.Get("Link") != "" {
		t.Errorf("the job is done: got the link %q; want none, and 3 lines: %s", r.header.Get("Link"), r.body)
	}
}

func TestAnIncompleteFileStartsNoBulkJob(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t, server.WithLimits(server.Limits{BodyTimeout: 100 * time.Millisecond}))
	for _, name := range []string{"stops", "closed"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(conn, "PUT /manage/bulk/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\n%s",
			name, secret, bulkLines(1))
		if err != nil {
			t.Fatal(err)
		}
		if name == "stops" {
			answer, _ := io.ReadAll(conn)
			if !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || !strings.Contains(string(answer), "the file is incomplete") {
				t.Errorf("got %s; want status 400 and that the file is incomplete", answer)
			}
		}
		_ = conn.Close()
	}
	if r := s.send(t, secret, "PUT", "/manage/bulk/whole", bulkLines(1)); r.status != http.StatusCreated {
		t.Errorf("a whole file: status %d, want 201: %s", r.status, r.body)
	}
	await.Until(t, "only the whole file to be a job", func() bool {
		r := s.get(t, "/v1/bulk")
		return strings.Contains(string(r.body), `"id":"whole"`) && strings.Count(string(r.body), `"id"`) == 1
	})
}

func TestBulkJobsOfAServer(t *testing.T) {
	t.Parallel()
	s, secret := openWithChanges(t)
	client, err := remote.New(s.web.URL, remote.Config{Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	bulk := client.Account().Bulk()
	for _, want := range []bool{true, false} {
		made, err := bulk.Start(t.Context(), accounts.BulkRequest{Name: "night", MaxCredits: 9, File: strings.NewReader(bulkLines(3))})
		if err != nil || made.New != want || made.Accepted != 3 || made.Credits.Most != 3 {
			t.Fatalf("Start = %+v, %v; want 3 accepted calls of 3 credits, new: %t", made, err, want)
		}
	}
	await.Until(t, "the job to be done", func() bool {
		j, err := bulk.Status(t.Context(), "night")
		if err != nil {
			t.Fatal(err)
		}
		return j.State == "done"
	})
	page, err := bulk.Results(t.Context(), accounts.BulkResultsRequest{Name: "night", After: 1})
	if err != nil || len(page.Data) != 2 || page.Data[0].Line != 2 || page.Data[0].CreditsUsed != 1 || page.Meta.NextCursor != "" {
		t.Errorf("Results = %+v, %v; want the lines 2 and 3", page, err)
	}
	list, err := bulk.List(t.Context(), accounts.BulkJobsRequest{})
	if err != nil || len(list.Data) != 1 || list.Data[0].Found != 3 {
		t.Errorf("List = %+v, %v; want one job with 3 results", list, err)
	}
	if j, err := bulk.Stop(t.Context(), "night"); err != nil || j.State != "done" {
		t.Errorf("Stop = %+v, %v; want a job that is done", j, err)
	}
}
