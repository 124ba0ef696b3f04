package upstream

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// mobile are the prefixes of a host that lead to the same links.
var mobile = []string{"www", "m", "mobile"}

// Opener returns a [providers.Provider.Open] for the short links of hosts. It sends one request to the host of the link
// and does not follow redirects: it returns where the answer leads. A host that begins with www. also opens the
// links of all other hosts of its site, such as old.reddit.com.
func Opener(client *http.Client, hosts ...string) func(ctx context.Context, u *url.URL) (string, error) {
	at := map[string]*Client{}
	for _, host := range hosts {
		at[host] = New(Config{HTTP: Still(client), Base: "https://" + host, MaxBody: 1 << 20, Check: leads, Absent: Framed(siteOf(host))})
	}
	return func(ctx context.Context, u *url.URL) (string, error) {
		asked := strings.ToLower(u.Host)
		i := slices.IndexFunc(hosts, func(host string) bool {
			bare, site := strings.CutPrefix(host, "www.")
			return asked == bare || strings.HasSuffix(asked, "."+bare) && (site || slices.Contains(mobile, strings.TrimSuffix(asked, "."+bare)))
		})
		if i < 0 {
			return "", providers.NotFound("this short link is of an unknown site")
		}
		res, err := at[hosts[i]].Do(ctx, Get(strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })...))
		to, moved := errors.AsType[*leadsError](err)
		target := ""
		switch {
		case moved:
			target = to.to
		case err != nil:
			return "", err
		default:
			target = refreshed(res.Body)
		}
		behind, err := u.Parse(target)
		if target == "" || err != nil {
			return "", providers.Unavailable(nil, "the site does not show the target of the short link")
		}
		return behind.String(), nil
	}
}

// siteOf returns the last two labels of a host: its pictures and scripts may be on any host of the site.
func siteOf(host string) string {
	labels := strings.Split(host, ".")
	return strings.Join(labels[max(0, len(labels)-2):], ".")
}

// leadsError is a redirect that was not followed.
type leadsError struct{ to string }

// Error does not say where it leads, since that may reveal what was requested.
func (*leadsError) Error() string { return "the answer is a redirect" }

func leads(res *Response) error {
	if to := res.Header.Get("Location"); res.Status >= 300 && res.Status < 400 && to != "" {
		return &leadsError{to}
	}
	return nil
}

var (
	refresh = regexp.MustCompile(`(?i)<meta[^>]+http-equiv="?refresh"?[^>]+content="[^"]*url=([^"]+)"`)
	onward  = regexp.MustCompile(`(?i)<a[^>]+data-tracking-control-name="external_url_click"[^>]+href="([^"]+)"`)
)

// refreshed returns the address to which a page leads: that of its refresh, or of the only link on a page that warns
// before leaving the site; "" when there is neither.
func refreshed(page []byte) string {
	for _, form := range []*regexp.Regexp{refresh, onward} {
		if m := form.FindSubmatch(page); m != nil {
			return html.UnescapeString(strings.TrimSpace(string(m[1])))
		}
	}
	return ""
}
