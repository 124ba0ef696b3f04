package train

import (
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic/internal/feature"
	"github.com/socialdata/socialdata/enrich/arabic/internal/ner"
	"github.com/socialdata/socialdata/enrich/arabic/internal/token"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
)

// tagNames maps the tags of the collections to those of the tagger.
var tagNames = map[string]string{
	"PER": "PER", "PERS": "PER", "ORG": "ORG", "LOC": "LOC", "GPE": "LOC", "FAC": "LOC", "MISC": "MISC",
}

// tagOf parses a tag of a collection. For nested tags, it returns the first known one, which is the outer entity's.
func tagOf(tag string) string {
	for part := range strings.SplitSeq(tag, "|") {
		if pos, kind, ok := strings.Cut(part, "-"); ok && tagNames[kind] != "" {
			return pos + "-" + tagNames[kind]
		}
	}
	return "O"
}

// TagSentence scans a sentence as running text and transfers its tags.
func TagSentence(r *ner.Reader, s *corpus.Sentence) Tagged {
	var d token.Doc
	var set feature.Set
	q := &ner.Seq{}
	d.Scan(strings.Join(s.Tokens, " "))
	set.Extract(&d)
	r.Read(q, &d, &set)
	out := Tagged{Seq: q, Tags: make([]uint8, q.Len())}
	end, at, prev := 0, -1, "O"
	for i, k := range q.Tokens {
		t := &d.Tokens[k]
		first := false
		for at < 0 || t.Start >= end {
			if at >= 0 {
				end++ // the space
			}
			at++
			end += len(s.Tokens[at])
			first = true
		}
		tag := tagOf(s.Tags[at])
		if t.Kind == token.Punct && !first || tag == "O" {
			prev = "O"
			if tag != "O" {
				prev = tag
			}
			continue
		}
		kind := tag[2:]
		begin := first && tag[0] == 'B' || prev == "O" || prev[2:] != kind
		out.Tags[i] = tagIndex(kind, begin)
		prev = tag
	}
	return out
}

// tagIndex returns the number of a tag.
func tagIndex(kind string, begin bool) uint8 {
	name := "I-" + kind
	if begin {
		name = "B-" + kind
	}
	for i, t := range ner.Tags {
		if t == name {
			return uint8(i)
		}
	}
	return 0
}
