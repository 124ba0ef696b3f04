package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"

	"github.com/socialdata/socialdata/server"
)

// addressFlags select the addresses of the server, and what is served there.
type addressFlags struct {
	Addr          string   `help:"The address to listen on." default:"127.0.0.1:8080" env:"SOCIALDATA_ADDR"`
	TLSCert       string   `help:"Serve HTTPS with this certificate, a PEM file with its chain; reloaded when it changes." name:"tls-cert" env:"SOCIALDATA_TLS_CERT" type:"path" group:"addresses" placeholder:"FILE"`
	TLSKey        string   `help:"The key of that certificate, a PEM file." name:"tls-key" env:"SOCIALDATA_TLS_KEY" type:"path" group:"addresses" placeholder:"FILE"`
	PublicURL     string   `help:"The address under which callers reach the server, such as https://api.example.com: the type of a problem then leads to its documentation." name:"public-url" env:"SOCIALDATA_PUBLIC_URL" group:"addresses" placeholder:"URL"`
	TrustedProxy  []string `help:"Networks of trusted proxies, such as 10.0.0.0/8. The address of a caller is then taken from their X-Forwarded-For." env:"SOCIALDATA_TRUSTED_PROXY" group:"addresses" placeholder:"CIDR"`
	Dashboard     string   `help:"Serve the dashboard: on or off." enum:"on,off" default:"on" env:"SOCIALDATA_DASHBOARD" group:"addresses"`
	DashboardAddr string   `help:"Serve the dashboard on this address instead of that of the API." env:"SOCIALDATA_DASHBOARD_ADDR" group:"addresses" placeholder:"ADDR"`
	Manage        string   `help:"Let keys with the mark manage change keys, monitors and endpoints of their account under /manage: on or off." enum:"on,off" default:"on" env:"SOCIALDATA_MANAGE" group:"addresses"`
	Status        string   `help:"Serve the status page at /status to anyone, with how each platform has answered in the last 90 days: on or off." enum:"on,off" default:"off" env:"SOCIALDATA_STATUS" group:"addresses"`
	MCP           string   `help:"Serve the tools of the Model Context Protocol at /mcp: on or off." name:"mcp" enum:"on,off" default:"on" env:"SOCIALDATA_MCP" group:"addresses"`
}

