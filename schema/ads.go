package schema

import "time"

// Ad is an entry of a public ad library.
type Ad struct {
	Common
	Advertiser   AdvertiserSummary `json:"advertiser"`             // the advertiser that pays for it
	Text         string            `json:"text"`                   // its text, as plain text; "" if it has none
	Headline     *string           `json:"headline"`               // the headline above or next to the text
	Media        []Media           `json:"media"`                  // its images and videos, in order
	CallToAction *string           `json:"call_to_action"`         // the text of its button
	LandingURL   *string           `json:"landing_url" form:"uri"` // the page that it links to
	StartedAt    *time.Time        `json:"started_at"`             // when it was first shown
	EndedAt      *time.Time        `json:"ended_at"`               // when it was last shown
	IsActive     *bool             `json:"is_active"`              // whether it is running now
	Countries    []string          `json:"countries"`              // the countries where it is shown, as ISO 3166-1 alpha-2 codes
	Formats      []string          `json:"formats"`                // its formats, as the ad library writes them
}

// AdvertiserSummary is the advertiser that pays for an [Ad].
type AdvertiserSummary struct {
	ID   *string `json:"id" form:"id"`   // the advertiser's id in the ad library
	Name string  `json:"name"`           // the display name; "" if the library has none
	URL  *string `json:"url" form:"uri"` // its public page
}

// Check implements [Object].
func (a *Ad) Check() error { return validate(a) }

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
	Name      string   `json:"name"`                  // the display name
	AvatarURL *string  `json:"avatar_url" form:"uri"` // its profile picture; the address may expire
	Country   *string  `json:"country"`               // its country; an ISO 3166-1 alpha-2 code
	AdsCount  *int64   `json:"ads_count" min:"0"`     // the number of its ads in the library
	Domains   []string `json:"domains"`               // the domains that its ads link to
}

// Check implements [Object].
func (a *Advertiser) Check() error { return validate(a) }

// Fill implements [Object].
func (a *Advertiser) Fill() { nonNil(&a.Domains) }

// EnrichText implements [Object].
func (a *Advertiser) EnrichText() string { return a.Name }

// Event is a public event.
type Event struct {
	Common
	Name        string     `json:"name"`                 // its title
	Description *string    `json:"description"`          // its description, as plain text
	StartsAt    *time.Time `json:"starts_at"`            // when it begins
	EndsAt      *time.Time `json:"ends_at"`              // when it ends
	Location    *string    `json:"location"`             // the place, as text
	Host        *Actor     `json:"host"`                 // the account that hosts it
	CoverURL    *string    `json:"cover_url" form:"uri"` // its cover picture
	Going       *int64     `json:"going" min:"0"`        // number of people who have said that they will attend
	Interested  *int64     `json:"interested" min:"0"`   // number of people who are interested
	IsOnline    *bool      `json:"is_online"`            // whether it is held online
}

// Check implements [Object].
func (e *Event) Check() error { return validate(e) }

// Fill implements [Object].
func (e *Event) Fill() {}

// EnrichText implements [Object].
func (e *Event) EnrichText() string { return join(e.Name, e.Description) }

// Actors returns the host.
func (e *Event) Actors() []*Actor { return actors(e.Host) }
