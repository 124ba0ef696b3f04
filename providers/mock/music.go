package mock

import (
	"time"

	"github.com/socialdata/socialdata/schema"
)

func (s *sandbox) track(id string) (schema.Track, error) {
	return s.sound(id).track(), nil
}

// tracks lists an account's tracks.
func (s *sandbox) tracks(handle string) (series[schema.Track], error) {
	return series[schema.Track]{n: length("track", handle), at: func(i int) schema.Track {
		return s.sound(child(handle, "track", i+1)).track()
	}}, nil
}

// trackPosts lists posts that use a track.
func (s *sandbox) trackPosts(id string) (series[schema.Post], error) {
	return s.mixed("with track", id), nil
}

// sound is a track in the format of the sandbox platform.
type sound struct {
	SoundID  string   `json:"sound_id"`
	Link     string   `json:"link"`
	Name     string   `json:"name"`
	By       []string `json:"by"`
	Album    *string  `json:"album"` // null for a single
	Length   *int     `json:"length_ms"`
	Cover    *string  `json:"cover"`
	Preview  *string  `json:"preview"`  // null if there is no preview
	Released *string  `json:"released"` // a date
	Plays    *int64   `json:"plays"`
	Uses     *int64   `json:"uses"` // number of posts with this track
	Explicit *bool    `json:"explicit"`
}

func (g *generator) sound(id string) sound {
	d, by := roll("track", id), owner(id)
	lang := homeOf(by).lang
	t := sound{
		SoundID:  id,
		Link:     g.page("tracks", id),
		Name:     pick(d, titles[lang]),
		By:       []string{nameOf(by)},
		Album:    hide(d, 30, pick(d, titles[lang])),
		Length:   hide(d, 8, d.between(90_000, 420_000)),
		Cover:    hide(d, 10, g.file("covers", id+".jpg")),
		Preview:  hide(d, 40, g.file("previews", id+".mp3")),
		Released: hide(d, 10, g.epoch.AddDate(0, 0, -d.between(1, 4000)).Format(time.DateOnly)),
		Plays:    hide(d, 20, d.count(8)),
		Uses:     hide(d, 10, int64(length("with track", id))),
		Explicit: hide(d, 30, d.often(15)),
	}
	if d.often(30) {
		t.By = append(t.By, nameOf(person(d.below(cast))))
	}
	if in, kind, _, ok := parse(id); ok && kind == "song" { // in a collection
		t.Album = new(g.set(in).Name)
	}
	return t
}

func (t sound) track() schema.Track {
	out := schema.Track{
		Common:     common(t.SoundID, t.Link, t),
		Title:      t.Name,
		Artists:    t.By,
		Album:      t.Album,
		CoverURL:   t.Cover,
		ReleasedAt: day(t.Released),
		AudioURL:   t.Preview,
		Plays:      t.Plays,
		PostsCount: t.Uses,
		Explicit:   t.Explicit,
	}
	if t.Length != nil {
		out.DurationS = new(float64(*t.Length) / 1000)
	}
	return out
}
