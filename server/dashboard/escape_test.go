package dashboard

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/keys"
)

// hostile closes an attribute, an element and a script.
const hostile = `"'><script>alert(1)</script><a href="javascript:x" onclick='y'>&amp;</title>`

// TestTextsCannotBecomeMarkup shows pages with a hostile text as a title, in an element, in an attribute and in an
// address.
func TestTextsCannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	account := keys.Account{ID: hostile, Name: hostile}
	pages := map[string]page{
		"calls":   calls{Account: hostile},
		"problem": problemPage{hostile},
		"login":   loginPage{hostile},
		"account": accountPage{Once: hostile, Account: account, Keys: []keys.Key{{ID: hostile, Name: hostile}}},
		"key":     keyPage{Secret: hostile, Account: account, Base: hostile},
		"change":  changePage{Once: hostile, Account: account, Key: keys.Key{ID: hostile, Name: hostile}},
	}
	for name, p := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsed(t, whole(frame{Title: hostile, Own: hostile, Data: p}))
			want := parsed(t, whole(frame{Title: "x", Own: "x", Data: plain(p)}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the elements of the page and their attributes (-harmless +hostile):\n%s", diff)
			}
		})
	}
}

// plain returns a page like p with harmless texts.
func plain(p page) page {
	account := keys.Account{ID: "x", Name: "x"}
	switch p.(type) {
	case calls:
		return calls{Account: "x"}
	case problemPage:
		return problemPage{"x"}
	case loginPage:
		return loginPage{"x"}
	case accountPage:
		return accountPage{Once: "x", Account: account, Keys: []keys.Key{{ID: "x", Name: "x"}}}
	case keyPage:
		return keyPage{Secret: "x", Account: account, Base: "x"}
	default:
		return changePage{Once: "x", Account: account, Key: keys.Key{ID: "x", Name: "x"}}
	}
}

// parsed returns the elements of a page with the names of their attributes, as a browser would see them.
func parsed(t *testing.T, page string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		words := []string{n.Data}
		for _, a := range n.Attr {
			words = append(words, a.Key)
			if scheme := strings.ToLower(strings.TrimSpace(a.Val)); strings.HasPrefix(scheme, "javascript:") {
				t.Errorf("%s has the address %q", n.Data, a.Val)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func TestOnlyOurOwnAddressesAreLinks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/dashboard": "/dashboard", "/dashboard?from=50": "/dashboard?from=50", "/dashboard/accounts/a": "/dashboard/accounts/a",
		"javascript:alert(1)": "#", "//evil.example": "#", "https://evil.example": "#", "/dashboardx": "#", "": "#",
	} {
		if got := ours(address); got != want {
			t.Errorf("ours(%q) = %q, want %q", address, got, want)
		}
	}
}
