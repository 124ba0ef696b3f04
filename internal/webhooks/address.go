package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/socialdata/socialdata/watch"
)

// errAddress means that connections to an address are not allowed.
var errAddress = errors.New("webhooks: the name resolves to an address that is not allowed")

const maxURL = 2048

// lookupPatience is the maximum time for resolving a name when an endpoint is created.
const lookupPatience = 5 * time.Second

// Guard checks the addresses to which webhooks are sent.
type Guard struct {
	// Private allows http://, and loopback and private addresses. The addresses of clouds' metadata services are always
	// refused.
	Private bool
	// Resolve returns the addresses of a name; nil asks the system.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
}

// Check returns an error that wraps [watch.ErrInvalid] if the URL of an endpoint is not allowed.
func (g *Guard) Check(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || len(text) > maxURL:
		return fmt.Errorf("%w: url must be an absolute URL of at most %d characters", watch.ErrInvalid, maxURL)
	case u.Scheme != "https" && (u.Scheme != "http" || !g.Private):
		return fmt.Errorf("%w: url must begin with https://", watch.ErrInvalid)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("%w: url must have no spaces or control characters; write a space as %%20", watch.ErrInvalid)
	case u.Port() != "" && !isPort(u.Port()):
		return fmt.Errorf("%w: the port of url must be 1 to 65535", watch.ErrInvalid)
	case u.User != nil || u.Fragment != "":
		return fmt.Errorf("%w: url must have no user, password or fragment", watch.ErrInvalid)
	}
	addrs, err := g.resolve(ctx, u.Hostname())
	if err != nil {
		return fmt.Errorf("%w: the name %q of url cannot be resolved", watch.ErrInvalid, u.Hostname())
	}
	for _, a := range addrs {
		if !g.allows(a) {
			return fmt.Errorf("%w: url resolves to a private, loopback, link-local or otherwise reserved address, to which nothing is sent",
				watch.ErrInvalid)
		}
	}
	return nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

func (g *Guard) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	if g.Resolve != nil {
		return g.Resolve(ctx, name)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// control refuses a connection to an address that is not allowed. It gets the address that the name resolves to for
// this connection, because that may differ from earlier ones.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(at.Addr()) {
		return errAddress
	}
	return nil
}

// never are the addresses that are refused in every configuration: those of clouds' metadata services, which return
// secrets, and those that belong to no host.
var never = prefixes(
	"0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32",
	"::/128", "fe80::/10", "ff00::/8", "fd00:ec2::254/128",
)

// special are other addresses that are not on the public Internet:
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry.
var special = prefixes(
	"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::1/128", "100::/64", "64:ff9b:1::/48", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fec0::/10",
)

func prefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, text := range all {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// allows reports whether webhooks may be sent to an address.
func (g *Guard) allows(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if inner, ok := inside(a); ok {
		return g.allows(inner)
	}
	return !in(never, a) && (g.Private || !in(special, a))
}

func in(all []netip.Prefix, a netip.Addr) bool {
	for _, p := range all {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// inside returns the IPv4 address that is embedded in an IPv6 address of a translator or a tunnel.
func inside(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case a.Is4():
		return a, false
	case in(translated, a), b[12] != 0 && in(compatible, a), isatap(b):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case in(tunnelled, a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return a, false
}

// isatap reports whether the interface identifier of an address is that of ISATAP, which ends with an IPv4 address.
func isatap(b [16]byte) bool { return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe }

var (
	translated = prefixes("64:ff9b::/96", "::ffff:0:0:0/96") // NAT64 and SIIT
	compatible = prefixes("::/96")                           // the former IPv4-compatible form
	tunnelled  = prefixes("2002::/16")                       // 6to4
)
