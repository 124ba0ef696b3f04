package arabic_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/schema"
)

func TestModelFileHasItsSize(t *testing.T) {
	t.Parallel()
	info, err := os.Stat("model.bin")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 9_000_000 {
		t.Errorf("model.bin has %d bytes, want at most %d", info.Size(), 9_000_000)
	}
}

func TestModelFileCarriesItsLicence(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"MIT", "CC-BY-SA", "NOTICE"} {
		if !strings.Contains(arabic.Licence(), want) {
			t.Errorf("the licence line %q does not name %s", arabic.Licence(), want)
		}
	}
}

func TestEnrichNamesAHundredEntitiesAtMost(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	for _, text := range []string{
		strings.Repeat("#ا ", arabic.MaxBytes), strings.Repeat("@a ", arabic.MaxBytes), strings.Repeat("باريس ولندن و ", arabic.MaxBytes/8),
		strings.Repeat("زرت باريس مع محمد #ا ", arabic.MaxBytes/16),
	} {
		got, err := model.Enrich(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Entities) != arabic.MaxEntities {
			t.Errorf("%d entities of %q…, want %d", len(got.Entities), text[:20], arabic.MaxEntities)
		}
	}
}

func TestEnrichFindsInstitutionsAndDevices(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		text string
		want schema.Entity
	}{
		{"رحت جامعة الملك سعود امس", schema.Entity{Text: "جامعة الملك سعود", Type: "organization"}},
		{"البنك الأهلي يفتح السبت ولا لا؟", schema.Entity{Text: "البنك الأهلي", Type: "organization"}},
		{"شركة آبل نزلت ايفون جديد", schema.Entity{Text: "آبل", Type: "organization"}},
		{"طلعنا على وادي الموجب مع الشباب", schema.Entity{Text: "وادي الموجب", Type: "location"}},
		{"انكسرت شاشة هاتف نوكيا", schema.Entity{Text: "نوكيا", Type: "product"}},
		{"مشيت وادي حنيفة الصبح مع العيال", schema.Entity{Text: "وادي حنيفة", Type: "location"}},
		{"وينك يا لولوة من زمان ما شفناك", schema.Entity{Text: "لولوة", Type: "person"}},
	}
	for _, tt := range tests {
		got, err := model.Enrich(t.Context(), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(got.Entities, tt.want) {
			t.Errorf("entities of %q: %v, want %v", tt.text, got.Entities, tt.want)
		}
		if slices.Contains(got.Topics, "sports") {
			t.Errorf("topics of %q: %v", tt.text, got.Topics)
		}
	}
}

