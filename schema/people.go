package schema

import "github.com/socialdata/socialdata/platform"

// Actor is the summary of a person or account: the author, host, owner or profile inside another object.
type Actor struct {
	Platform    platform.ID `json:"platform"` // set by the engine
	ID          string      `json:"id"`
	Handle      string      `json:"handle"`
	DisplayName *string     `json:"display_name"` // nil when the platform gives none
	AvatarURL   *string     `json:"avatar_url"`   // nil when the platform gives none
}

// UnknownActor is the actor that stands where the platform withholds the author.
func UnknownActor() Actor { return Actor{ID: "unknown", Handle: "unknown"} }

func (a *Actor) validate() error {
	var k check
	if !a.Platform.Valid() {
		k.failf("platform: %q is not a platform", a.Platform)
	}
	k.notEmpty("id", a.ID)
	k.notEmpty("handle", a.Handle)
	k.uriOrNil("avatar_url", a.AvatarURL)
	return k.err
}

// Profile is an account, or what the platform has in its place: an app, an artist, a community.
type Profile struct {
	Common
	Handle      string   `json:"handle"`
	DisplayName *string  `json:"display_name"`
	Bio         *string  `json:"bio"` // plain text
	AvatarURL   *string  `json:"avatar_url"`
	Verified    bool     `json:"verified"`
	Followers   *int64   `json:"followers"`
	Following   *int64   `json:"following"`
	PostsCount  *int64   `json:"posts_count"`
	Lang        *string  `json:"lang"`    // from a language field of the platform, never guessed
	Country     *string  `json:"country"` // two characters, from a country field of the platform, never guessed
	Links       []string `json:"links"`   // absolute URIs that the profile names
}

// Validate implements [Object].
func (p *Profile) Validate() error {
	k := check{p.validate()}
	k.notEmpty("handle", p.Handle)
	k.uriOrNil("avatar_url", p.AvatarURL)
	k.count("followers", p.Followers)
	k.count("following", p.Following)
	k.count("posts_count", p.PostsCount)
	k.lang(p.Lang)
	k.country("country", p.Country)
	k.uris("links", p.Links)
	return k.err
}

// Fill implements [Object].
func (p *Profile) Fill() { nonNil(&p.Links) }

// EnrichText implements [Object].
func (p *Profile) EnrichText() string { return deref(p.Bio) }

// Actors returns none: a profile names nobody else.
func (p *Profile) Actors() []*Actor { return nil }

// Audience says where the followers of an account live.
type Audience struct {
	Common
	Handle    string            `json:"handle"`
	Countries []AudienceCountry `json:"countries"` // largest share first
}

// AudienceCountry is one country's part of an [Audience].
type AudienceCountry struct {
	Country *string `json:"country"` // ISO 3166-1 alpha-2; nil for the rest of the world
	Name    string  `json:"name"`
	Share   float64 `json:"share"` // from 0 to 1
	Count   *int64  `json:"count"`
}

// Validate implements [Object].
func (a *Audience) Validate() error {
	k := check{a.validate()}
	k.notEmpty("handle", a.Handle)
	for _, c := range a.Countries {
		k.country("countries.country", c.Country)
		k.upTo("countries.share", c.Share, 1)
		k.count("countries.count", c.Count)
	}
	return k.err
}

// Fill implements [Object].
func (a *Audience) Fill() { nonNil(&a.Countries) }

// EnrichText implements [Object].
func (a *Audience) EnrichText() string { return "" }

// LinkedProfile is an account elsewhere that seems to belong to the same person.
type LinkedProfile struct {
	Common
	Handle     string   `json:"handle"`
	Confidence float64  `json:"confidence"` // from 0 to 1
	Evidence   []string `json:"evidence"`   // why, such as "bio_link:https://…" or "same_handle"
}

// Validate implements [Object].
func (l *LinkedProfile) Validate() error {
	k := check{l.validate()}
	k.notEmpty("handle", l.Handle)
	k.upTo("confidence", l.Confidence, 1)
	return k.err
}

// Fill implements [Object].
func (l *LinkedProfile) Fill() { nonNil(&l.Evidence) }

// EnrichText implements [Object].
func (l *LinkedProfile) EnrichText() string { return "" }

// SuggestionKind says what a [Suggestion] completes to.
type SuggestionKind string

// The kinds of suggestion.
const (
	SuggestQuery   SuggestionKind = "query"
	SuggestProfile SuggestionKind = "profile"
)

// Suggestion completes what a user has begun to type.
type Suggestion struct {
	Common
	Text     string         `json:"text"`
	Kind     SuggestionKind `json:"kind"`
	Profile  *Actor         `json:"profile"`  // nil for a query
	Position *int64         `json:"position"` // from 0
}

// Validate implements [Object].
func (s *Suggestion) Validate() error {
	k := check{s.validate()}
	k.notEmpty("text", s.Text)
	if s.Kind != SuggestQuery && s.Kind != SuggestProfile {
		k.failf("kind: %q is not a kind of suggestion", s.Kind)
	}
	if s.Profile != nil {
		k.within("profile", s.Profile.validate())
	}
	k.count("position", s.Position)
	return k.err
}

// Fill implements [Object].
func (s *Suggestion) Fill() {}

// EnrichText implements [Object].
func (s *Suggestion) EnrichText() string { return "" }

// Actors returns the suggested profile.
func (s *Suggestion) Actors() []*Actor { return actors(s.Profile) }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// actors returns those of as that are there.
func actors(as ...*Actor) []*Actor {
	there := as[:0]
	for _, a := range as {
		if a != nil {
			there = append(there, a)
		}
	}
	return there
}
