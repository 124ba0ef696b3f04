package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/await"
)

// pair writes a certificate for 127.0.0.1 and its key, valid from now until then, and returns their files and its
// serial number.
func pair(t *testing.T, dir string, until time.Time) (cert, key string, number *big.Int) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if number, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: number, NotBefore: until.Add(-2400 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := errors.Join(
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return cert, key, number
}

// shown returns the serial number of a server's certificate, and the protocol that it negotiates.
func shown(t *testing.T, addr string) (*big.Int, string) {
	t.Helper()
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}}
	conn, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a test
	state := conn.(*tls.Conn).ConnectionState()
	return state.PeerCertificates[0].SerialNumber, state.NegotiatedProtocol
}

func TestTLSWithACertificateThatChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, first := pair(t, dir, time.Now().Add(90*24*time.Hour))
	base, secret, stop := running(t, filepath.Join(dir, "t.db"), "--tls-cert", cert, "--tls-key", key)
	addr, https := strings.CutPrefix(base, "https://")
	if !https {
		t.Fatalf("it says that it serves on %s", base)
	}
	if number, protocol := shown(t, addr); number.Cmp(first) != 0 || protocol != "http/1.1" {
		t.Errorf("certificate %v over %s, want %v over http/1.1", number, protocol, first)
	}
	roots := x509.NewCertPool()
	text, err := os.ReadFile(cert)
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	for path, want := range map[string]int{
		"/v1/mock/profile?handle=ann": http.StatusOK, "/dashboard/login": http.StatusOK,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	client.CloseIdleConnections()
	_, _, second := pair(t, dir, time.Now().Add(91*24*time.Hour))
	await.Until(t, "the new certificate to be shown", func() bool {
		number, _ := shown(t, addr)
		return number.Cmp(second) == 0
	})
	if status := stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestAnUnusableCertificateIsNotLoaded replaces one of the two files first, and the other later.
func TestAnUnusableCertificateIsNotLoaded(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	certFile, keyFile, first := pair(t, dir, time.Now().Add(time.Hour))
	newCert, newKey, second := pair(t, other, time.Now().Add(time.Hour))
	var log output
	c, err := openCertificate(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	look := func() *big.Int {
		c.looked = time.Time{}
		return c.current().Leaf.SerialNumber
	}
	if err := os.Rename(newCert, certFile); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := look(); got.Cmp(first) != 0 {
			t.Errorf("half a pair: certificate %v, want %v", got, first)
		}
	}
	if n := strings.Count(log.String(), "cannot be used"); n != 1 {
		t.Errorf("it was said %d times:\n%s", n, log.String())
	}
	if err := os.Rename(newKey, keyFile); err != nil {
		t.Fatal(err)
	}
	if got := look(); got.Cmp(second) != 0 {
		t.Errorf("the whole pair: certificate %v, want %v", got, second)
	}
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	if got := look(); got.Cmp(second) != 0 {
		t.Errorf("no pair: certificate %v, want %v", got, second)
	}
}

func TestAddressesThatArePrinted(t *testing.T) {
	t.Parallel()
	for listened, want := range map[string][2]string{
		"0.0.0.0:8080":   {"http://0.0.0.0:8080", "http://127.0.0.1:8080"},
		"[::]:8080":      {"http://[::]:8080", "http://127.0.0.1:8080"},
		"127.0.0.1:8080": {"http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		"[::1]:80":       {"http://[::1]:80", "http://[::1]:80"},
		"192.0.2.7:80":   {"http://192.0.2.7:80", "http://192.0.2.7:80"},
	} {
		p := &boundAddress{addressed{addr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listened))}, nil}
		if diff := cmp.Diff(want, [2]string{p.url(), p.here()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", listened, diff)
		}
		if all := p.everywhere() != ""; all != (want[0] != want[1]) {
			t.Errorf("%s: every address: %t", listened, all)
		}
	}
}

// addressed is a listener that only has an address.
type addressed struct {
	net.Listener
	addr net.Addr
}

func (a addressed) Addr() net.Addr { return a.addr }

func TestExposuresAreWarnedAbout(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flags []string
		user  int
		want  []string // how each begins
	}{
		"as it comes":            {nil, 1000, nil},
		"root":                   {nil, 0, []string{"running as root"}},
		"every address":          {[]string{"--addr", "0.0.0.0:8080"}, 1000, []string{"no TLS: keys"}},
		"an address of its own":  {[]string{"--addr", "192.0.2.1:8080"}, 1000, []string{"no TLS: keys"}},
		"no host":                {[]string{"--addr", ":8080"}, 1000, []string{"no TLS: keys"}},
		"with TLS":               {[]string{"--addr", ":443", "--tls-cert", "c", "--tls-key", "k"}, 1000, nil},
		"behind a proxy":         {[]string{"--addr", ":8080", "--trusted-proxy", "10.0.0.0/8"}, 1000, nil},
		"public metrics":         {[]string{"--metrics", "0.0.0.0:9464"}, 1000, []string{"public metrics"}},
		"metrics of the machine": {[]string{"--metrics", "127.0.0.1:9464"}, 1000, nil},
		"the dashboard":          {[]string{"--dashboard-addr", "[::]:9000"}, 1000, []string{"no TLS: the admin secret"}},
		"everything": {
			[]string{"--addr", "[::]:1", "--metrics", ":2", "--dashboard-addr", ":3"},
			0,
			[]string{"no TLS: keys", "no TLS: the admin secret", "public metrics", "running as root"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := parsed(t, append([]string{"serve"}, tt.flags...)...)
			var got []string
			for i, text := range c.Serve.exposures(tt.user) {
				if i < len(tt.want) && strings.HasPrefix(text, tt.want[i]) {
					text = tt.want[i]
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestServeWarnsOfItsCertificate starts a server with an address that nothing can listen on, so that it ends at once.
func TestServeWarnsOfItsCertificate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode  os.FileMode
		until time.Duration
		want  string // "" for no warning
	}{
		"as it should be":              {0o600, 2000 * time.Hour, ""},
		"for a group":                  {0o640, 2000 * time.Hour, ""},
		"a key that everyone can read": {0o644, 2000 * time.Hour, "every user of this machine can read"},
		"it expires soon":              {0o600, time.Hour, "the certificate expires at"},
		"it has expired":               {0o600, -time.Hour, "the certificate expired at"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cert, key, _ := pair(t, dir, time.Now().Add(tt.until))
			if err := os.Chmod(key, tt.mode); err != nil {
				t.Fatal(err)
			}
			status, _, log := cliRun(t, nil, "--db", filepath.Join(dir, "t.db"), "serve", "--addr", "256.0.0.1:1", "--tls-cert", cert,
				"--tls-key", key)
			if warned := strings.Contains(log, "WARNING: TLS: "); status != 1 || warned != (tt.want != "") ||
				!strings.Contains(log, tt.want) {
				t.Errorf("exit status %d: %s", status, log)
			}
		})
	}
}

// parsed returns arguments as commands receive them.
func parsed(t *testing.T, args ...string) *commandLine {
	t.Helper()
	c := &commandLine{}
	parser, err := kong.New(c)
	if err == nil {
		_, err = parse(parser, args)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFlagsOfAddressesAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for flags, want := range map[string]string{
		"--tls-cert=c":                            "go together",
		"--tls-key=k":                             "go together",
		"--tls-cert=/no/c --tls-key=/no/k":        "/no/c",
		"--trusted-proxy=nginx":                   "--trusted-proxy nginx",
		"--trusted-proxy=10.0.0.0/8,10.0.0.0/99":  "10.0.0.0/99",
		"--trusted-proxy=::ffff:10.0.0.1":         "::ffff:10.0.0.1",
		"--dashboard=off --dashboard-addr=:9":     "--dashboard=on",
		"--dashboard-addr=256.0.0.1:9":            "256.0.0.1",
		"--replay-url=ftp://ann:sesame@127.0.0.1": "not an http URL",
	} {
		args := append([]string{"--db", filepath.Join(dir, "t.db"), "serve", "--addr", "127.0.0.1:0"},
			strings.Fields(flags)...)
		status, out, log := cliRun(t, nil, args...)
		if status != 1 || !strings.Contains(log, want) || strings.Contains(out+log, "sesame") {
			t.Errorf("%s: exit status %d, %s%s", flags, status, out, log)
		}
	}
}

func TestTheDashboardAndTheToolsCanBeElsewhereOrOff(t *testing.T) {
	t.Parallel()
	addr := freeAddr(t)
	for name, tt := range map[string]struct {
		flags       []string
		want        map[string]int // statuses by path, on the API's address
		besideWants map[string]int // statuses by path, on addr
	}{
		"as it comes": {nil, map[string]int{"/dashboard/login": 200, "/mcp": 401, "/metrics": 401, "/docs": 200}, nil},
		"off": {
			[]string{"--dashboard=off", "--mcp=off"},
			map[string]int{"/dashboard/login": 404, "/dashboard": 404, "/mcp": 404, "/metrics": 404, "/docs": 200},
			nil,
		},
		"elsewhere": {
			[]string{"--dashboard-addr", addr},
			map[string]int{"/dashboard/login": 404, "/dashboard": 404, "/metrics": 401, "/health": 200},
			map[string]int{
				"/dashboard/login": 200, "/v1/platforms": 404, "/health": 404, "/metrics": 404, "/mcp": 404, "/docs": 404,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, _, stop := running(t, filepath.Join(t.TempDir(), "t.db"), tt.flags...)
			wantStatuses(t, base, tt.want)
			wantStatuses(t, "http://"+addr, tt.besideWants)
			if status := stop(); status != 0 {
				t.Errorf("exit status %d", status)
			}
		})
	}
}

func wantStatuses(t *testing.T, base string, want map[string]int) {
	t.Helper()
	for path, status := range want {
		method := http.MethodGet
		if path == "/mcp" {
			method = http.MethodPost
		}
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := (&http.Client{}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%s%s: %s, want %d", base, path, res.Status, status)
		}
	}
}

func TestWithoutPrintKeyNoKeyIsPrinted(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "t.db")
	var out, log output
	ctx, cancel := context.WithCancel(t.Context())
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{
			"--db", db, "--replay-url", "http://ann:sesame@127.0.0.1:9/?token=sesame", "serve", "--addr", "127.0.0.1:0", "--print-key=false",
		},
			strings.NewReader(""), &out, &log, func(string) string { return "" })
	}()
	await.Until(t, "the server to start", func() bool { return strings.Contains(out.String(), "socialdata serves") })
	for _, secret := range []string{"sk_live", "admin_", "sesame"} {
		if strings.Contains(out.String()+log.String(), secret) {
			t.Errorf("%s is shown:\n%s%s", secret, out.String(), log.String())
		}
	}
	if !strings.Contains(out.String(), "socialdata key create --account") ||
		!strings.Contains(log.String(), "http://127.0.0.1:9/") {
		t.Errorf("it does not say how to begin:\n%s%s", out.String(), log.String())
	}
	for _, args := range [][]string{
		{"account", "create", "shop", "--credits", "5"}, {"key", "create", "--account", "shop"}, {"admin", "reset"},
	} {
		if status, _, log := cliRun(t, nil, append([]string{"--db", db}, args...)...); status != 0 {
			t.Errorf("%v: %s", args, log)
		}
	}
	cancel()
	if s := <-status; s != 0 {
		t.Errorf("exit status %d: %s", s, log.String())
	}
}

// TestDoctorChecksTheExposureOfTheServer sets the environment, so it cannot run in parallel.
func TestDoctorChecksTheExposureOfTheServer(t *testing.T) {
	dir := t.TempDir()
	cert, key, _ := pair(t, dir, time.Now().Add(90*24*time.Hour))
	doctor := func() (int, string) {
		status, out, _ := cliRun(t, nil, "--db", filepath.Join(dir, "t.db"), "doctor", "--offline")
		return status, out
	}
	t.Setenv("SOCIALDATA_ADDR", "0.0.0.0:8080")
	t.Setenv("SOCIALDATA_METRICS", "0.0.0.0:9464")
	if status, out := doctor(); status != 0 || !strings.Contains(out, "warn  no TLS") ||
		!strings.Contains(out, "warn  public metrics") {
		t.Errorf("open to all: %d\n%s", status, out)
	}
	t.Setenv("SOCIALDATA_TLS_CERT", cert)
	if status, out := doctor(); status != 1 || !strings.Contains(out, "go together") {
		t.Errorf("half a pair: %d\n%s", status, out)
	}
	t.Setenv("SOCIALDATA_TLS_KEY", key)
	if status, out := doctor(); status != 0 || !strings.Contains(out, "ok    tls") || strings.Contains(out, "no TLS") {
		t.Errorf("with a certificate: %d\n%s", status, out)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if status, out := doctor(); status != 1 || !strings.Contains(out, "FAIL  tls") || !strings.Contains(out, "chmod 600") {
		t.Errorf("a key that all can read: %d\n%s", status, out)
	}
	for _, tt := range []struct {
		until  time.Duration
		status int
		words  string
	}{
		{time.Hour, 0, "warn  tls         the certificate expires"}, {-time.Hour, 1, "FAIL  tls         the certificate expired"}, {3000 * time.Hour, 1, "valid only from"},
	} {
		if err := os.Remove(key); err != nil {
			t.Fatal(err)
		}
		pair(t, dir, time.Now().Add(tt.until))
		if status, out := doctor(); status != tt.status || !strings.Contains(out, tt.words) {
			t.Errorf("%v: %d\n%s", tt.until, status, out)
		}
	}
}
