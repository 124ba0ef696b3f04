package schema

import "github.com/socialdata/socialdata/platform"

// Estimate is the possible cost of a call, and what is known about its answer in advance.
type Estimate struct {
	Credits    EstimateCredits    `json:"credits"`            // the possible cost
	Affordable bool               `json:"affordable"`         // whether the balance, less open holds, the key's caps and max_credits allow the maximum
	Balance    int64              `json:"balance" min:"0"`    // credits that the account can spend now
	Cache      CacheState         `json:"cache"`              // HIT if the answer, or a remembered absence, is in the cache
	DataAgeS   int64              `json:"data_age_s" min:"0"` // age of the cached answer, in seconds; 0 on a MISS
	GoodForS   int64              `json:"good_for_s" min:"0"` // remaining lifetime of the cached answer, in seconds; 0 on a MISS
	Providers  []EstimateProvider `json:"providers"`          // the providers to try on a MISS, first choice first; empty for a search of several platforms
	Pages      *int64             `json:"pages" min:"1"`      // number of pages of the list from this one on, if the cached answer states it
	Parts      []EstimatePart     `json:"parts,omitempty"`    // for a search of several platforms, the part of each; otherwise absent
}

// EstimateCredits is the price of a call in credits, with its parts.
type EstimateCredits struct {
	Most   int64 `json:"most" min:"0"`   // the credits that the call reserves, and its price if every part succeeds
	Least  int64 `json:"least" min:"0"`  // the price if every part that can fail does, or has nothing to do
	Base   int64 `json:"base" min:"0"`   // for reading
	Fresh  int64 `json:"fresh" min:"0"`  // extra, for skipping the cache
	Enrich int64 `json:"enrich" min:"0"` // extra, for the enrichment
}

// EstimateProvider is one provider that a call may use.
type EstimateProvider struct {
	Provider string `json:"provider"` // its name
	// what it charges the operator of this service for the call, in its own credits
	UpstreamCredits int64       `json:"upstream_credits" min:"0"`
	State           SourceState `json:"state"` // its health: down if it is not called now, limited while its limits are used up
}

// EstimatePart is one platform's part of a call.
type EstimatePart struct {
	Platform  platform.ID        `json:"platform"`           // the platform that is read
	Credits   EstimateCredits    `json:"credits"`            // the possible cost of the part
	Cache     CacheState         `json:"cache"`              // HIT if its answer is in the cache
	DataAgeS  int64              `json:"data_age_s" min:"0"` // age of the cached answer, in seconds; 0 on a MISS
	GoodForS  int64              `json:"good_for_s" min:"0"` // remaining lifetime of the cached answer, in seconds; 0 on a MISS
	Providers []EstimateProvider `json:"providers"`          // the providers to try on a MISS, first choice first
}
