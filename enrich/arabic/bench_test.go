package arabic_test

import (
	"strings"
	"testing"

	"github.com/socialdata/socialdata/enrich/arabic"
)

// tweet is a post of ordinary length with something for each kind of output.
const tweet = "@someone والله يا جماعة المباراة كانت تحفة أوي 😍 الأهلي فاز على الزمالك في القاهرة بهدفين وصلاح كان أحسن لاعب " +
	"#الدوري_المصري https://t.co/abcdef"

func BenchmarkEnrich(b *testing.B) {
	model := arabic.New()
	sizes := []struct {
		name, text string
	}{
		{"tweet", tweet},
		{"comment", strings.Repeat(tweet+" ", 4)},
		{"names 8k", strings.Repeat("زرت باريس مع محمد #ا ", 8<<10/36)},
		{"names 16k", strings.Repeat("زرت باريس مع محمد #ا ", 16<<10/36)},
		{"names 32k", strings.Repeat("زرت باريس مع محمد #ا ", 32<<10/36)},
		{"latin", "the quick brown fox jumps over the lazy dog and runs away from here @someone"},
		{"megabyte", strings.Repeat(tweet+" ", 1<<20/len(tweet))},
	}
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(size.text)))
			for b.Loop() {
				if _, err := model.Enrich(b.Context(), size.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNew measures the one-time cost of a program.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		arabic.New()
	}
}
