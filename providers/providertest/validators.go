package providertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"sync"
)

// validators adds an entity tag to each answer of next to a GET, and answers 304 if the request contains that tag.
type validators struct {
	next http.RoundTripper

	mu    sync.Mutex
	count counted
}

// counted are the requests since the last reset.
type counted struct {
	asked     int
	could     int // those whose answers may be confirmed by a 304 the next time
	unchanged int // those that were answered with 304
}

// lone reports whether there was exactly one request since the last reset and its answer can be confirmed by its tag.
// It resets the counts.
func (v *validators) lone() bool {
	c := v.reset()
	return c.asked == 1 && c.could == 1
}

func (v *validators) reset() counted {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.count
	v.count = counted{}
	return c
}

// RoundTrip implements [http.RoundTripper].
func (v *validators) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := v.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.count.asked++
	if r.Method != http.MethodGet || res.StatusCode != http.StatusOK || res.Header.Get("Set-Cookie") != "" {
		return res, nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	res.Header.Set("ETag", tag)
	v.count.could++
	if r.Header.Get("If-None-Match") == tag {
		v.count.unchanged++
		return &http.Response{
			Status: "304", StatusCode: http.StatusNotModified, Proto: res.Proto, ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Etag": {tag}}, Body: http.NoBody, Request: r,
		}, nil
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}
