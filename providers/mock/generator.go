package mock

import (
	"net/url"
	"strings"
	"time"

	"github.com/socialdata/socialdata/platform"
)

// generator makes the accounts and objects of a platform, in the platform's format, from handles and ids alone.
type generator struct {
	site   string // the host of all public pages
	epoch  time.Time
	lively lively
}

func newGenerator(id platform.ID, cfg Config) *generator {
	g := &generator{site: hostOf(id), epoch: cfg.Epoch, lively: lively{id: id, now: cfg.Now}}
	if g.epoch.IsZero() {
		g.epoch = Epoch
	}
	if g.lively.now == nil {
		g.lively.now = time.Now
	}
	return g
}

// hostOf returns the host of a platform's pages: mock.example, and for example tiktok.mock.example for the sandbox of
// another platform.
func hostOf(id platform.ID) string {
	if id == platform.Mock {
		return "mock.example"
	}
	return strings.ReplaceAll(string(id), "_", "-") + ".mock.example"
}

// page returns the address of a public page.
func (g *generator) page(path ...string) string { return address(g.site, path) }

// file returns the address of a media file.
func (g *generator) file(path ...string) string { return address("cdn."+g.site, path) }

func address(host string, path []string) string {
	var b strings.Builder
	b.WriteString("https://" + host)
	for _, p := range path {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// ago returns the time d before the sandbox's current time, in the platform's format.
func (g *generator) ago(d time.Duration) int64 { return g.epoch.Add(-d).Unix() }
