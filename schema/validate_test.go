package schema

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func sound() *Track {
	return &Track{Common: Common{Platform: platform.Mock, ID: "1", URL: "https://mock.example/1", FetchedAt: noon, Source: Own}}
}

func message() *Post {
	return &Post{Common: sound().Common, Author: Actor{Platform: platform.Mock, ID: "9", Handle: "ann"}}
}

// TestWhatJSONCannotWriteIsBroken checks values that were once considered valid, and failed when the answer was
// encoded.
func TestWhatJSONCannotWriteIsBroken(t *testing.T) {
	t.Parallel()
	far := time.FixedZone("far", 25*60*60)
	tests := []struct {
		field  string
		object Object
	}{
		{"fetched_at", func() Object { s := sound(); s.FetchedAt = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC); return s }()},
		{"fetched_at", func() Object { s := sound(); s.FetchedAt = noon.In(far); return s }()},
		{"released_at", func() Object { s := sound(); s.ReleasedAt = new(time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)); return s }()},
		{"duration_s", func() Object { s := sound(); s.DurationS = new(math.NaN()); return s }()},
		{"duration_s", func() Object { s := sound(); s.DurationS = new(math.Inf(1)); return s }()},
		{"media[0].duration_s", func() Object {
			p := message()
			p.Media = []Media{{Type: Audio, URL: "https://mock.example/a", DurationS: new(math.Inf(1))}}
			return p
		}()},
		{"countries[1].share", func() Object {
			return &Audience{Common: sound().Common, Handle: "a", Countries: []AudienceCountry{{}, {Share: math.NaN()}}}
		}()},
		{"enrichment.sentiment.score", func() Object {
			s := sound()
			s.Enrichment = Some(&Enrichment{Dialect: MSA, Sentiment: Sentiment{Label: Neutral, Score: math.NaN()}})
			return s
		}()},
		{"raw", func() Object { s := sound(); s.Raw = json.RawMessage(`{"a":`); return s }()},
	}
	for _, tt := range tests {
		if _, err := Marshal(tt.object); err == nil {
			t.Errorf("%s: it can be written, so the test shows nothing", tt.field)
		}
		wantBroken(t, tt.object, tt.field)
	}
	edge := sound()
	edge.FetchedAt = time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", 24*60*60-60))
	if _, err := Marshal(edge); err != nil || edge.Check() != nil {
		t.Errorf("the last moment that can be written: %v, %v", err, edge.Check())
	}
}

func wantBroken(t *testing.T, o Object, field string) {
	t.Helper()
	e, ok := errors.AsType[*FieldError](o.Check())
	if !ok || e.Field != field {
		t.Errorf("Check() = %v, want a FieldError at %s", e, field)
	}
}

func TestIdsAndHandlesHoldNoControlCharacters(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"a\x00", "\n", "a\x7fb", "a\u0085b", "\xff"} {
		id, handle, reply := message(), message(), &Comment{Common: sound().Common, PostID: "1", Author: message().Author}
		id.ID, handle.Author.Handle, reply.ReplyToID = bad, bad, new(bad)
		wantBroken(t, id, "id")
		wantBroken(t, handle, "author.handle")
		wantBroken(t, reply, "reply_to_id")
		wantBroken(t, &Profile{Common: sound().Common, Handle: bad}, "handle")
	}
	good := message()
	good.ID, good.Text = "سلمى 🌱/%2F", "line\nline\x00" // a text is not an id
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

func TestEnrichmentKeepsToTheVocabularies(t *testing.T) {
	t.Parallel()
	whole := func() Enrichment {
		return Enrichment{
			Dialect: Gulf, Sentiment: Sentiment{Label: Neutral},
			Entities: []Entity{{"Riyadh", "location"}, {"Falcon", "animal"}, {"2030", "date"}}, Topics: []Topic{"astrology", "travel"},
		}
	}
	e := whole()
	if err := e.Check(); err == nil || !strings.HasPrefix(err.Error(), "entities[1].type: ") {
		t.Errorf("Check() = %v, want it to name the invented type", err)
	}
	shared := e
	if n := e.DropInvented(); n != 2 {
		t.Errorf("DropInvented() = %d, want 2", n)
	}
	want := Enrichment{
		Dialect: Gulf, Sentiment: Sentiment{Label: Neutral},
		Entities: []Entity{{"Riyadh", "location"}, {"2030", "date"}}, Topics: []Topic{"travel"},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(whole(), shared); diff != "" {
		t.Errorf("the enricher's own arrays were written to (-want +got):\n%s", diff)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
	if n := e.DropInvented(); n != 0 {
		t.Errorf("DropInvented() of known words = %d", n)
	}
	topic := whole()
	topic.Entities = nil
	if err := topic.Check(); err == nil || !strings.HasPrefix(err.Error(), "topics[0]: ") {
		t.Errorf("Check() = %v, want it to name the invented topic", err)
	}
}

func TestPlaceCountsAlikeWhatBreaksAlike(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"id": "id", "media[12].thumbnail_url": "media.thumbnail_url", "links[3]": "links", "a[0][1].b[2]": "a.b", "": "",
	} {
		if got := (&FieldError{Field: field}).Place(); got != want {
			t.Errorf("Place of %q = %q, want %q", field, got, want)
		}
	}
}

// TestTagsAreUnderstood finds a tag that is unknown, or that does not fit its field's type.
func TestTagsAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, typ := range structs() {
		for _, f := range Fields(typ) {
			kind := element(f.Type).Kind()
			text, number := kind == reflect.String, kind == reflect.Int64 || kind == reflect.Float64
			if (f.Min != nil || f.Max != nil) && !text && !number {
				t.Errorf("%v.%s: bounds of a %v", typ, f.Name, kind)
			}
			if f.Form != "" && (!text || !slices.Contains([]Form{FormURI, FormID}, f.Form)) {
				t.Errorf("%v.%s: the form %q of a %v", typ, f.Name, f.Form, kind)
			}
			if len(f.Words.Words) > 0 && !text {
				t.Errorf("%v.%s: words of a %v", typ, f.Name, kind)
			}
		}
	}
}

// FuzzURI compares the fast path with the parser.
func FuzzURI(f *testing.F) {
	for _, s := range []string{
		"https://a.example/b?c=d#e", "http://a", "https://", "https:///b", "https://a.example:80x/", "https://[::1]/", "https://a/%zz",
		"https://a?b", "https://A/", "mailto:a@b", "a", "https://a.example/a:b//c", "https://..-", "https://a#%", "https://a.example/\x7f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := url.Parse(s)
		if plainURL(s) && checkURI(s) == nil && (err != nil || u.Scheme == "" || u.Host == "") {
			t.Errorf("%q passes, but is no address: %v", s, err)
		}
	})
}

// TestAnIDThatCannotBeAskedForIsRefused checks the maximum length of ids, which is that of parameters.
func TestAnIDThatCannotBeAskedForIsRefused(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{MaxID: true, MaxID + 1: false, 5_000_000: false} {
		for name, set := range map[string]func(*Profile){
			"id":     func(p *Profile) { p.ID = strings.Repeat("7", n) },
			"handle": func(p *Profile) { p.Handle = strings.Repeat("a", n) },
		} {
			p := &Profile{Common: sound().Common, Handle: "ann"}
			set(p)
			err := p.Check()
			if (err == nil) != want || err != nil && len(err.Error()) > 200 {
				t.Errorf("%s of %d bytes: %.300v", name, n, err)
			}
		}
	}
}
