package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{ // want "" is the unchanged text
		// Addresses.
		{"mail ann@example.com", "mail [redacted]"},
		{"Ann.Smith+news@mail.example.co.uk.", "[redacted]."},
		{"(ann@example.com), bob@example.org;", "([redacted]), [redacted];"},
		{"mailto:ann@example.com?subject=hi", "mailto:[redacted]?subject=hi"},
		{"بريدي: سلمى@موقع.شبكة شكرا", "بريدي: [redacted] شكرا"},
		{"ann_1@xn--80ak6aa92e.xn--p1ai", "[redacted]"},
		{"x@y.zz", "[redacted]"},
		{"@ann@example.social", ""},
		{"git@example.com:ann/repo.git", ""},
		{"icon@2x.png logo@3x.jpeg", ""},
		{"https://example.com/@ann.smith?mail=ann@example.com", ""},
		{"react@18.2.0", ""},
		{"ann @ example.com", ""},
		{"ann@localhost", ""},
		{"@ann.smith says", ""},
		{"ann@example.com@", ""},
		// Telephone numbers.
		{"+966 55 123 4567", "[redacted]"},
		{"call +966551234567 now", "call [redacted] now"},
		{"00966551234567", "[redacted]"},
		{"00 966 55 123 4567", "[redacted]"},
		{"+١ (٤١٥) ٥٥٥-٢٦٧١", "[redacted]"},
		{"للتواصل ٠٥٥١٢٣٤٥٦٧", "للتواصل [redacted]"},
		{"واتساب0551234567", "واتساب[redacted]"},
		{"جوال: ۰۹۱۲۳۴۵۶۷۸۹ فقط", "جوال: [redacted] فقط"},
		{"+\u200e966\u200f 55 123 4567", "[redacted]"},
		{"055-123-4567 or 0551234568", "[redacted] or [redacted]"},
		{"0551234567 100 SAR", "[redacted] 100 SAR"},
		{"020 7946 0958", "[redacted]"},
		{"(02) 9374 4000", "[redacted]"},
		{"01.23.45.67.89", "[redacted]"},
		{"(415) 555-2671", "[redacted]"},
		{"415.555.2671", "[redacted]"},
		{"1-415-555-2671!", "[redacted]!"},
		{"+33 1 23 45 67 89", "[redacted]"},
		{"WhatsApp: 966551234567", "WhatsApp: [redacted]"},
		{"☎ 22334455", "☎ [redacted]"},
		{"tel:22334455", "tel:[redacted]"},
		{"https://wa.me/966551234567?text=hi", "https://wa.me/[redacted]?text=hi"},
		{"wa.me/966551234567", "wa.me/[redacted]"},
		{"https://api.whatsapp.com/send?phone=966551234567&text=x", "https://api.whatsapp.com/send?phone=[redacted]&text=x"},
		{"০৫৫১২৩৪৫৬৭৮", "[redacted]"},
		{"open 24/7 call 0551234567", "open 24/7 call [redacted]"},
		{"0551234567, 0551234568", "[redacted], [redacted]"},
		// Neither.
		{"2026-11-23 10:30:00", ""},
		{"2026-11-23T10:30:00+03:00", ""},
		{"Wed Oct 10 20:19:24 +0000 2018", ""},
		{"01-15-2024 10:30", ""},
		{"01/02/2024 1234", ""},
		{"20240115103000", ""},
		{"1700000000", ""},
		{"1700000000.123456", ""},
		{"post 7123456789012345678 was read", ""},
		{"urn:li:activity:7123456789012345678", ""},
		{"123456789012345_0551234567", ""},
		{"id: 0551234567", ""},
		{"ISBN 0-306-40615-2", ""},
		{"ISBN: 0306406152", ""},
		{"order #0551234567", ""},
		{"$0551234567", ""},
		{"price 1,234,567.89 SAR", ""},
		{"1 234 567 890 SAR", ""},
		{"0551234567,50", ""},
		{"0123456789€", ""},
		{"24.713612345, 046.67530123", ""},
		{"192.168.100.200", ""},
		{"4000 0012 3456 7899", ""},
		{"0123 4567 8901 2345", ""},
		{"SA03 8000 0000 6080 1016 7519", ""},
		{"https://example.com/p/0551234567", ""},
		{"http://example.com/0551234567-x www.example.com/0551234568", ""},
		{"v0551234567", ""},
		{"0551234567abc", ""},
		{"iPhone 22334455", ""},
		{"1080 1920 2560", ""},
		{"+1,500,000 views", ""},
		{"5+0551234567", ""},
		{"0.123456789012", ""},
		{"☎", ""},
		{"+", ""},
		{"((((", ""},
	}
	r := New(true, true)
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.text
		}
		got, found := r.Text(tt.text, true)
		if got != want {
			t.Errorf("Text(%q) = %q; want %q", tt.text, got, want)
		}
		if n := strings.Count(got, Mark); n != found.Emails+found.Phones {
			t.Errorf("Text(%q) counts %v; %d are blanked", tt.text, found, n)
		}
		if again, more := r.Text(got, true); again != got || more.Any() {
			t.Errorf("Text(%q) = %q, again %v", got, again, more)
		}
	}
}

