package privacy_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/privacy/privacytest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	privacytest.Run(t, func(_ *testing.T, now func() time.Time) privacy.Blocklist {
		return privacy.NewMemory(privacy.MemoryConfig{Now: now})
	})
}

func hasher() *privacy.Hasher { return privacy.NewHasher(bytes.Repeat([]byte{1}, privacy.SecretLen)) }

func TestMarksOfJSON(t *testing.T) {
	t.Parallel()
	h := hasher()
	tests := []struct {
		name, data string
		in         bool
	}{
		{"the author of a post", `[{"platform":"x","id":"1","author":{"platform":"x","id":"42","handle":"Salma"}}]`, true},
		{"a profile", `{"platform":"x","id":"42","url":"u","fetched_at":"t","handle":"salma"}`, true},
		{"a handle with an @", `{"handle":"@SALMA","id":"42","platform":"x"}`, true},
		{"escapes", `{"platform":"x","id":"42","handle":"s\u0061lma"}`, true},
		{"deep below", `{"a":[[{"b":{"platform":"x","id":"42","handle":"salma"}}]]}`, true},
		{"white space", "{ \"platform\" : \"x\",\n\"id\": \"42\", \"handle\" :\"salma\" }", true},
		{"another platform", `{"platform":"github","id":"42","handle":"salma"}`, false},
		{"another handle", `{"platform":"x","id":"43","handle":"salma2"}`, false},
		{"a mention in a text", `{"platform":"x","id":"1","text":"{\"platform\":\"x\",\"handle\":\"salma\"}"}`, false},
		{"a list of mentions", `{"platform":"x","id":"1","mentions":["salma"]}`, false},
		{"an object with her id", `{"platform":"x","id":"42","text":"salma"}`, false},
		{"no platform", `{"id":"42","handle":"salma"}`, false},
		{"nothing", ``, false},
		{"what is cut off", `{"platform":"x","id":"42","handle":"salma`, false},
		{"too many ends", `]}{"platform":"x","id":"42","handle":"salma"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := h.Subject(platform.X, "salma", "").Holds([]byte(tt.data)); got != tt.in {
				t.Errorf("Holds = %v, want %v", got, tt.in)
			}
		})
	}
}

func TestObjectsAreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	h := hasher()
	s := h.Subject(platform.X, "", "42")
	for data, in := range map[string]bool{
		`{"platform":"x","id":"42","author":{"platform":"x","id":"1","handle":"a"}}`:   true,
		`{"platform":"x","id":"42","fetched_at":"t","handle":"salma"}`:                 true,
		`{"platform":"x","id":"7","post_id":"42"}`:                                     true,
		`{"platform":"x","id":"7","product_id":"42"}`:                                  true,
		`{"platform":"x","id":"7","author":{"platform":"x","id":"42","handle":"a"}}`:   false,
		`{"platform":"x","id":"421","author":{"platform":"x","id":"1","handle":"42"}}`: false,
	} {
		if got := s.Holds([]byte(data)); got != in {
			t.Errorf("Holds(%s) = %v, want %v", data, got, in)
		}
	}
}

func TestTheIDOfAnAccountIsLearned(t *testing.T) {
	t.Parallel()
	h := hasher()
	s := h.Subject(platform.X, "salma", "")
	before := `{"platform":"x","id":"1","author":{"platform":"x","id":"42","handle":"once"}}`
	if s.Holds([]byte(before)) {
		t.Error("nothing says yet that it is hers")
	}
	if !s.Holds([]byte(`{"platform":"x","id":"42","handle":"salma"}`)) || !s.Holds([]byte(before)) {
		t.Error("what she wrote by an earlier handle is not found by her id")
	}
	if s.Holds([]byte(`{"platform":"x","id":"2","author":{"platform":"x","id":"43","handle":"once"}}`)) {
		t.Error("the account that has her earlier handle now is taken for her")
	}
	if got := s.Own(); len(got) != 2 {
		t.Errorf("she has the names %v, want two", got)
	}
}

func TestHashesNeedTheSecret(t *testing.T) {
	t.Parallel()
	a, b := hasher(), privacy.NewHasher(bytes.Repeat([]byte{2}, privacy.SecretLen))
	if a.HandleName(platform.X, "salma") == b.HandleName(platform.X, "salma") {
		t.Error("two deployments have the same name")
	}
	if a.Digest(a.Subject(platform.X, "salma", "")) == b.Digest(b.Subject(platform.X, "salma", "")) {
		t.Error("two deployments have the same digest")
	}
	if a.Digest(a.Subject(platform.X, "salma", "")) != a.Digest(a.Subject(platform.X, "Salma", "")) {
		t.Error("another way to write a handle is another subject")
	}
	if a.Digest(a.Subject(platform.X, "1", "")) == a.Digest(a.Subject(platform.X, "", "1")) {
		t.Error("an account and an object are one subject")
	}
}

func TestAttemptsAreThoseSinceTheLastEnd(t *testing.T) {
	t.Parallel()
	s := privacy.NewMemory(privacy.MemoryConfig{})
	for _, step := range []struct {
		subject, kind string
		want          int
	}{
		{"a", privacy.Begun, 1},
		{"b", privacy.Begun, 1},
		{"a", privacy.Begun, 2},
		{"a", privacy.Done, 0},
		{"a", privacy.Begun, 1},
	} {
		if _, err := s.Append(t.Context(), privacy.Receipt{Subject: step.subject, Kind: step.kind}); err != nil {
			t.Fatal(err)
		}
		if got, err := privacy.Attempts(t.Context(), s, step.subject); got != step.want || err != nil {
			t.Errorf("after %s of %s: %d, %v; want %d", step.kind, step.subject, got, err, step.want)
		}
	}
}

func TestAnySeesBothNamesOfAPair(t *testing.T) {
	t.Parallel()
	h := hasher()
	marks := h.Marks([]byte(`{"platform":"x","id":"42","handle":"salma"}`))
	if len(marks) != 16 {
		t.Fatalf("%d bytes of marks, want one pair", len(marks))
	}
	for name, in := range map[privacy.Name]bool{
		h.HandleName(platform.X, "salma"): true, h.HandleName(platform.X, "z"): false, 0: false,
	} {
		if got := marks.Any(map[privacy.Name]struct{}{name: {}}); got != in {
			t.Errorf("Any(%d) = %v, want %v", name, got, in)
		}
	}
	if diff := cmp.Diff(privacy.Marks(""), privacy.MarksOf(0)); diff != "" {
		t.Error(diff)
	}
}

// page returns a page of 50 posts by 50 authors.
func page() []byte {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `{"platform":"x","id":"%d","url":"https://x.com/%d","fetched_at":"t","source":"own","author":{"platform":"x",`+
			`"id":"%d","handle":"author%d","display_name":"An Author","avatar_url":null},"text":"%s"},`, i, i, i, i,
			strings.Repeat("word ", 40))
	}
	return []byte("[" + strings.TrimSuffix(b.String(), ",") + "]")
}

// TestSet asks sets of several sizes for what they have and for what they do not.
func TestSet(t *testing.T) {
	t.Parallel()
	h := hasher()
	for _, size := range []int{0, 1, 3, 4, 5, 100, 5000} {
		names := make([]privacy.Name, size)
		for i := range names {
			names[i] = h.ObjectName(platform.X, fmt.Sprint("in", i))
		}
		s := privacy.NewSet(append(names, names...))
		if s.Len() != size || len(s.Names()) != size {
			t.Errorf("a set of %d has %d names, %d listed", size, s.Len(), len(s.Names()))
		}
		for i, name := range names {
			if !s.Has(name) || !s.Meets(privacy.MarksOf(1, name)) {
				t.Fatalf("of %d the set lacks the %dth", size, i)
			}
		}
		for i := range 5000 {
			if name := h.ObjectName(platform.X, fmt.Sprint("out", i)); s.Has(name) || s.Meets(privacy.MarksOf(name)) {
				t.Fatalf("of %d the set has what was not put into it", size)
			}
		}
		if len(names) > 2 {
			out := h.ObjectName(platform.X, "out")
			want := []privacy.Name{min(names[0], names[2]), max(names[0], names[2])}
			got := s.Among(privacy.MarksOf(names[0], out, names[2], names[0]))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Among (-want +got):\n%s", diff)
			}
		}
	}
	var none *privacy.Set
	if none.Has(1) || none.Len() != 0 || none.Meets(privacy.MarksOf(1)) || len(none.Names()) != 0 {
		t.Error("a nil set has something")
	}
}

// BenchmarkMarks measures the marks of a page of 50 posts, which are made when it is read from upstream.
func BenchmarkMarks(b *testing.B) {
	h, data := hasher(), page()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		h.Marks(data)
	}
}

// BenchmarkBlocked checks a page of 50 posts against 1,000,000 blocked names.
func BenchmarkBlocked(b *testing.B) {
	h := hasher()
	marks, names := h.Marks(page()), make([]privacy.Name, 1_000_000)
	for i := range names {
		names[i] = h.ObjectName(platform.GitHub, fmt.Sprint(i))
	}
	set := privacy.NewSet(names)
	for b.Loop() {
		if set.Meets(marks) {
			b.Fatal("nobody on the page is blocked")
		}
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	h := hasher()
	account, object := h.Subject(platform.X, "Salma", ""), h.Subject(platform.X, "", "p42")
	tests := []struct {
		name, data    string
		account, post bool
	}{
		{"in a text", `{"platform":"x","text":"hi @SALMA, how are you"}`, true, false},
		{"at the end of a text", `{"platform":"x","text":"hi @salma."}`, true, false},
		{"in a web address", `{"platform":"x","text":"https://x.com/salma/status/p42"}`, true, true},
		{"in a list", `{"platform":"x","mentions":["ann","salma"]}`, true, false},
		{"first in a list", `{"platform":"x","mentions":["salma","ann"]}`, true, false},
		{"an object in a list", `{"platform":"x","ids":["p42"]}`, false, true},
		{"a longer handle", `{"platform":"x","text":"@salma_h @salma2 @salma.h @salma-h"}`, false, false},
		{"in Arabic", `{"platform":"x","text":"@salmaسلمى مرحبا"}`, false, false},
		{"before Arabic", `{"platform":"x","text":"@salma سلمى"}`, true, false},
		{"the bare word", `{"platform":"x","text":"salma"}`, false, false},
		{"her own handle", `{"platform":"x","handle":"salma","id":"p42"}`, false, false},
		{"elsewhere", `{"platform":"github","text":"@salma /p42"}`, false, false},
		{"nothing", ``, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := account.Mentioned([]byte(tt.data)); got != tt.account {
				t.Errorf("the account: %v, want %v", got, tt.account)
			}
			if got := object.Mentioned([]byte(tt.data)); got != tt.post {
				t.Errorf("the post: %v, want %v", got, tt.post)
			}
		})
	}
}
