package schema

import "github.com/socialdata/socialdata/platform"

// Estimate is what a call may cost, and what is known of its answer before it is made.
type Estimate struct {
	Credits    EstimateCredits    `json:"credits"`            // what it may cost
	Affordable bool               `json:"affordable"`         // whether the balance, less open holds, the key's caps and max_credits allow the most
	Balance    int64              `json:"balance" min:"0"`    // credits that the account can spend now
	Cache      CacheState         `json:"cache"`              // HIT when the answer is there already, an absence that is remembered too
	DataAgeS   int64              `json:"data_age_s" min:"0"` // how old the answer is, in seconds; 0 on a MISS
	GoodForS   int64              `json:"good_for_s" min:"0"` // how long it stays good, in seconds; 0 on a MISS
	Providers  []EstimateProvider `json:"providers"`          // who is asked on a MISS, first choice first; none for a search of several platforms
	Pages      *int64             `json:"pages" min:"1"`      // how many pages the list has from this one on, where the answer that is there says so
	Parts      []EstimatePart     `json:"parts,omitempty"`    // of a search of several platforms, each platform's part; else absent
}

// EstimateCredits are the credits of a call.
type EstimateCredits struct {
	Most   int64 `json:"most" min:"0"`   // what the call holds, and its price when nothing of it fails
	Least  int64 `json:"least" min:"0"`  // the price when every part of it fails, or has nothing to do, that may
	Base   int64 `json:"base" min:"0"`   // for reading
	Fresh  int64 `json:"fresh" min:"0"`  // more, for skipping the cache
	Enrich int64 `json:"enrich" min:"0"` // more, for the enrichment
}

// EstimateProvider is one provider that a call may ask.
type EstimateProvider struct {
	Provider string `json:"provider"` // its name
	// what it charges the operator of this service for the call, in credits of its own
	UpstreamCredits int64       `json:"upstream_credits" min:"0"`
	State           SourceState `json:"state"` // how well it does: down when it is not asked now, limited while nothing is left of its limits
}

// EstimatePart is one platform's part of a call.
type EstimatePart struct {
	Platform  platform.ID        `json:"platform"`           // which is read
	Credits   EstimateCredits    `json:"credits"`            // what the part may cost
	Cache     CacheState         `json:"cache"`              // HIT when its answer is there already
	DataAgeS  int64              `json:"data_age_s" min:"0"` // how old that is, in seconds; 0 on a MISS
	GoodForS  int64              `json:"good_for_s" min:"0"` // how long it stays good, in seconds; 0 on a MISS
	Providers []EstimateProvider `json:"providers"`          // who is asked on a MISS, first choice first
}
