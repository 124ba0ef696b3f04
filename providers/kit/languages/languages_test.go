package languages_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers/kit/languages"
)

func TestTag(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"ar": "ar", "en-US": "en-US", "pt_BR": "pt-BR", "zh-hans-cn": "zh-Hans-CN", "EN": "en", "fil": "fil", " fr ": "fr",
		"eng": "en", "iw": "he", "in": "id", "es-419": "es-419", "en-auto": "en", "ckb": "ckb",
		"": "", "C": "", "und": "", "zxx": "", "mul": "", "mis": "", "qme": "", "qtz": "", "und-Latn": "", "english": "",
		"English": "", "العربية": "", "xx": "", "un": "", "other": "", "none": "", "n/a": "", "root": "", "x-klingon": "",
	} {
		got := ""
		if tag := languages.Tag(code); tag != nil {
			got = *tag
		}
		if got != want {
			t.Errorf("%q is %q, want %q", code, got, want)
		}
	}
	if diff := cmp.Diff(new("ar"), languages.Tag("zxx", "", "ar", "en")); diff != "" {
		t.Errorf("the first language (-want +got):\n%s", diff)
	}
}
