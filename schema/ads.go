package schema

import "time"

// Ad is an entry of a public ad library.
type Ad struct {
	Common
	Advertiser   AdvertiserSummary `json:"advertiser"`
	Text         string            `json:"text"`
	Headline     *string           `json:"headline"`
	Media        []Media           `json:"media"`
	CallToAction *string           `json:"call_to_action"`
	LandingURL   *string           `json:"landing_url"`
	StartedAt    *time.Time        `json:"started_at"`
	EndedAt      *time.Time        `json:"ended_at"`
	IsActive     *bool             `json:"is_active"`
	Countries    []string          `json:"countries"`
	Formats      []string          `json:"formats"`
}

// AdvertiserSummary is who pays for an [Ad].
type AdvertiserSummary struct {
	ID   *string `json:"id"`
	Name string  `json:"name"`
	URL  *string `json:"url"`
}

// Validate implements [Object].
func (a *Ad) Validate() error {
	k := check{a.validate()}
	k.uriOrNil("advertiser.url", a.Advertiser.URL)
	k.within("media", validMedia(a.Media))
	k.uriOrNil("landing_url", a.LandingURL)
	return k.err
}

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
	Name      string   `json:"name"`
	AvatarURL *string  `json:"avatar_url"`
	Country   *string  `json:"country"`
	AdsCount  *int64   `json:"ads_count"`
	Domains   []string `json:"domains"`
}

// Validate implements [Object].
func (a *Advertiser) Validate() error {
	k := check{a.validate()}
	k.uriOrNil("avatar_url", a.AvatarURL)
	k.count("ads_count", a.AdsCount)
	return k.err
}

// Fill implements [Object].
func (a *Advertiser) Fill() { nonNil(&a.Domains) }

// EnrichText implements [Object].
func (a *Advertiser) EnrichText() string { return "" }

// Event is a public event that people can go to.
type Event struct {
	Common
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	StartsAt    *time.Time `json:"starts_at"`
	EndsAt      *time.Time `json:"ends_at"`
	Location    *string    `json:"location"`
	Host        *Actor     `json:"host"`
	CoverURL    *string    `json:"cover_url"`
	Going       *int64     `json:"going"`
	Interested  *int64     `json:"interested"`
	IsOnline    *bool      `json:"is_online"`
}

// Validate implements [Object].
func (e *Event) Validate() error {
	k := check{e.validate()}
	if e.Host != nil {
		k.within("host", e.Host.validate())
	}
	k.uriOrNil("cover_url", e.CoverURL)
	k.count("going", e.Going)
	k.count("interested", e.Interested)
	return k.err
}

// Fill implements [Object].
func (e *Event) Fill() {}

// EnrichText implements [Object].
func (e *Event) EnrichText() string { return join(e.Name, e.Description) }

// Actors returns the host.
func (e *Event) Actors() []*Actor { return actors(e.Host) }
