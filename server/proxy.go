package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks of the proxies in front of the server.
type proxies []netip.Prefix

// trusts reports whether addr is that of a proxy.
func (p proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// caller returns the address of the client of a request, with a port if it has one. That is the address of the
// connection. If that is a proxy's, it is the last address in X-Forwarded-For that is not a proxy's: the caller may
// have invented what comes before it.
func (p proxies) caller(r *http.Request) string {
	if len(p) == 0 || !p.trusts(hostOf(r.RemoteAddr)) {
		return r.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr := hostOf(strings.TrimSpace(hop))
		if !addr.IsValid() {
			break
		}
		if !p.trusts(addr) {
			return addr.String()
		}
	}
	return r.RemoteAddr
}

// hostOf returns the address in text, which may include a port; the zero Addr when it is not one.
func hostOf(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	addr, _ := netip.ParseAddr(text)
	return addr.Unmap()
}
