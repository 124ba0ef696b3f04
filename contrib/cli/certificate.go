package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateEvery is the minimum time between two checks for changed files.
const certificateEvery = time.Second

// certificate is a pair of files that may be replaced while the program runs.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	looked time.Time
	read   [2]os.FileInfo // the files from which pair was read
	failed [2]os.FileInfo // the last files that could not be used
	pair   *tls.Certificate
}

// openCertificate reads a certificate and its key.
func openCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log, looked: time.Now()}
	c.read = c.files()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", cert, key, err)
	}
	c.pair = &pair
	return c, nil
}

// files returns the state of both files, nil for one that does not exist.
func (c *certificate) files() (files [2]os.FileInfo) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			files[i] = info
		}
	}
	return files
}

// same reports whether no file has changed.
func same(a, b [2]os.FileInfo) bool {
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) {
			return false
		}
		if a[i] != nil && (!os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size()) {
			return false
		}
	}
	return true
}

// config returns the settings of a server.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil },
	}
}

// current returns the certificate, reading the files again if they have changed. While they cannot be used, such as
// when only one of them has been replaced, it returns the previous one.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.looked) < certificateEvery {
		return c.pair
	}
	c.looked = now
	files := c.files()
	if same(files, c.read) {
		return c.pair
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	switch {
	case err == nil:
		c.pair, c.read, c.failed = &pair, files, [2]os.FileInfo{}
		c.log.Info("the TLS certificate was reloaded", "until", pair.Leaf.NotAfter.UTC())
	case !same(files, c.failed):
		c.failed = files
		c.log.Warn("the new TLS certificate cannot be used; the old one stays in use", "error", err)
	}
	return c.pair
}

const certificateSoon = 14 * 24 * time.Hour

// checkCertificate returns what is wrong with a certificate and its key, and what soon will be.
func checkCertificate(cert, key string, now time.Time) (soon string, err error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return "", err
	}
	return checkPair(pair, key, now)
}

// checkPair is checkCertificate for a pair that has been read.
func checkPair(pair tls.Certificate, key string, now time.Time) (soon string, err error) {
	info, err := os.Stat(key)
	if err != nil {
		return "", err
	}
	if readableByAll(info) {
		return "", fmt.Errorf("every user of this machine can read %s: chmod 600 it", key)
	}
	return validity(pair.Leaf, now)
}

// validity returns what is wrong with the validity period of a certificate, and what soon will be.
func validity(leaf *x509.Certificate, now time.Time) (soon string, err error) {
	switch {
	case now.Before(leaf.NotBefore):
		return "", fmt.Errorf("the certificate is valid only from %s on", stamp(&leaf.NotBefore))
	case !now.Before(leaf.NotAfter):
		return "", fmt.Errorf("the certificate expired at %s", stamp(&leaf.NotAfter))
	case leaf.NotAfter.Sub(now) < certificateSoon:
		return "the certificate expires at " + stamp(&leaf.NotAfter) + ": renew it", nil
	}
	return "", nil
}
