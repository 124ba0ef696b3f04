package scrapecreators

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/vtt"
	"github.com/socialdata/socialdata/schema"
)

// words reads a transcript that is one text without times, for the post with the given id and page.
func (c *client) words(ctx context.Context, r upstream.Request, id, page string) (t schema.Transcript, err error) {
	a, err := upstream.Object[struct {
		Text   sole[string]    `json:"transcript"` // null when nothing is said
		Absent json.RawMessage `json:"transcriptNotAvailable"`
	}](ctx, c.http, r, "")
	if err != nil {
		return t, err
	}
	if a.V.Text.Odd() || string(a.V.Absent) != "true" {
		if err := a.V.Text.given(ctx, "transcript"); err != nil {
			return t, err
		}
	}
	words := strings.TrimSpace(a.V.Text.V)
	if words == "" {
		return t, providers.NotFound("the post has no transcript")
	}
	return schema.Transcript{
		Common: schema.Common{ID: id, URL: page, Raw: a.Raw}, PostID: id, Text: words,
		Segments: []schema.TranscriptSegment{{Text: words}},
	}, nil
}

// subtitles completes a transcript with the lines of a WebVTT file.
func subtitles(ctx context.Context, t schema.Transcript, file string) (schema.Transcript, error) {
	lines, err := vtt.Segments(ctx, []byte(file))
	if err != nil {
		return schema.Transcript{}, err
	}
	t.Segments, t.Text = lines, vtt.Text(lines)
	return t, nil
}