func TestEnrichFindsDatesAndAmounts(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		text string
		want []schema.Entity
	}{
		{"نتقابل الخميس عند الباب", []schema.Entity{{Text: "الخميس", Type: "date"}}},
		{"تأجل الموعد للجمعة", []schema.Entity{{Text: "الجمعة", Type: "date"}}},
		{"السبت والأحد دوام", []schema.Entity{{Text: "السبت", Type: "date"}, {Text: "الأحد", Type: "date"}}},
		{"صلاة الجمعة الساعة كم", nil},
		{"الحد الأدنى للعمر", nil},
		{"الاختبار في نوفمبر", []schema.Entity{{Text: "نوفمبر", Type: "date"}}},
		{"بيرجع 22 كانون الأول", []schema.Entity{{Text: "22 كانون الأول", Type: "date"}}},
		{"نفس المعاش من 2014", []schema.Entity{{Text: "2014", Type: "date"}}},
		{"طلعت من 2014 متر", nil},
		{"اشتريته بألف جنيه", []schema.Entity{{Text: "ألف جنيه", Type: "money"}}},
		{"كلفني خمسين دولار", []schema.Entity{{Text: "خمسين دولار", Type: "money"}}},
		{"جانا خمسين واحد", nil},
		{"شو هالحكي يا زلمة هلق بدنا رحمة الله كتير", nil},
	}
	for _, tt := range tests {
		got, err := model.Enrich(t.Context(), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Entities); diff != "" {
			t.Errorf("entities of %q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestEnrichFindsCupsFeastsAndClubs(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		text string
		want schema.Entity
	}{
		{"متى تبدا بطولة كأس الخليج؟", schema.Entity{Text: "كأس الخليج", Type: "event"}},
		{"شوكت مباراة الزوراء والشرطة؟", schema.Entity{Text: "الشرطة", Type: "organization"}},
		{"الشباب يتعادل مع الفتح في الدوري", schema.Entity{Text: "الفتح", Type: "organization"}},
		{"وزارة التربية والتعليم ما ردت علينا لين الحين", schema.Entity{Text: "وزارة التربية والتعليم", Type: "organization"}},
		{"كل عام وانتم بخير يا شباب بمناسبة عيد الفطر", schema.Entity{Text: "عيد الفطر", Type: "event"}},
		{"وقفت قدام الكعبة وبكيت", schema.Entity{Text: "الكعبة", Type: "location"}},
	}
	for _, tt := range tests {
		got, err := model.Enrich(t.Context(), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(got.Entities, tt.want) {
			t.Errorf("entities of %q: %v, want %v", tt.text, got.Entities, tt.want)
		}
	}
}

func TestEnrichLeavesParticlesOutOfNames(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct{ text, want string }{
		{"رحت فطنجة البارح مع صحابي", "طنجة"},
		{"شوقتاش تسافر لتونس", "تونس"},
		{"رايحين للرياض بكرا", "الرياض"},
		{"سافرت بالباص من القاهرة وبيروت", "بيروت"},
		{"انا من بغداد", "بغداد"},
		{"رحت عالشام امبارح مع رفقاتي", "الشام"},
	}
	for _, tt := range tests {
		got, err := model.Enrich(t.Context(), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(got.Entities, func(e schema.Entity) bool { return e.Text == tt.want }) {
			t.Errorf("entities of %q: %v, want %s", tt.text, got.Entities, tt.want)
		}
	}
}

func TestEnrichReadsAnyText(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		name, text string
		want       schema.Dialect
	}{
		{"a megabyte of one word", strings.Repeat("مرحبا", 1<<20/10), ""},
		{"a megabyte of words", strings.Repeat("الحين وش السالفة يا عيال ", 1<<20/45), schema.Gulf},
		{"a megabyte of signs", strings.Repeat("!", 1<<20), schema.NotArabic},
		{"a megabyte of emoji", strings.Repeat("😂", 1<<18), schema.NotArabic},
		{"a megabyte of hashtag signs", strings.Repeat("#", 1<<20), schema.NotArabic},
		{"a megabyte of half links", strings.Repeat("http://", 1<<17), schema.NotArabic},
		{"invalid bytes", strings.Repeat("\xff\xfe", 100), schema.NotArabic},
		{"invalid bytes inside", "وش السالفة \xff يا عيال الحين\xd9", schema.Gulf},
		{"direction signs", "\u202eوش السالفة\u202c يا \u200fعيال الحين", schema.Gulf},
		{"zero bytes", "\x00\x00", schema.NotArabic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := model.Enrich(t.Context(), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Check(); err != nil {
				t.Error(err)
			}
			if tt.want != "" && got.Dialect != tt.want {
				t.Errorf("dialect %s, want %s", got.Dialect, tt.want)
			}
		})
	}
}

func TestEnrichIsTheSameFromManyGoroutines(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	want, err := model.Enrich(t.Context(), tweet)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				got, err := model.Enrich(t.Context(), tweet)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v, (-want +got):\n%s", err, diff)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestEnrichStopsWhenTheContextIsDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := arabic.New().Enrich(ctx, tweet); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "SDARABIC1\n", "SDARABIC1\n\x01\x07dialect\x04\x00\x00\x00", "PK\x03\x04"} {
		if _, err := arabic.Open(file); err == nil {
			t.Errorf("no error for %q", file)
		}
	}
}
