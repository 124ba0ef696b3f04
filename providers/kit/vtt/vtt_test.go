package vtt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/vtt"
	"github.com/socialdata/socialdata/schema"
)

type segment = schema.TranscriptSegment

func cue(start, end float64, text string) segment {
	return segment{StartS: &start, EndS: &end, Text: text}
}

func TestSegments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       []segment
	}{
		{"a plain file", "WEBVTT\n\n\n00:00:00.120 --> 00:00:01.840\nHello there.\n\n" +
			"00:00:01.841 --> 00:01:03.761\nAgain\n", []segment{
			cue(0.12, 1.84, "Hello there."), cue(1.841, 63.761, "Again"),
		}},
		{"times without hours, and beyond a day", "WEBVTT\n\n00:00.300 --> 59:59.999\na\n\n" +
			"100:00:00.000 --> 100:00:00.001\nb", []segment{
			cue(0.3, 3599.999, "a"), cue(360000, 360000.001, "b"),
		}},
		{"lines of Windows, of old Macs, and a byte-order mark", "\ufeffWEBVTT - title\r\n\r\n" +
			"00:01.000 --> 00:02.000\r\na\r\nb\r\n\r00:03.000 --> 00:04.000\rc", []segment{
			cue(1, 2, "a b"), cue(3, 4, "c"),
		}},
		{
			"headers, notes, styles, regions and names are not said",
			"WEBVTT\nKind: captions\nLanguage: ar\n\nSTYLE\n::cue { color: red }\n\n" +
				"REGION\nid:r\n\nNOTE of the author\nmore\n\n" +
				"intro\n00:01.000 --> 00:02.000 align:start position:0%\nمرحبا بكم 👋\n\nNOTE end\n",
			[]segment{cue(1, 2, "مرحبا بكم 👋")},
		},
		{"a note ends where a cue begins", "WEBVTT\n\nNOTE\n00:01.000 --> 00:02.000\na", []segment{cue(1, 2, "a")}},
		{
			"markup goes, characters stay", "WEBVTT\n\n00:01.000 --> 00:02.000\n" +
				"<v Ann>1 &lt; 2 &amp; <00:01.500><c.x>so</c>\u200f&nbsp;on<b\n\n00:02.000 --> 00:03.000\n<i></i>",
			[]segment{cue(1, 2, "1 < 2 & so\u200f on")},
		},
		{"cues without an empty line between them", "WEBVTT\n\n" +
			"00:01.000 --> 00:02.000\na\n00:02.000 --> 00:03.000\nb", []segment{cue(1, 2, "a"), cue(2, 3, "b")}},
		{"a cue that cannot be read costs itself", "" +
			"WEBVTT\n\n00:61.000 --> 00:02.000\na\n\nx --> y\nc\n\n00:02,500 --> 00:03,000\nb", []segment{cue(2.5, 3, "b")}},
		{"an end before its start is unknown", "WEBVTT\n\n00:05.000 --> 00:02.000\na", []segment{{StartS: new(5.0), Text: "a"}}},
		{"nothing is said", "WEBVTT", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := vtt.Segments(t.Context(), []byte(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Segments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSegmentsOfOtherFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"", "WEBVTTX\n", "<html>", "1\n00:00:01,000 --> 00:00:02,000\na", "WEBVTT\n\nx --> y\na\n\n-->\nb",
	} {
		if got, err := vtt.Segments(t.Context(), []byte(file)); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("Segments(%q) = %v, %v, want ErrUnavailable", file, got, err)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	if got := vtt.Text([]segment{cue(0, 1, "Hello"), cue(1, 2, "you")}); got != "Hello you" {
		t.Errorf("Text = %q", got)
	}
	if got := vtt.Text(nil); got != "" {
		t.Errorf("Text of nothing = %q", got)
	}
}

func FuzzSegments(f *testing.F) {
	f.Add("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>a &amp; b")
	f.Fuzz(func(t *testing.T, file string) {
		segments, err := vtt.Segments(t.Context(), []byte(file))
		if err == nil && len(vtt.Text(segments)) > 4*len(file) {
			t.Errorf("%d bytes of text in a file of %d", len(vtt.Text(segments)), len(file))
		}
		for _, s := range segments {
			if s.Text == "" || strings.Contains(s.Text, "\n") || s.StartS == nil || s.EndS != nil && *s.EndS < *s.StartS {
				t.Errorf("Segments = %+v", s)
			}
		}
	})
}
