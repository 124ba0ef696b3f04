package countries_test

import (
	"testing"

	"github.com/socialdata/socialdata/providers/kit/countries"
)

func TestCode(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"United States": "US", " saudi arabia ": "SA", "Britain (UK)": "GB", "Türkiye": "TR", "Turkey": "TR", "Germany": "DE",
		"US": "US", "us": "US", "UK": "GB", "uk": "GB", "EZ": "", "UN": "", "XK": "",
		"Atlantis": "", "": "", "XX": "", "ZZ": "", "AA": "", "EU": "", "USA": "US", "KSA": "", "001": "",
	} {
		got := ""
		if code := countries.Code(name); code != nil {
			got = *code
		}
		if got != want {
			t.Errorf("Code(%q) = %q, want %q", name, got, want)
		}
	}
}
