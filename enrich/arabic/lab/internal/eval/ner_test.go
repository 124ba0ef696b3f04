package eval

import "testing"

func TestLocateFindsNamesBehindParticles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, name string
		want       string // including its particles, "" for none
	}{
		{"زار وباريس", "باريس", "وباريس"},
		{"سافر للرياض", "الرياض", "للرياض"},
		{"في الرياض", "الرياض", "الرياض"},
		{"الباريسي", "باريس", ""},
	}
	for _, tt := range tests {
		got := ""
		if start, end := locate(tt.text, 0, tt.name); start >= 0 {
			got = tt.text[start:end]
		}
		if got != tt.want {
			t.Errorf("locate(%q, %q) = %q, want %q", tt.text, tt.name, got, tt.want)
		}
	}
}
