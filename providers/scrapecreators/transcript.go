package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// words reads a transcript that is one text without times, for the post with the given id and page.
func (c *client) words(ctx context.Context, r upstream.Request, id, page string) (t schema.Transcript, err error) {
	var a answer
	var transcript wire.Object[string] // null when nothing is said
	if _, err = c.http.Read(ctx, r, &a); err != nil {
		return t, err
	}
	at, here := a["transcript"]
	if err = wire.Need(ctx, "transcript", here || string(a["transcriptNotAvailable"]) == "true"); err != nil {
		return t, err
	}
	if here {
		transcript.UnmarshalJSON(at) //nolint:errcheck // it never fails
	}
	if err = transcript.Optional(ctx, "transcript"); err != nil {
		return t, err
	}
	words := strings.TrimSpace(transcript.V)
	if words == "" {
		return t, providers.NotFound("the post has no transcript")
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return t, providers.Unreadable(err)
	}
	return schema.Transcript{
		Common: schema.Common{ID: id, URL: page, Raw: raw}, PostID: id, Text: words,
		Segments: []schema.TranscriptSegment{{Text: words}},
	}, nil
}
