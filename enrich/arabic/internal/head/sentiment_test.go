package head

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentimentTurnsWordsBehindANegation(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, turned string }{
		{"nothing", "المكان حلو ونظيف", ""},
		{"two words", "المكان مش هادي اوي يا ناس", "هادي اوي"},
		{"without", "وصل الطلب بدون مشاكل كبيره والله", "مشاكل كبيره"},
		{"words of degree are passed over", "ما فيه ولا ذره طعم حلو والله", "فيه ذره طعم حلو"},
		{"better is not turned", "ما في احسن منه", "في"},
		{"neither nor", "لا طعم ولا ريحه", "طعم ريحه"},
		{"or", "حلو ولا وحش", ""},
		{"never at the beginning", "ولا مره تاخر", "مره تاخر"},
		{"written around", "المكان معجبنيش", "معجبنيش"},
		{"the clause ends", "مش هادي، نظيف ومرتب", "هادي"},
		{"and ends the reach", "ما كان غريب وعجبني", "كان غريب"},
		{"with and before it", "المكان حلو وما يستاهل", "يستاهل"},
		{"nothing but", "ما شفت منهم الا الخير", "شفت منهم"},
		{"nothing but, in the Maghreb", "ما شفنا فيهم غير الخير", "شفنا فيهم"},
		{"not without", "ما خلصت بدون مشاكل", "خلصت"},
		{"and does not", "الجهاز سريع ولا يسخن", "يسخن"},
		{"written around, and the next word", "الدكتور مسمعنيش كويس ومشي", "مسمعنيش كويس"},
		{"an idiom", "والله ما قصرتوا معنا", ""},
		{"to be does not count", "ما كانت الخدمه حلوه ابدا والله", "كانت الخدمه حلوه"},
	}
	r := NewReader(nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var text Text
			r.Read(&text, tt.text)
			r.Sentiment(&text, false)
			var turned []string
			for i := range text.Spans {
				if text.words[i].turned {
					turned = append(turned, string(text.Folded(&text.Tokens[text.Spans[i].Token])))
				}
			}
			if diff := cmp.Diff(tt.turned, strings.Join(turned, " ")); diff != "" {
				t.Errorf("turned words of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}
