package weburl_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/weburl"
)

func TestThrough(t *testing.T) {
	t.Parallel()
	const page = "https://github.com/octocat"
	escaped := url.QueryEscape(page)
	tests := []struct{ name, address, want string }{
		{"facebook, leaving", "https://l.facebook.com/l.php?u=" + escaped + "&h=AT0", page},
		{"facebook, leaving, mobile", "https://lm.facebook.com/l.php?h=AT0&u=" + escaped, page},
		{"facebook, flx", "https://www.facebook.com/flx/warn/?u=" + escaped, page},
		{"facebook, login", "https://www.facebook.com/login/?next=" + escaped, page},
		{"facebook, login of another host", "https://m.facebook.com/login.php?next=" + escaped, page},
		{"facebook, plugin", "https://www.facebook.com/plugins/post.php?href=" + escaped, page},
		{"instagram, leaving", "https://l.instagram.com/?u=" + escaped, page},
		{"instagram, login", "https://www.instagram.com/accounts/login/?next=%2Foctocat%2F", "https://www.instagram.com/octocat/"},
		{"threads, leaving", "https://l.threads.net/?u=" + escaped, page},
		{"youtube, redirect", "https://www.youtube.com/redirect?event=x&q=" + escaped, page},
		{"youtube, redirect, mobile", "https://m.youtube.com/redirect?q=" + escaped, page},
		{"youtube, attribution", "https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3Dx", "https://www.youtube.com/watch?v=x"},
		{"youtube, oembed", "https://www.youtube.com/oembed?url=" + escaped + "&format=json", page},
		{"youtube, consent", "https://consent.youtube.com/m?continue=" + escaped, page},
		{"google, q", "https://www.google.com/url?q=" + escaped + "&sa=U", page},
		{"google, url", "https://google.com/url?sa=t&url=" + escaped, page},
		{"google of a country", "https://www.google.com.sa/url?q=" + escaped, page},
		{"google of another country", "https://www.google.de/url?q=" + escaped, page},
		{"google, AMP", "https://www.google.com/amp/s/www.example.com/a%2Fb?c=d", "https://www.example.com/a%2Fb?c=d"},
		{"google, AMP of http", "https://www.google.com/amp/www.example.com/a", "http://www.example.com/a"},
		{"AMP cache", "https://www-example-com.cdn.ampproject.org/c/s/www.example.com/a?b=c", "https://www.example.com/a?b=c"},
		{"AMP cache, viewer", "https://www-example-com.cdn.ampproject.org/v/s/www.example.com/a", "https://www.example.com/a"},
		{"reddit, leaving", "https://out.reddit.com/t3_x?url=" + escaped + "&token=x", page},
		{"soundcloud, player", "https://w.soundcloud.com/player/?url=" + escaped, page},
		{"telegram, instant view", "https://t.me/iv?url=" + escaped + "&rhash=x", page},
		{"linkedin, wall", "https://www.linkedin.com/authwall?sessionRedirect=" + escaped, page},
		{"linkedin, leaving", "https://www.linkedin.com/redir/redirect?url=" + escaped, page},
		{"linkedin, safety", "https://www.linkedin.com/safety/go?url=" + escaped, page},
		{"linkedin, login", "https://www.linkedin.com/uas/login?session_redirect=" + escaped, page},
		{"tiktok, leaving", "https://www.tiktok.com/link/v2?target=" + escaped, page},
		{"tiktok, login", "https://www.tiktok.com/login?redirect_url=" + escaped, page},
		{"pinterest, leaving", "https://www.pinterest.com/offsite/?url=" + escaped, page},
		{"x, login", "https://x.com/i/flow/login?redirect_after_login=%2Foctocat", "https://x.com/octocat"},
		{"twitter, mobile login", "https://mobile.twitter.com/login?redirect_after_login=%2Foctocat", "https://mobile.twitter.com/octocat"},
		{"one in another", "https://l.facebook.com/l.php?u=" + url.QueryEscape("https://www.google.com/url?q="+escaped), page},

		// What leads elsewhere only once it is asked, and what holds no address, stay as they are.
		{"a mobile host", "https://m.facebook.com/octocat", "https://m.facebook.com/octocat"},
		{"another mobile host", "https://mobile.twitter.com/octocat", "https://mobile.twitter.com/octocat"},
		{"an old host", "https://old.reddit.com/r/golang", "https://old.reddit.com/r/golang"},
		{"a short link", "https://t.co/abc", "https://t.co/abc"},
		{"nothing in it", "https://l.facebook.com/l.php?h=AT0", "https://l.facebook.com/l.php?h=AT0"},
		{"another scheme in it", "https://www.youtube.com/redirect?q=javascript%3Aalert(1)", "https://www.youtube.com/redirect?q=javascript%3Aalert(1)"},
		{"a file in it", "https://www.google.com/url?q=file%3A%2F%2F%2Fetc%2Fpasswd", "https://www.google.com/url?q=file%3A%2F%2F%2Fetc%2Fpasswd"},
		{"a host that only looks like one", "https://l.facebook.com.evil.example/l.php?u=" + escaped, "https://l.facebook.com.evil.example/l.php?u=" + escaped},
		{"another that does", "https://google.evil.example/url?q=" + escaped, "https://google.evil.example/url?q=" + escaped},
		{"a third", "https://notfacebook.com/l.php?u=" + escaped, "https://notfacebook.com/l.php?u=" + escaped},
		{"a search", "https://www.google.com/search?q=" + escaped, "https://www.google.com/search?q=" + escaped},
		{"a page of AMP's own", "https://cdn.ampproject.org/v0.js", "https://cdn.ampproject.org/v0.js"},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := weburl.Through(u); got.String() != tt.want {
			t.Errorf("%s: %s leads to %s, want %s", tt.name, tt.address, got, tt.want)
		}
	}
}

// TestThroughEnds: however many redirecting addresses are within each other.
func TestThroughEnds(t *testing.T) {
	t.Parallel()
	address := "https://github.com/octocat"
	for range 8 {
		address = "https://www.google.com/url?q=" + url.QueryEscape(address)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if got := weburl.Through(u).String(); strings.Count(got, "google.com") != 5 {
		t.Errorf("%s: 3 of 8 are unwrapped", got)
	}
	itself, _ := url.Parse("https://www.google.com/url?q=/url?q=x")
	if got := weburl.Through(itself); got.Host != "www.google.com" {
		t.Errorf("%s", got)
	}
}
