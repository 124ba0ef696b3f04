package mock

import (
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func transcriptKey(q providers.TranscriptQuery) []string { return []string{q.PostID} }

// transcript returns the speech of a post as text, in the requested language or its own.
func (s *sandbox) transcript(q providers.TranscriptQuery) (schema.Transcript, error) {
	lang := q.Lang
	if lang == "" {
		lang = langOf(q.PostID)
	}
	return s.captions(q.PostID, lang).transcript(), nil
}

// captions are a transcript in the format of the sandbox platform.
type captions struct {
	ItemID   string `json:"item_id"`
	Link     string `json:"link"`
	Language string `json:"language"`
	Lines    []line `json:"lines"`
}

type line struct {
	From int    `json:"from_ms"`
	To   *int   `json:"to_ms"` // null if the next line begins at its end
	Said string `json:"said"`
}

func (g *generator) captions(postID, lang string) captions {
	d := roll("captions", postID, lang)
	c := captions{ItemID: postID, Link: g.page("posts", postID), Language: lang}
	now := 0
	for range d.between(6, 12) {
		end := now + d.between(1500, 5000) // twelve lines fit into the shortest video
		c.Lines = append(c.Lines, line{From: now, To: hide(d, 10, end), Said: pick(d, sentences[lang])})
		now = end
	}
	return c
}

func (c captions) transcript() schema.Transcript {
	t := schema.Transcript{
		Common: common(child(c.ItemID, "transcript", 1), c.Link, c),
		PostID: c.ItemID,
		Lang:   &c.Language,
	}
	var said []string
	for _, l := range c.Lines {
		seg := schema.TranscriptSegment{StartS: new(float64(l.From) / 1000), Text: l.Said}
		if l.To != nil {
			seg.EndS = new(float64(*l.To) / 1000)
		}
		t.Segments = append(t.Segments, seg)
		said = append(said, l.Said)
	}
	t.Text = strings.Join(said, " ")
	return t
}

func collectionsKey(q providers.CollectionsQuery) []string { return []string{q.Handle} }

// collections lists an account's playlists, boards, highlights, albums and podcasts.
func (s *sandbox) collections(q providers.CollectionsQuery) (series[schema.Collection], error) {
	l := series[schema.Collection]{n: length("collection", q.Handle), at: func(i int) schema.Collection {
		return s.set(child(q.Handle, "collection", i+1)).collection()
	}}
	if q.Kind != "" {
		l.keep = func(c schema.Collection) bool { return c.Kind == q.Kind }
	}
	return l, nil
}

func collectionKey(q providers.CollectionQuery) []string { return []string{q.ID} }

func (s *sandbox) collection(q providers.CollectionQuery) (schema.Collection, error) {
	c := s.set(q.ID)
	if q.Kind != "" && q.Kind != c.Kind {
		return schema.Collection{}, providers.NotFound("this collection is a %s, not a %s", c.Kind, q.Kind)
	}
	return c.collection(), nil
}

// collectionPosts lists the posts in a collection, by many accounts.
func (s *sandbox) collectionPosts(q providers.CollectionQuery) (series[schema.Post], error) {
	if _, err := s.collection(q); err != nil {
		return series[schema.Post]{}, err
	}
	return s.mixed("in collection", q.ID), nil
}

// collectionTracks lists the tracks in a collection.
func (s *sandbox) collectionTracks(q providers.CollectionQuery) (series[schema.Track], error) {
	if _, err := s.collection(q); err != nil {
		return series[schema.Track]{}, err
	}
	return series[schema.Track]{n: length("in collection", q.ID), at: func(i int) schema.Track {
		return s.sound(child(q.ID, "song", i+1)).track()
	}}, nil
}

// set is a collection in the format of the sandbox platform.
type set struct {
	SetID   string                `json:"set_id"`
	Link    string                `json:"link"`
	Kind    schema.CollectionKind `json:"kind"`
	Name    string                `json:"name"`
	About   *string               `json:"about"`
	By      *account              `json:"by"` // null if the platform itself maintains it
	Size    *int64                `json:"size"`
	Cover   *string               `json:"cover"`
	Created *int64                `json:"created"` // Unix seconds
}

func (g *generator) set(id string) set {
	d, by := roll("collection", id), owner(id)
	_, n := origin(id)
	kinds, lang := schema.CollectionKinds(), homeOf(by).lang
	return set{
		SetID:   id,
		Link:    g.page("collections", id),
		Kind:    kinds[n%len(kinds)],
		Name:    pick(d, titles[lang]),
		About:   hide(d, 35, pick(d, sentences[lang])),
		By:      hide(d, 8, g.account(by)),
		Size:    hide(d, 10, int64(length("in collection", id))),
		Cover:   hide(d, 20, g.file("covers", id, strconv.Itoa(n)+".jpg")),
		Created: hide(d, 25, g.ago(time.Duration(d.below(900*24))*time.Hour)),
	}
}

func (c set) collection() schema.Collection {
	out := schema.Collection{
		Common:      common(c.SetID, c.Link, c),
		Kind:        c.Kind,
		Title:       c.Name,
		Description: c.About,
		ItemsCount:  c.Size,
		CoverURL:    c.Cover,
		CreatedAt:   atOrNil(c.Created),
	}
	if c.By != nil {
		out.Owner = new(c.By.actor())
	}
	return out
}
