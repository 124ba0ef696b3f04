package providers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/socialdata/socialdata/providers"
)

// asked is a word in the request: no log may contain it.
const asked = "quillwort"

func TestLoggable(t *testing.T) {
	t.Parallel()
	_, badNumber := strconv.Atoi(asked)
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"none", nil, ""},
		{"a bare kind", providers.ErrUnavailable, "upstream unavailable"},
		{"a detail", providers.Walled("no page for %s", asked), "upstream unavailable"},
		{
			"a status", &providers.RequestError{Status: 502, Err: providers.Walled("%s", asked)},
			"upstream unavailable: status 502",
		},
		{"a prefix", fmt.Errorf("profile %q: %w", asked, providers.ErrTimeout), "upstream timeout"},
		{"the more particular kind", providers.Unsupported("not for %s", asked), "not served for this input"},
		{"a cause in our own words", providers.Unreadable(providers.Cause("no list")), "upstream unavailable: no list"},
		{"a refused connection", providers.Unavailable(
			&url.Error{Op: "Get", URL: "https://example.com/" + asked, Err: dial}, "%s", asked), "upstream unavailable: connection refused"},
		{"no such host", &net.DNSError{Err: "no such host", Name: asked + ".example", IsNotFound: true}, "no such host"},
		{"a proxy", &net.OpError{Op: "proxyconnect", Net: "tcp", Err: dial}, "the proxy cannot be used: connection refused"},
		{
			"a certificate of another host", &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: asked}},
			"the certificate is for another host name",
		},
		{"a certificate of an unknown authority", x509.UnknownAuthorityError{}, "the certificate is signed by an unknown authority"},
		{
			"an old certificate",
			x509.CertificateInvalidError{Reason: x509.Expired, Detail: asked},
			"the certificate has expired or is not valid yet",
		},
		{"no TLS", tls.RecordHeaderError{Msg: asked}, "the answer is not TLS"},
		{"a closed connection", fmt.Errorf("%s: %w", asked, io.EOF), "the connection was closed"},
		{"a truncated answer", fmt.Errorf("%s: %w", asked, io.ErrUnexpectedEOF), "answer ended too early"},
		{"no time", fmt.Errorf("%s: %w", asked, context.DeadlineExceeded), "context deadline exceeded"},
		{"a number", badNumber, "invalid syntax"},
		{"malformed JSON", json.Unmarshal([]byte(`{"a":x}`), new(any)), "malformed JSON at byte 6"},
		{"JSON of another type", json.Unmarshal([]byte(`{"a":"`+asked+`"}`), new(map[string]int)), "JSON of another type at byte 16"},
		{"an unknown error", errors.New(asked), "*errors.errorString"},
		{"several", errors.Join(errors.New(asked), fmt.Errorf("%s", asked), syscall.EPIPE), "*errors.errorString: broken pipe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := providers.Loggable(tt.err)
			if got != tt.want {
				t.Errorf("Loggable = %q, want %q", got, tt.want)
			}
			if strings.Contains(got, asked) {
				t.Errorf("Loggable = %q holds what was asked", got)
			}
		})
	}
}