// check returns an error for flags that exclude each other.
func (f addressFlags) check() error {
	if (f.TLSCert == "") != (f.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if f.Dashboard == "off" && f.DashboardAddr != "" {
		return errors.New("--dashboard-addr needs --dashboard=on")
	}
	_, err := f.proxies()
	return err
}

// proxies returns the networks of the proxies in front of the server.
func (f addressFlags) proxies() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range f.TrustedProxy {
		network, err := netip.ParsePrefix(text)
		if addr, single := netip.ParseAddr(text); single == nil {
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || network.Addr().Is4In6() {
			return nil, fmt.Errorf("--trusted-proxy %s is not a network; write it like 10.0.0.0/8 or fd00::/8", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// options returns the options that apply to each server that listens.
func (f addressFlags) options() []server.Option {
	var opts []server.Option
	if networks, _ := f.proxies(); len(networks) > 0 { // already checked
		opts = append(opts, server.WithTrustedProxies(networks...))
	}
	if f.PublicURL != "" {
		opts = append(opts, server.WithPublicURL(f.PublicURL))
	}
	return opts
}

// managing returns the options that serve the routes below /manage, unless that is off.
func (f addressFlags) managing() []server.Option {
	if f.Manage == "off" {
		return nil
	}
	return []server.Option{server.WithChanges()}
}

// status returns the option of the status page, if it is on.
func (f addressFlags) status() []server.Option {
	if f.Status == "off" {
		return nil
	}
	return []server.Option{server.WithStatus()}
}

// boundAddress is an address on which a server listens.
type boundAddress struct {
	net.Listener
	tls *tls.Config // nil: without TLS
}

// options returns the options of a server that listens there.
func (p *boundAddress) options() []server.Option {
	if p.tls == nil {
		return nil
	}
	return []server.Option{server.WithTLS(p.tls)}
}

// listen listens on addr, with TLS if there is a certificate.
func (f addressFlags) listen(ctx context.Context, addr string, log *slog.Logger) (*boundAddress, error) {
	if f.TLSCert == "" {
		listener, err := listenOn(ctx, addr)
		return &boundAddress{listener, nil}, err
	}
	pair, err := openCertificate(f.TLSCert, f.TLSKey, log)
	if err != nil {
		return nil, err
	}
	listener, err := listenOn(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &boundAddress{listener, pair.config()}, nil
}

// listenOn listens on addr.
func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program; choose another address, such as 127.0.0.1:0 for any", addr)
	}
	return listener, err
}

// url returns the URL of the address.
func (p *boundAddress) url() string { return p.scheme() + p.Addr().String() }

func (p *boundAddress) scheme() string {
	if p.tls == nil {
		return "http://"
	}
	return "https://"
}

// here returns a URL that works on this machine: 0.0.0.0 and [::] mean every address.
func (p *boundAddress) here() string { return p.scheme() + reachable(p.Addr()) }

// everywhere returns a note if the server listens on every address of this machine.
func (p *boundAddress) everywhere() string {
	if p.url() == p.here() {
		return ""
	}
	return "every address of this machine; "
}

func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

// exposures returns what the server exposes that an operator may not intend, and what to do.
func (c *serveCmd) exposures(user int) []string {
	var found []string
	clear := c.Addresses.TLSCert == "" && len(c.Addresses.TrustedProxy) == 0
	if clear && beyond(c.Addresses.Addr) {
		found = append(found, fmt.Sprintf("no TLS: keys and answers cross the network of %s unencrypted; set --tls-cert "+
			"and --tls-key, "+
			"or listen on 127.0.0.1, or name the proxy that ends TLS with --trusted-proxy", c.Addresses.Addr))
	}
	if addr := c.Addresses.DashboardAddr; clear && addr != "" && beyond(addr) {
		found = append(found, fmt.Sprintf("no TLS: the admin secret crosses the network of %s unencrypted; set --tls-cert "+
			"and --tls-key, "+
			"or a --dashboard-addr of this machine", addr))
	}
	if addr := c.Telemetry.Metrics; addr != "" && beyond(addr) {
		found = append(found, fmt.Sprintf("public metrics: everyone who can reach %s can read them; set --metrics to an address "+
			"that only Prometheus can reach, or leave it out and give Prometheus the admin secret for /metrics of the API", addr))
	}
	if user == 0 {
		found = append(found, "running as root: a fault in the program could affect the whole machine; run it as a user of "+
			"its own")
	}
	return found
}

// warnOfExposures prints the results of [serveCmd.exposures], and what is wrong with the certificate.
func (c *serveCmd) warnOfExposures(e *env) error {
	found := c.exposures(os.Geteuid())
	if pair, err := tls.LoadX509KeyPair(c.Addresses.TLSCert, c.Addresses.TLSKey); err == nil { // otherwise serve fails
		text, err := checkPair(pair, c.Addresses.TLSKey, e.now())
		if err != nil {
			text = err.Error()
		}
		if text != "" {
			found = append(found, "TLS: "+text)
		}
	}
	for _, text := range found {
		if _, err := fmt.Fprintf(e.log, "\n*** WARNING: %s. ***\n\n", text); err != nil {
			return err
		}
	}
	return nil
}

// beyond reports whether other machines can reach an address.
func beyond(addr string) bool { return addr != "" && !onThisMachine(addr) }

// listening is all addresses on which a server listens.
type listening struct {
	api, dashboard *boundAddress // the same unless the dashboard has its own; dashboard is nil when it is off
}

func (f addressFlags) open(ctx context.Context, log *slog.Logger) (l listening, err error) {
	if l.api, err = f.listen(ctx, f.Addr, log); err != nil {
		return l, err
	}
	switch {
	case f.Dashboard == "off":
	case f.DashboardAddr == "":
		l.dashboard = l.api
	default:
		if l.dashboard, err = f.listen(ctx, f.DashboardAddr, log); err != nil {
			return l, errors.Join(err, l.api.Close())
		}
	}
	return l, nil
}

// apart reports whether the dashboard has an address of its own.
func (l listening) apart() bool { return l.dashboard != nil && l.dashboard != l.api }

func (l listening) close() error {
	err := l.api.Close()
	if l.apart() {
		err = cmp.Or(err, l.dashboard.Close())
	}
	return err
}
