package schema

import "time"

// Ad is an entry of a public ad library.
type Ad struct {
	Common
	Advertiser   AdvertiserSummary `json:"advertiser"`             // who pays for it
	Text         string            `json:"text"`                   // what it says, as plain text; "" where it has none
	Headline     *string           `json:"headline"`               // what stands above or beside the text
	Media        []Media           `json:"media"`                  // what it shows, in its order
	CallToAction *string           `json:"call_to_action"`         // what its button says
	LandingURL   *string           `json:"landing_url" form:"uri"` // where it leads
	StartedAt    *time.Time        `json:"started_at"`             // when it was first shown
	EndedAt      *time.Time        `json:"ended_at"`               // when it was last shown
	IsActive     *bool             `json:"is_active"`              // whether it is shown now
	Countries    []string          `json:"countries"`              // where it is shown, as the ad library writes it
	Formats      []string          `json:"formats"`                // its kinds, in words of the ad library
}

// AdvertiserSummary is who pays for an [Ad].
type AdvertiserSummary struct {
	ID   *string `json:"id" form:"id"`   // the advertiser's id as the ad library writes it
	Name string  `json:"name"`           // the name that people see; "" where the library gives none
	URL  *string `json:"url" form:"uri"` // its public page
}

// Validate implements [Object].
func (a *Ad) Validate() error { return validate(a) }

// Fill implements [Object].
func (a *Ad) Fill() {
	nonNil(&a.Media)
	nonNil(&a.Countries)
	nonNil(&a.Formats)
}

// EnrichText implements [Object].
func (a *Ad) EnrichText() string { return join(deref(a.Headline), &a.Text) }

// Advertiser is an account of an ad library.
type Advertiser struct {
	Common
	Name      string   `json:"name"`                  // the name that people see
	AvatarURL *string  `json:"avatar_url" form:"uri"` // its picture; the address may expire
	Country   *string  `json:"country"`               // where it is, as the ad library writes it
	AdsCount  *int64   `json:"ads_count" min:"0"`     // how many ads of it are in the library
	Domains   []string `json:"domains"`               // the domains that its ads lead to
}

// Validate implements [Object].
func (a *Advertiser) Validate() error { return validate(a) }

// Fill implements [Object].
func (a *Advertiser) Fill() { nonNil(&a.Domains) }

// EnrichText implements [Object].
func (a *Advertiser) EnrichText() string { return a.Name }

// Event is a public event that people can go to.
type Event struct {
	Common
	Name        string     `json:"name"`                 // its title
	Description *string    `json:"description"`          // what it says of itself, as plain text
	StartsAt    *time.Time `json:"starts_at"`            // when it begins
	EndsAt      *time.Time `json:"ends_at"`              // when it ends
	Location    *string    `json:"location"`             // where it is, in words
	Host        *Actor     `json:"host"`                 // who invites
	CoverURL    *string    `json:"cover_url" form:"uri"` // its picture
	Going       *int64     `json:"going" min:"0"`        // how many people said that they come
	Interested  *int64     `json:"interested" min:"0"`   // how many people said that they may come
	IsOnline    *bool      `json:"is_online"`            // whether it is held online
}

// Validate implements [Object].
func (e *Event) Validate() error { return validate(e) }

// Fill implements [Object].
func (e *Event) Fill() {}

// EnrichText implements [Object].
func (e *Event) EnrichText() string { return join(e.Name, e.Description) }

// Actors returns the host.
func (e *Event) Actors() []*Actor { return actors(e.Host) }
