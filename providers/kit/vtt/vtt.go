// Package vtt reads WebVTT subtitles.
package vtt

import (
	"context"
	"html"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/providers/kit/links"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// Segments returns the cues of a WebVTT file, in order, as plain text: without markup, the lines of a cue joined by a
// space. Empty cues, and those whose times cannot be read, are left out; comments, styles and regions are not cues. A
// file may have no cues. It returns providers.ErrUnavailable if file is not WebVTT, or if none of its cues could be
// read.
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

// Text returns the text of all segments.
func Text(segments []schema.TranscriptSegment) string {
	said := make([]string, len(segments))
	for i, s := range segments {
		said[i] = s.Text
	}
	return strings.Join(said, " ")
}

const arrow = "-->"

// split returns the lines of a file without a byte-order mark, at least one.
func split(file []byte) []string {
	s := strings.TrimPrefix(strings.ToValidUTF8(string(file), "\ufffd"), "\ufeff")
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
}

func isHeader(line string) bool {
	rest, ok := strings.CutPrefix(line, "WEBVTT")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// skipBlock returns the last line of the block that begins on line i and is not a timing: an empty line, the name of a
// cue, which has its timing on the next line, or a block that ends at an empty line.
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

// times parses the timing line of a cue: its beginning and end. The position after them is ignored.
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

// seconds parses 00:01:02.345. The hours may be missing, and a comma is accepted instead of the point, as in other
// formats.
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
	millis, _ := strconv.Atoi(fraction) // three digits are always a number
	return float64(whole*1000+millis) / 1000, true
}

// plain returns the text of a cue without tags, which are for voices, styles and karaoke. A tag that never ends hides
// the rest, as in a player.
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