func TestEachKindAlone(t *testing.T) {
	t.Parallel()
	const text = "ann@example.com +966551234567"
	if got, found := New(true, false).Text(text, true); got != "[redacted] +966551234567" || found != (Found{Emails: 1}) {
		t.Errorf("emails: %q, %v", got, found)
	}
	if got, found := New(false, true).Text(text, true); got != "ann@example.com [redacted]" || found != (Found{Phones: 1}) {
		t.Errorf("phones: %q, %v", got, found)
	}
	if r := New(false, false); r != nil {
		t.Error("a redactor that blanks nothing")
	}
	if got, found := (*Redactor)(nil).JSON([]byte(text), nil); string(got) != text || found.Any() {
		t.Errorf("no redactor: %q, %v", got, found)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	ids := func(field []byte) bool { return string(field) == "id" || string(field) == "handle" }
	tests := []struct {
		name, data string
		typed      bool
		want       string
		found      Found
	}{
		{"nothing", `{"a":"b","n":1234567890,"l":[1,true,null,"x"]}`, false, `{"a":"b","n":1234567890,"l":[1,true,null,"x"]}`, Found{}},
		{"a string", `"ann@example.com"`, false, `"[redacted]"`, Found{Emails: 1}},
		{
			"values, also in lists, but not names", `{"ann@example.com":{"a":["ann@example.com","b"]},"c":"d"}`, false,
			`{"ann@example.com":{"a":["[redacted]","b"]},"c":"d"}`,
			Found{Emails: 1},
		},
		{
			"escapes", `{"a":"\u0661\u0662 \u0627\u062a\u0635\u0644 \u0660\u0665\u0665\u0661\u0662\u0663\u0664\u0665\u0666\u0667 \"ann\u0040example.com\" <b>\\"}`,
			false, `{"a":"١٢ اتصل [redacted] \"[redacted]\" <b>\\"}`,
			Found{1, 1},
		},
		{"a string of digits in raw is an id", `{"a":"0551234567","b":"٠٥٥١٢٣٤٥٦٧"}`, false, `{"a":"0551234567","b":"٠٥٥١٢٣٤٥٦٧"}`, Found{}},
		{"a string of digits in a text is a number", `{"text":"0551234567","id":"0551234567","handle":"0551234567"}`, true, `{"text":"[redacted]","id":"0551234567","handle":"0551234567"}`, Found{Phones: 1}},
		{
			"fields of telephones", `{"contact_phone_number":"966551234567","phone":966551234567,"phone_count":3,"whatsappNumber":"55512","iphone":"12345678","phone_url":"https://x.example/12345"}`,
			false, `{"contact_phone_number":"[redacted]","phone":"[redacted]","phone_count":3,"whatsappNumber":"[redacted]","iphone":"12345678","phone_url":"https://x.example/12345"}`,
			Found{Phones: 3},
		},
		{"an address at its end", `{"a":"say \"ann@example.com\""}`, false, `{"a":"say \"[redacted]\""}`, Found{Emails: 1}},
		{"broken", `{"a":"ann@example.com","b`, false, `{"a":"[redacted]","b`, Found{Emails: 1}},
		{"a list in a field", `{"phone":[{"a":1},[966551234567]]}`, false, `{"phone":[{"a":1},["[redacted]"]]}`, Found{Phones: 1}},
		{"not JSON", `]}ann@example.com"`, false, `]}ann@example.com"`, Found{}},
	}
	for _, tt := range tests {
		skip := ids
		if !tt.typed {
			skip = nil
		}
		before := tt.data
		got, found := New(true, true).JSON([]byte(tt.data), skip)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || found != tt.found {
			t.Errorf("%s: %v, want %v (-want +got):\n%s", tt.name, found, tt.found, diff)
		}
		if before != tt.data {
			t.Errorf("%s: the data was written to", tt.name)
		}
	}
}

// FuzzJSON looks for documents that become invalid JSON, and for a second pass that finds something.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":"ann@example.com","b":["+966551234567"]}`, `{"phone":1234567}`, `{"phone":-1234567.5e3}`, `"\ud83d\udcde 22334455"`, `"wa.me/22334455"`, `[[[["((٠"]]]]`,
	} {
		f.Add(seed)
	}
	r := New(true, true)
	f.Fuzz(func(t *testing.T, data string) {
		if !json.Valid([]byte(data)) {
			r.JSON([]byte(data), nil)
			return
		}
		got, found := r.JSON([]byte(data), nil)
		if !json.Valid(got) {
			t.Fatalf("%s becomes %s", data, got)
		}
		if !found.Any() && string(got) != data {
			t.Fatalf("%s becomes %s, and nothing was found", data, got)
		}
	})
}

// worst are texts that would be slow to search if a part were searched repeatedly.
var worst = map[string]string{
	"digits": "1", "zeros": "0", "plus": "+", "at": "a@", "dots": "a.", "brackets": "(", "groups": "12 ", "arabic": "٠ ", "colon": "w:", "words": "tel ", "cue": "☎", "mixed": "a@b.c ",
}

func TestTheTimeGrowsInProportionToTheLength(t *testing.T) {
	t.Parallel()
	r := New(true, true)
	for name, part := range worst {
		cost := func(n int) time.Duration { // the minimum of several runs, because of other load
			text, least := strings.Repeat(part, n), time.Hour
			for range 7 {
				begun := time.Now()
				r.Text(text, true)
				least = min(least, time.Since(begun))
			}
			return max(least, time.Microsecond)
		}
		const n = 2000
		if short, long := cost(n), cost(16*n); long > 16*8*short {
			t.Errorf("%s: %d of them take %v, 16 times as many %v", name, n, short, long)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	var posts []string
	for i := range 50 {
		posts = append(posts, fmt.Sprintf(`{"platform":"mock","id":"%d","url":"https://mock.example/post/%d","text":"%s","likes":1234,"created_at":"2026-11-23T10:30:00Z"}`,
			i, i, strings.Repeat("A post of some length, with a price of 1,299.00 SAR and the year 2026. ", 4)))
	}
	data := []byte("[" + strings.Join(posts, ",") + "]")
	r := New(true, true)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, found := r.JSON(data, nil); found.Any() {
			b.Fatal(found)
		}
	}
}
