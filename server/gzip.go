package server

import (
	"bytes"
	"compress/gzip"
	"sync"
)

// gzipFrom is the size from which a body is compressed.
const gzipFrom = 1 << 10

// zips keeps compressors for reuse, each of which has most of a megabyte.
type zips struct{ pool sync.Pool }

// compress returns the parts of a body as one, compressed. It runs for every answer, so it uses a fast level.
func (z *zips) compress(parts ...[]byte) ([]byte, error) {
	w, ok := z.pool.Get().(*gzip.Writer)
	if !ok {
		var err error
		if w, err = gzip.NewWriterLevel(nil, gzip.BestSpeed); err != nil {
			return nil, err
		}
	}
	defer z.pool.Put(w)
	var b bytes.Buffer
	w.Reset(&b)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
