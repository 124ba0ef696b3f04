// Package vtt reads subtitles in the form WebVTT.
package vtt

import (
	"context"
	"html"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers/internal/links"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// Segments returns the cues of a WebVTT file, in order, as plain text: without markup, the lines of a cue joined by a space.
// Cues in which nothing is said are left out, as are those whose times cannot be read; comments, styles and regions are no
// cues. A file without cues has none. It fails with providers.ErrUnavailable for what is no WebVTT file, and when none of
// its cues could be read.
// https://www.w3.org/TR/webvtt1/#file-parsing
func Segments(ctx context.Context, file []byte) ([]schema.TranscriptSegment, error) {
	lines := split(file)
	if err := wire.Need(ctx, "the header of the subtitles", isHeader(lines[0])); err != nil {
		return nil, err
	}
	var out []schema.TranscriptSegment
	understood, lost := 0, 0
	for i := 1; i < len(lines); i++ {
		timing := lines[i]
		if !strings.Contains(timing, arrow) {
			i = skipBlock(lines, i)
			continue
		}
		var said []string
		for i+1 < len(lines) && lines[i+1] != "" && !strings.Contains(lines[i+1], arrow) {
			i++
			said = append(said, lines[i])
		}
		cue, ok := times(timing)
		if !ok {
			lost++
			continue
		}
		understood++
		if cue.Text = plain(strings.Join(said, " ")); cue.Text != "" {
			out = append(out, cue)
		}
	}
	return out, wire.Understood("cues", understood, lost)
}

// Text returns all that is said in segments.
func Text(segments []schema.TranscriptSegment) string {
	said := make([]string, len(segments))
	for i, s := range segments {
		said[i] = s.Text
	}
	return strings.Join(said, " ")
}

const arrow = "-->"

// split returns the lines of a file, of which there is at least one, without a byte-order mark.
func split(file []byte) []string {
	s := strings.TrimPrefix(strings.ToValidUTF8(string(file), "\ufffd"), "\ufeff")
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
}

func isHeader(line string) bool {
	rest, ok := strings.CutPrefix(line, "WEBVTT")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// skipBlock returns the last line of what begins on line i and is no timing: an empty line, the name of a cue, which has its
// timing on the next line, or a block that goes on to an empty line.
func skipBlock(lines []string, i int) int {
	word, _, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
	switch word {
	case "NOTE", "STYLE", "REGION":
		for i+1 < len(lines) && lines[i+1] != "" && !strings.Contains(lines[i+1], arrow) {
			i++
		}
	}
	return i
}

// times reads the line above what is said: when it begins and ends, and where it is shown, which is left aside.
func times(line string) (cue schema.TranscriptSegment, ok bool) {
	from, rest, _ := strings.Cut(line, arrow)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return cue, false
	}
	start, ok := seconds(strings.TrimSpace(from))
	if !ok {
		return cue, false
	}
	cue.StartS = &start
	if end, ok := seconds(fields[0]); ok && end >= start {
		cue.EndS = &end
	}
	return cue, true
}

// seconds reads 00:01:02.345, in which the hours may be left out, be it with a comma as in other subtitles.
func seconds(s string) (float64, bool) {
	clock, fraction, ok := strings.Cut(strings.Replace(s, ",", ".", 1), ".")
	parts := strings.Split(clock, ":")
	if !ok || len(fraction) != 3 || !links.Digits(fraction) || len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	whole := 0
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || !links.Digits(part) || i > 0 && n > 59 || len(part) > 6 {
			return 0, false
		}
		whole = whole*60 + n
	}
	millis, _ := strconv.Atoi(fraction) // three digits are a number
	return float64(whole*1000+millis) / 1000, true
}

// plain returns the text of a cue: tags are for voices, styles and karaoke, and a tag that never ends hides the rest, as it
// does in a player.
func plain(s string) string {
	var b strings.Builder
	for s != "" {
		before, tag, opens := strings.Cut(s, "<")
		b.WriteString(before)
		if s = ""; opens {
			_, s, _ = strings.Cut(tag, ">")
		}
	}
	return strings.Join(strings.Fields(html.UnescapeString(b.String())), " ")
}
