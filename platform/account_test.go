package platform_test

import (
	"net/url"
	"testing"

	"github.com/socialdata/socialdata/platform"
)

func TestAccountAt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		page   string
		id     platform.ID
		handle string
	}{
		{"https://x.com/salma", platform.X, "salma"},
		{"https://www.twitter.com/salma/", platform.X, "salma"},
		{"https://m.facebook.com/salma", platform.Facebook, "salma"},
		{"https://TikTok.com/@salma", platform.TikTok, "salma"},
		{"https://linkedin.com/in/salma", platform.LinkedIn, "salma"},
		{"https://linkedin.com/company/salma", "", ""},
		{"https://tiktok.com/salma", "", ""},
		{"https://tiktok.com/@", "", ""},
		{"https://x.com/salma/status/1", "", ""},
		{"https://x.com/", "", ""},
		{"https://example.com/salma", "", ""},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.page)
		if err != nil {
			t.Fatal(err)
		}
		id, handle, ok := platform.AccountAt(u)
		if id != tt.id || handle != tt.handle || ok != (tt.id != "") {
			t.Errorf("AccountAt(%s) = %s, %s, %t", tt.page, id, handle, ok)
		}
	}
}

func TestReserved(t *testing.T) {
	t.Parallel()
	for handle, want := range map[string]bool{"about": true, "Login": true, "salma": false, "": false} {
		if got := platform.Reserved(handle); got != want {
			t.Errorf("Reserved(%q) = %t", handle, got)
		}
	}
}
