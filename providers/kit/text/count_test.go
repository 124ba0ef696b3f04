package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/text"
)

func TestCount(t *testing.T) {
	t.Parallel()
	const none = -1
	tests := []struct {
		in   string
		want int64
	}{
		{"0", 0},
		{"7", 7},
		{" 783427 ", 783427},
		{"1,234", 1234},
		{"1.234", 1234},
		{"1 234", 1234},
		{"1\u202f234\u00a0567", 1234567},
		{"1'234'567", 1234567},
		{"1’234", 1234},
		{"12,345,678", 12345678},
		{"1,23,456", none}, // Hindi grouping is not used in counts that sites write for us
		{"1.2K", 1200},
		{"1.2k", 1200},
		{"38.9M", 38900000},
		{"1.05B", 1050000000},
		{"0.5K", 500},
		{"1.234M", 1234000},
		{"1,234K", 1234000},
		{"1,234.5K", 1234500},
		{"1.234,5 Mio.", 1234500000},
		{"12,5 mil", 12500},
		{"1,2 mi", 1200000},
		{"3,4 тыс.", 3400},
		{"3.4万", 34000},
		{"1.2億", 120000000},
		{"1.2M followers", 1200000},
		{"1.2 M followers", 1200000},
		{"45 views", 45},
		{"45 messages", 45},
		{"1 miles", 1},
		{"10K+", 10000},
		{"1,000+ items", 1000},
		{"5+ K", 5000},
		{"3.4万 次", 34000},
		{"5.", none},
		{",5", none},
		{"1,", none},
		{"5K++", none},
		{"5px", none},
		{"5 K", 5000},
		{"١٢٣", 123},
		{"١٬٢٣٤", 1234},
		{"١٫٢ مليون", 1200000},
		{"١٫٢\u00a0مليون", 1200000},
		{"\u200f١٫٢\u200e مليون متابع", 1200000},
		{"3,5 ألف", 3500},
		{"٣ آلاف", 3000},
		{"٢ مليار", 2000000000},
		{"۱۲٫۵ هزار", 12500},
		{"۱۲۳", 123},
		{"१२", 12},
		{"１２３", 123},
		{"9223372036854775807", 9223372036854775807},
		{"9223372036854775808", none},
		{"9999999999B", none},
		{"", none},
		{" ", none},
		{"K", none},
		{".5K", none},
		{"-5", none},
		{"1.5", none},
		{"1.2345K", none},
		{"1.2345", none},
		{"1,2,3", none},
		{"1234,567,8", none},
		{"1,234.567.890", none},
		{"2024-01-02", none},
		{"1/2", none},
		{"12:30", none},
		{"5%", none},
		{"1 2", none},
		{"no views", none},
		{"++5", none},
		{"5++", none},
	}
	for _, tt := range tests {
		want := &tt.want
		if tt.want == none {
			want = nil
		}
		if diff := cmp.Diff(want, text.Count(tt.in)); diff != "" {
			t.Errorf("Count(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}
