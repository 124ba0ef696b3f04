package server

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// takesFile reports whether the body of a request below /manage is a file of lines, which is read as it comes.
func (s *Server) takesFile(r *http.Request) bool {
	_, pattern := s.managed.Handler(r)
	return slices.ContainsFunc(s.changes, func(c *operation.Change) bool {
		return c.Line != nil && pattern == c.Method+" "+c.Path
	})
}

// admitFile admits a request with a file of lines. It counts as one of the streams: a caller who sends slowly keeps no
// call from being answered.
func (s *Server) admitFile(w *response, r *http.Request, client *socialdata.Client) error {
	give, err := s.inFlight.stream(client.Key(), socialdata.FrontEnd(client).Alone(r.Context()))
	if err != nil {
		dropBody(w, r)
		return err
	}
	w.releaseLater(give)
	w.key = client.Key().ID
	dropBody(w, r) // of a file that is refused, the rest is not read
	r.Body = &arrivingFile{r.Body, http.NewResponseController(w), &s.limits}
	return nil
}

// arrivingFile is the body of a request that may last long: each part of it has the time limit of a body.
type arrivingFile struct {
	io.ReadCloser
	control *http.ResponseController
	limits  *Limits
}

// Read implements [io.Reader].
func (f *arrivingFile) Read(b []byte) (int, error) {
	now := time.Now()
	_ = f.control.SetReadDeadline(now.Add(f.limits.BodyTimeout)) // not every response supports it
	_ = f.control.SetWriteDeadline(now.Add(f.limits.AnswerTimeout))
	return f.ReadCloser.Read(b)
}

// lines answers with all rows that are there, as lines of JSON. A failure before the first is answered with a problem
// document; after it the connection breaks off, so that the caller does not take a part for all.
func (s *Server) lines(
	w *response, r *http.Request, client *socialdata.Client, o *operation.Operation, call operation.Call,
) {
	end, ok := s.beginStream(w, r, client)
	if !ok {
		return
	}
	defer end()
	control := http.NewResponseController(w)
	out, started := bufio.NewWriterSize(patientWriter{w, control, s.limits.EventTimeout}, 64<<10), false
	err := socialdata.FrontEnd(client).Stream(r.Context(), o, call, func(e operation.Event) bool {
		if e.Meta != nil {
			started = true
			s.lineHeaders(w, r, e.Meta)
			return true
		}
		_, _ = out.Write(e.Result)
		return out.WriteByte('\n') == nil
	})
	switch {
	case err != nil && !started:
		s.fail(w, r, err)
	case err != nil || out.Flush() != nil:
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) lineHeaders(w *response, r *http.Request, meta *schema.Meta) {
	w.set("Content-Type", operation.Lines)
	w.set("Cache-Control", "no-store")
	w.vary("Accept")
	setCacheFields(w, schema.Miss, 0)
	if meta.NextCursor != "" {
		linkHeader(w, nextURL(r.URL, meta.NextCursor), nil)
	}
	if r.ProtoMajor == 1 {
		w.set("Connection", "close") // the time limit of the last part must not apply to the next request
	}
	w.WriteHeader(http.StatusOK)
}

// patientWriter gives each part of an answer its own time limit.
type patientWriter struct {
	w       io.Writer
	control *http.ResponseController
	limit   time.Duration
}

// Write implements [io.Writer].
func (p patientWriter) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.limit)) // not every response supports it
	return p.w.Write(b)
}
