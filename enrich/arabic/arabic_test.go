package arabic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/schema"
)

func TestEnrichTellsVarietiesApart(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		name, text string
		want       schema.Dialect
	}{
		{"egyptian", "انا مش عارف ايه اللي بيحصل دلوقتي ده كتير اوي عليا", schema.Egyptian},
		{"egyptian with elongation and marks", "ده كتييييير أوووووي وَاللهِ", schema.Egyptian},
		{"gulf", "وش السالفة يا عيال ابي اعرف الحين شلون صار كذا", schema.Gulf},
		{"levantine", "شو هالحكي يا زلمة هلق بدي روح عالبيت كتير تعبان", schema.Levantine},
		{"maghrebi", "واش راك خويا علاش ماكاينش والو في هاد البلاد بزاف", schema.Maghrebi},
		{"tunisian", "برشا ناس ماعندهمش فلوس توا وما يعرفوش شنوة باش يعملو", schema.Maghrebi},
		{"msa", "أكد وزير الخارجية أن المفاوضات سوف تستمر خلال الأيام القادمة", schema.MSA},
		{
			"egyptian and maghrebi",
			"انا مش عارف ايه اللي بيحصل دلوقتي ده كتير اوي عليا. واش راك خويا علاش ماكاينش والو في هاد البلاد بزاف", schema.Mixed,
		},
		{
			"egyptian and maghrebi on two lines",
			"انا مش عارف ايه اللي بيحصل دلوقتي ده كتير اوي عليا\nواش راك خويا علاش ماكاينش والو في هاد البلاد بزاف", schema.Mixed,
		},
		{"a king in the news", "ولي العهد الأمير محمد بن سلمان يصل إلى باريس", schema.MSA},
		{"the street of a king in the news", "افتتاح طريق الملك عبدالعزيز بعد انتهاء أعمال الصيانة", schema.MSA},
		{"persian", "من امروز به دانشگاه می\u200cروم و کتاب می\u200cخوانم", schema.NotArabic},
		{"short persian", "خیلی ممنون از شما", schema.NotArabic},
		{"persian with an arabic name", "امروز محمد عبدالله به مدرسه می\u200cرود", schema.NotArabic},
		{"urdu", "یہ کتاب بہت اچھی ہے اور میں اسے پڑھ رہا ہوں", schema.NotArabic},
		{"kurdish", "ئەمڕۆ زۆر خۆشحاڵم بە بینینی ئێوە", schema.NotArabic},
		{"english", "the quick brown fox jumps over the lazy dog", schema.NotArabic},
		{"english with an arabic hashtag", "I love this place so much #السعودية", schema.NotArabic},
		{"arabizi", "ana mesh 3aref a3mel eh", schema.NotArabic},
		{"emoji", "😂😂😂", schema.NotArabic},
		{"mention and link", "@someone https://example.com/a", schema.NotArabic},
		{"nothing", "", schema.NotArabic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := model.Enrich(t.Context(), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Dialect); diff != "" {
				t.Errorf("dialect of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestEnrichFindsEntities(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		name, text string
		want       []schema.Entity
	}{
		{
			"rules", "@ali شوف #مصر_اليوم https://t.co/abc بسعر 250 ريال يوم 12/5/2024",
			[]schema.Entity{
				{Text: "@ali", Type: "mention"},
				{Text: "#مصر_اليوم", Type: "hashtag"},
				{Text: "https://t.co/abc", Type: "url"},
				{Text: "250 ريال", Type: "money"},
				{Text: "12/5/2024", Type: "date"},
			},
		},
		{
			"names", "التقى الرئيس الأمريكي باراك أوباما في باريس وزير الخارجية",
			[]schema.Entity{{Text: "باراك أوباما", Type: "person"}, {Text: "باريس", Type: "location"}},
		},
		{"an address of electronic mail is no mention", "راسلني على someone@example.com", nil},
		{
			"a name has eight words at most", "الشيخ محمد بن عبدالله بن خالد بن سعد بن فهد بن فيصل بن عمر في الرياض",
			[]schema.Entity{{Text: "محمد بن عبدالله بن خالد بن سعد بن", Type: "person"}, {Text: "الرياض", Type: "location"}},
		},
		{"a date in words", "ولد في 15 يناير 1990", []schema.Entity{{Text: "15 يناير 1990", Type: "date"}}},
		{"a sign of money", "$20 million", []schema.Entity{{Text: "$20 million", Type: "money"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := model.Enrich(t.Context(), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Entities); diff != "" {
				t.Errorf("entities of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestEnrichFeelsAndNamesTopics(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		name, text string
		label      schema.SentimentLabel
		topic      string // the first one; empty for any
	}{
		{"praise", "خدمة رائعة وجميلة جدا شكرا لكم 😍", schema.Positive, ""},
		{"blame", "أسوأ خدمة في حياتي ناس كذابة وحرامية 😡", schema.Negative, ""},
		{"football", "فاز الأهلي في مباراة الدوري وسجل اللاعب هدفين", schema.Neutral, "sports"},
		{"latin praise", "great and lovely ❤️", schema.Positive, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := model.Enrich(t.Context(), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.Sentiment.Label != tt.label && tt.label != schema.Neutral {
				t.Errorf("sentiment of %q: %+v, want %s", tt.text, got.Sentiment, tt.label)
			}
			if tt.topic != "" && (len(got.Topics) == 0 || got.Topics[0] != tt.topic) {
				t.Errorf("topics of %q: %v, want %s first", tt.text, got.Topics, tt.topic)
			}
		})
	}
}

func TestEnrichCountsWordsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	tests := []struct {
		text string
		want schema.Sentiment
	}{
		{"What a lovely and peaceful garden", schema.Sentiment{Label: schema.Positive, Score: 0.667}},
		{"The waiter was not friendly", schema.Sentiment{Label: schema.Negative, Score: -0.5}},
		{"It isn't bad", schema.Sentiment{Label: schema.Positive, Score: 0.5}},
		{"No. Lovely!", schema.Sentiment{Label: schema.Positive, Score: 0.5}},
		{"Un spectacle genial, bravo", schema.Sentiment{Label: schema.Positive, Score: 0.667}},
		{"Un spectacle ge\u0301nial, bravo", schema.Sentiment{Label: schema.Positive, Score: 0.667}},
		{"Quelle déception, c'était nul", schema.Sentiment{Label: schema.Negative, Score: -0.667}},
		{"lo\u200bve\u2060ly", schema.Sentiment{Label: schema.Positive, Score: 0.5}},
		{"el akl kan 7elw awi", schema.Sentiment{Label: schema.Positive, Score: 0.5}},
		{"mesh 7elw ya 5ayeb", schema.Sentiment{Label: schema.Neutral}},
		{"7 elw, 4 bad", schema.Sentiment{Label: schema.Negative, Score: -0.5}},
		{"The shop opens at nine", schema.Sentiment{Label: schema.Neutral}},
		{"good and bad", schema.Sentiment{Label: schema.Neutral}},
		{"😡", schema.Sentiment{Label: schema.Negative, Score: -0.5}},
		{"#مصر", schema.Sentiment{Label: schema.Neutral}},
		{"#كلنا_حزن #مصر https://example.com/a", schema.Sentiment{Label: schema.Neutral}},
		{"#مصر 😍", schema.Sentiment{Label: schema.Positive, Score: 0.5}},
		{"", schema.Sentiment{Label: schema.Neutral}},
	}
	for _, tt := range tests {
		got, err := model.Enrich(t.Context(), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Sentiment); diff != "" {
			t.Errorf("sentiment of %q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestEnrichFindsNoFeelingInPlainStatements(t *testing.T) {
	t.Parallel()
	model := arabic.New()
	for _, text := range []string{"بكرة هروح البنك الصبح", "#مصر", "الدوام يبدأ الساعة ثمانية"} {
		got, err := model.Enrich(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Sentiment.Label != schema.Neutral {
			t.Errorf("sentiment of %q: %+v, want neutral", text, got.Sentiment)
		}
	}
}

func FuzzEnrich(f *testing.F) {
	model := arabic.New()
	for _, s := range []string{
		"", "مرحبا بكم في مصر", "\u202eمرحبا\u202c", "\xff\xfeاهلا\xc3", "😂👨‍👩‍👧🏽", "#", "@", "#ا_ب 12/3/2020 $5", "ﻻﻼ ﷺ",
		strings.Repeat("هههه ", 500), "http://", "٥٠٠ مليون دولار", "السيد \xd9 محمد",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := model.Enrich(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		rest := text
		for _, e := range got.Entities {
			_, after, ok := strings.Cut(rest, e.Text)
			if bare, article := strings.CutPrefix(e.Text, "ال"); !ok && article {
				// The preposition li drops the alef of the article.
				_, after, ok = strings.Cut(rest, "ل"+bare)
			}
			if !ok {
				t.Fatalf("entity %q is not in %q after the one before it", e.Text, text)
			}
			rest = after
		}
		again, err := model.Enrich(t.Context(), text)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("the second answer differs (-first +second), error %v:\n%s", err, diff)
		}
	})
}
