package schema

import "fmt"

// text returns v as JSON, for people: fmt prints pointer fields of structs as addresses.
func text(v any) string {
	b, err := Marshal(v)
	if err != nil {
		return fmt.Sprintf("(cannot be shown: %v)", err)
	}
	return string(b)
}

// String returns e as JSON.
func (e Envelope[T]) String() string { return text(e) }

// String returns o as JSON: null when it is absent.
func (o Optional[T]) String() string { return text(o.Value) }

// String returns a as JSON.
func (a Ad) String() string { return text(a) }

// String returns a as JSON.
func (a AdvertiserSummary) String() string { return text(a) }

// String returns a as JSON.
func (a Advertiser) String() string { return text(a) }

// String returns e as JSON.
func (e Event) String() string { return text(e) }

// String returns s as JSON.
func (s StoreSummary) String() string { return text(s) }

// String returns p as JSON.
func (p Price) String() string { return text(p) }

// String returns p as JSON.
func (p Product) String() string { return text(p) }

// String returns r as JSON.
func (r Review) String() string { return text(r) }

// String returns c as JSON.
func (c Common) String() string { return text(c) }

// String returns s as JSON.
func (s Sentiment) String() string { return text(s) }

// String returns e as JSON.
func (e Entity) String() string { return text(e) }

// String returns e as JSON.
func (e Enrichment) String() string { return text(e) }

// String returns m as JSON.
func (m Meta) String() string { return text(m) }

// String returns m as JSON.
func (m Me) String() string { return text(m) }

// String returns m as JSON.
func (m MeKey) String() string { return text(m) }

// String returns m as JSON.
func (m MeCredits) String() string { return text(m) }

// String returns m as JSON.
func (m MeLimits) String() string { return text(m) }

// String returns r as JSON.
func (r RateLimit) String() string { return text(r) }

// String returns h as JSON.
func (h Health) String() string { return text(h) }

// String returns e as JSON.
func (e PlatformError) String() string { return text(e) }

// String returns u as JSON.
func (u Usage) String() string { return text(u) }

// String returns p as JSON.
func (p PlatformInfo) String() string { return text(p) }

// String returns r as JSON.
func (r Resolved) String() string { return text(r) }

// String returns r as JSON.
func (r RawRoute) String() string { return text(r) }

// String returns o as JSON.
func (o OperationInfo) String() string { return text(o) }

// String returns c as JSON.
func (c Collection) String() string { return text(c) }

// String returns t as JSON.
func (t Track) String() string { return text(t) }

// String returns a as JSON.
func (a Actor) String() string { return text(a) }

// String returns p as JSON.
func (p Profile) String() string { return text(p) }

// String returns a as JSON.
func (a Audience) String() string { return text(a) }

// String returns a as JSON.
func (a AudienceCountry) String() string { return text(a) }

// String returns l as JSON.
func (l LinkedProfile) String() string { return text(l) }

// String returns s as JSON.
func (s Suggestion) String() string { return text(s) }

// String returns p as JSON.
func (p Post) String() string { return text(p) }

// String returns e as JSON.
func (e Engagement) String() string { return text(e) }

// String returns m as JSON.
func (m Media) String() string { return text(m) }

// String returns c as JSON.
func (c Comment) String() string { return text(c) }

// String returns t as JSON.
func (t Transcript) String() string { return text(t) }

// String returns t as JSON.
func (t TranscriptSegment) String() string { return text(t) }

// String returns l as JSON.
func (l LiveStream) String() string { return text(l) }

// String returns w as JSON.
func (w WebPage) String() string { return text(w) }

// String returns s as JSON.
func (s SearchResult) String() string { return text(s) }
