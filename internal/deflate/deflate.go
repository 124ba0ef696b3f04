// Package deflate compresses and expands short values with writers and readers that are used again. A new writer takes
// more than a megabyte and a new reader 40 KB, and both many times as long as a value of some kilobytes
// (BenchmarkValue).
package deflate

import (
	"compress/flate"
	"io"
	"sync"
)

var (
	writers = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails only for a level that does not exist
		return w
	}}
	readers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// Writer compresses what is written to it. It must not be used after Close.
type Writer struct{ *flate.Writer }

// To returns a writer to w, at the level [flate.BestSpeed].
func To(w io.Writer) Writer {
	z := writers.Get().(*flate.Writer)
	z.Reset(w)
	return Writer{z}
}

// Close writes what is left.
func (w Writer) Close() error {
	err := w.Writer.Close()
	writers.Put(w.Writer)
	return err
}

// Reader expands what it reads. It must not be used after Close.
type Reader struct{ io.ReadCloser }

// From returns a reader of what r has compressed.
func From(r io.Reader) Reader {
	z := readers.Get().(io.ReadCloser)
	_ = z.(flate.Resetter).Reset(r, nil) // never returns an error
	return Reader{z}
}

// Close ends the reading. It always returns nil.
func (r Reader) Close() error {
	readers.Put(r.ReadCloser)
	return nil
}
