package upstream_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// TestCredentialsAreBlankedFromEveryField sends a credential in each field that may carry one, whose name a provider may
// write in any case.
func TestCredentialsAreBlankedFromEveryField(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef"
	for name, value := range map[string]string{
		"authorization": "Bearer " + secret, "X-Api-Key": secret, "x-api-key": secret, "X-GOOG-API-KEY": secret,
		"cookie": "lang=ar; session=" + secret, "x-own": secret,
	} {
		up := memory(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Echo", r.Header.Get(name))
			reply(w, 200, `{"a":"`+r.Header.Get(name)+`"}`)
		})
		c := up.client(upstream.Config{Header: http.Header{name: {value}}, Credentials: []string{"x-own"}})
		res, err := c.Do(t.Context(), upstream.Get("x"))
		if err != nil {
			t.Fatal(err)
		}
		if all := string(res.Body) + res.Header.Get("X-Echo"); strings.Contains(all, secret) {
			t.Errorf("of %s: %s is left", name, all)
		}
	}
}

// TestCredentialsAreBlankedInEveryForm writes a credential as it is, and as a URL, JSON and base64 write it.
func TestCredentialsAreBlankedInEveryForm(t *testing.T) {
	t.Parallel()
	const secret = "Pa55/word+of=ours"
	each := func(s, format string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, format, s[i])
		}
		return b.String()
	}
	tests := []struct{ name, written string }{
		{"plain", secret},
		{"JSON", each(secret, `\u%04X`)},
		{"JSON in small letters", each(secret, `\u%04x`)},
		{"JSON with escaped slashes", strings.ReplaceAll(secret, "/", `\/`)},
		{"a query", url.QueryEscape(secret)},
		{"a query in small letters", strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d").Replace(url.QueryEscape(secret))},
		{"a path", url.PathEscape(secret)},
		{"every byte in a URL", each(secret, "%%%02X")},
		{"every byte in a URL, in small letters", each(secret, "%%%02x")},
		{"one within the other", secret[:5] + secret + secret[5:]},
	}
	for _, before := range []string{"", "u", "us", "user:"} {
		b64 := base64.StdEncoding.EncodeToString([]byte(before + secret))
		tests = append(tests, struct{ name, written string }{"base64 behind " + before, b64})
		b64 = base64.RawURLEncoding.EncodeToString([]byte(before + secret + "?"))
		tests = append(tests, struct{ name, written string }{"base64 of a URL behind " + before, b64})
	}
	far := strings.Repeat("x", 1<<16)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, around := range []string{"", far} {
				up := memory(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("X-Echo", tt.written)
					reply(w, 200, `{"a":"`+around+`<`+tt.written+`>","b":"\u0627\n%41&amp;"}`)
				})
				c := up.client(upstream.Config{Header: http.Header{"Authorization": {"Bearer " + secret}}})
				res, err := c.Do(t.Context(), upstream.Get("x"))
				if err != nil {
					t.Fatal(err)
				}
				body := strings.ReplaceAll(string(res.Body), far, "")
				head, rest, _ := strings.Cut(body, "<")
				left, tail, _ := strings.Cut(rest, ">")
				if head != `{"a":"` || tail != `","b":"\u0627\n%41&amp;"}` {
					t.Errorf("what is around it has changed: %s", body)
				}
				if len(left) > 10 || len(res.Header.Get("X-Echo")) > 10 { // the ends of base64 may belong to other text
					t.Errorf("%q is left of %q, and %q in the head", left, tt.written, res.Header.Get("X-Echo"))
				}
			}
		})
	}
}

func FuzzBlank(f *testing.F) {
	f.Add(`{"a":"\u0050&#80;%50\\"}`)
	f.Add(`&#x;&#;&;\u12%4\`)
	f.Fuzz(func(t *testing.T, body string) {
		up := memory(func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		c := up.client(upstream.Config{Header: http.Header{"Authorization": {"Bearer 0123456789"}}})
		res, err := c.Do(t.Context(), upstream.Get("x"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(res.Body), "0123456789") && !strings.Contains(body, "01234567890123456789") {
			t.Errorf("%q is left of %q", res.Body, body)
		}
	})
}

// BenchmarkBlank processes a megabyte in which every other character is escaped, and a small answer.
func BenchmarkBlank(b *testing.B) {
	large := `"` + strings.Repeat(`\u0050\/&amp;%20 and some words that are not`, 1<<20/44) + `"`
	for name, body := range map[string]string{"large": large, "small": `{"text":"` + strings.Repeat("some words that are not escaped ", 1<<10/32) + `"}`} {
		up := memory(func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		for credentials, header := range map[string]http.Header{"none": nil, "one": {"Authorization": {"Bearer 0123456789abcdef"}}} {
			b.Run(name+"/"+credentials, func(b *testing.B) {
				c := up.client(upstream.Config{Header: header})
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if _, err := c.Do(b.Context(), upstream.Get("x")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
