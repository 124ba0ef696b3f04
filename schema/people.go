package schema

import "github.com/socialdata/socialdata/platform"

// Actor is the summary of a person or account: the author, host, owner or profile inside another object.
type Actor struct {
	Platform    platform.ID `json:"platform"`                 // the platform of the account
	ID          string      `json:"id" min:"1" form:"id"`     // the account's id on the platform
	Handle      string      `json:"handle" min:"1" form:"id"` // the handle, with which it can be requested
	DisplayName *string     `json:"display_name"`             // the display name
	AvatarURL   *string     `json:"avatar_url" form:"uri"`    // its profile picture; the address may expire
}

// UnknownActor returns the actor that is used if the platform withholds the author.
func UnknownActor() Actor { return Actor{ID: "unknown", Handle: "unknown"} }

// Profile is an account, or its equivalent on the platform: an app, an artist, a community.
type Profile struct {
	Common
	Handle      string   `json:"handle" min:"1" form:"id"` // the handle, with which it can be requested
	DisplayName *string  `json:"display_name"`             // the display name
	Bio         *string  `json:"bio"`                      // its description of itself, as plain text
	AvatarURL   *string  `json:"avatar_url" form:"uri"`    // its profile picture; the address may expire
	Verified    bool     `json:"verified"`                 // whether the platform has verified it; false if unknown
	Followers   *int64   `json:"followers" min:"0"`        // followers, subscribers or members
	Following   *int64   `json:"following" min:"0"`        // number of accounts that it follows
	PostsCount  *int64   `json:"posts_count" min:"0"`      // number of its posts
	Lang        *string  `json:"lang" min:"2"`             // its language according to the platform, never guessed
	Country     *string  `json:"country" min:"2" max:"2"`  // its country according to the platform, never guessed
	Links       []string `json:"links" form:"uri"`         // the pages elsewhere that it links to
}

// Check implements [Object].
func (p *Profile) Check() error { return validate(p) }

// Fill implements [Object].
func (p *Profile) Fill() { nonNil(&p.Links) }

// EnrichText implements [Object].
func (p *Profile) EnrichText() string { return deref(p.Bio) }

// Actors returns none: a profile contains no other account.
func (p *Profile) Actors() []*Actor { return nil }

// Audience is the distribution of an account's followers by country.
type Audience struct {
	Common
	Handle    string            `json:"handle" min:"1" form:"id"` // the handle of the account
	Countries []AudienceCountry `json:"countries"`                // the countries, largest share first
}

// AudienceCountry is one country's share of an [Audience].
type AudienceCountry struct {
	Country *string `json:"country" min:"2" max:"2"` // its ISO 3166-1 alpha-2 code; null for the rest of the world
	Name    string  `json:"name"`                    // the name of the country
	Share   float64 `json:"share" min:"0" max:"1"`   // its share of all followers
	Count   *int64  `json:"count" min:"0"`           // number of followers there
}

// Check implements [Object].
func (a *Audience) Check() error { return validate(a) }

// Fill implements [Object].
func (a *Audience) Fill() { nonNil(&a.Countries) }

// EnrichText implements [Object].
func (a *Audience) EnrichText() string { return "" }

// LinkedProfile is an account elsewhere that probably belongs to the same person.
type LinkedProfile struct {
	Common
	Handle     string   `json:"handle" min:"1" form:"id"`   // the handle, with which it can be requested
	Confidence float64  `json:"confidence" min:"0" max:"1"` // the confidence that both belong together; two decimals
	Evidence   []string `json:"evidence"`                   // the evidence, such as "bio_link:https://…" or "same_handle"
}

// Check implements [Object].
func (l *LinkedProfile) Check() error { return validate(l) }

// Fill implements [Object].
func (l *LinkedProfile) Fill() { nonNil(&l.Evidence) }

// EnrichText implements [Object].
func (l *LinkedProfile) EnrichText() string { return "" }

// SuggestionKind is the kind of a [Suggestion].
type SuggestionKind string

// The kinds of suggestion.
const (
	SuggestQuery   SuggestionKind = "query"
	SuggestProfile SuggestionKind = "profile"
)

// SuggestionKinds lists every kind of suggestion.
func SuggestionKinds() []SuggestionKind { return []SuggestionKind{SuggestQuery, SuggestProfile} }

// Suggestion is a completion of a text that a user has begun to type.
type Suggestion struct {
	Common
	Text     string         `json:"text" min:"1"`     // the completed text
	Kind     SuggestionKind `json:"kind"`             // whether it is a text to search for or an account
	Profile  *Actor         `json:"profile"`          // the account; null for a query
	Position *int64         `json:"position" min:"0"` // its position in the platform's list, from 0
}

// Check implements [Object].
func (s *Suggestion) Check() error { return validate(s) }

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

// actors returns the non-nil elements of as.
func actors(as ...*Actor) []*Actor {
	there := as[:0]
	for _, a := range as {
		if a != nil {
			there = append(there, a)
		}
	}
	return there
}
