package providertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"sync"
)

// validators gives each answer to a GET that next has an entity tag, and answers 304 where the request names that tag.
type validators struct {
	next http.RoundTripper

	mu    sync.Mutex
	count counted
}

// counted is what has been asked since the last reset.
type counted struct {
	asked     int // requests
	could     int // of them, those that a 304 may answer the next time
	unchanged int // of them, those that were answered 304
}

// lone reports whether there was one request since the last reset, which can be asked again by its tag, and resets.
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
