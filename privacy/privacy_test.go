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
		t.Error("whoever has her earlier handle now is taken for her")
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
	marks, set := h.Marks(page()), map[privacy.Name]struct{}{}
	for i := range 1_000_000 {
		set[h.ObjectName(platform.GitHub, fmt.Sprint(i))] = struct{}{}
	}
	for b.Loop() {
		if marks.Any(set) {
			b.Fatal("nobody on the page is blocked")
		}
	}
}
