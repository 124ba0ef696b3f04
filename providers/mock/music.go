package mock

import (
	"time"

	"github.com/socialdata/socialdata/schema"
)

func (s *sandbox) track(id string) (schema.Track, error) {
	return s.sound(id).track(), nil
}

// tracks lists an account's music.
func (s *sandbox) tracks(handle string) (series[schema.Track], error) {
	return series[schema.Track]{n: length("track", handle), at: func(i int) schema.Track {
		return s.sound(child(handle, "track", i+1)).track()
	}}, nil
}

// trackPosts lists posts that use a sound.
func (s *sandbox) trackPosts(id string) (series[schema.Post], error) {
	return s.mixed("with track", id), nil
}

// sound is a track as the sandbox platform writes it.
type sound struct {
	SoundID  string   `json:"sound_id"`
	Link     string   `json:"link"`
	Name     string   `json:"name"`
	By       []string `json:"by"`
	Album    *string  `json:"album"` // null for a single
	Length   *int     `json:"length_ms"`
	Cover    *string  `json:"cover"`
	Preview  *string  `json:"preview"`  // null where it may not be played
	Released *string  `json:"released"` // a date
	Plays    *int64   `json:"plays"`
	Uses     *int64   `json:"uses"` // posts with this sound
	Explicit *bool    `json:"explicit"`
}

func (s *sandbox) sound(id string) sound {
	d, by := roll("track", id), owner(id)
	lang := homeOf(by).lang
	t := sound{
		SoundID:  id,
		Link:     s.page("tracks", id),
		Name:     pick(d, titles[lang]),
		By:       []string{nameOf(by)},
		Album:    hide(d, 30, pick(d, titles[lang])),
		Length:   hide(d, 8, d.between(90_000, 420_000)),
		Cover:    hide(d, 10, s.file("covers", id+".jpg")),
		Preview:  hide(d, 40, s.file("previews", id+".mp3")),
		Released: hide(d, 10, s.epoch.AddDate(0, 0, -d.between(1, 4000)).Format(time.DateOnly)),
		Plays:    hide(d, 20, d.count(8)),
		Uses:     hide(d, 10, int64(length("with track", id))),
		Explicit: hide(d, 30, d.often(15)),
	}
	if d.often(30) {
		t.By = append(t.By, nameOf(person(d.below(cast))))
	}
	if in, kind, _, ok := parse(id); ok && kind == "song" { // of a collection
		t.Album = new(s.set(in).Name)
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
