package ner

import "testing"

func TestGuessFindsParticlesBeforeTheArticle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		word string
		want Clitics
	}{
		{"السالميه", Clitics{}},
		{"بالسالميه", Clitics{Letters: 1}},
		{"وبالسالميه", Clitics{Letters: 2}},
		{"والسالميه", Clitics{Letters: 1}},
		{"عالسالميه", Clitics{Letters: 1}},
		{"للسالميه", Clitics{Letters: 1, Lam: true}},
		{"وللسالميه", Clitics{Letters: 2, Lam: true}},
		{"وليد", Clitics{}},
		{"بالي", Clitics{}},
		{"للي", Clitics{}},
	}
	for _, tt := range tests {
		if got := guess([]rune(tt.word)); got != tt.want {
			t.Errorf("guess(%s) = %+v, want %+v", tt.word, got, tt.want)
		}
	}
}
