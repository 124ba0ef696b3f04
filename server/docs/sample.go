package docs

import (
	_ "embed"
	"encoding/json"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

//go:generate go test . -run TestSamplesAreFromTheGoldenFiles -update

//go:embed samples.json
var samplesJSON []byte

// shown is an object of a platform from its provider's tests. The people in it are invented.
type shown struct {
	Resource string          `json:"resource"` // such as "Profile"
	Data     json.RawMessage `json:"data"`
}

// readSamples reads one object for each platform, made from the golden files.
func readSamples() (map[platform.ID]shown, error) {
	var out map[platform.ID]shown
	err := json.Unmarshal(samplesJSON, &out)
	return out, err
}

// On is a platform as shown on its own page.
type On struct {
	schema.PlatformInfo
	Sample *shown // nil if there is none
}

// NotEnriched reports whether the content of a platform may not be enriched.
func (site) NotEnriched(id platform.ID) bool {
	info, _ := platform.Lookup(id)
	return info.NoEnrich
}

// Kept returns how long an answer is cached, in words.
func (o offer) Kept() string {
	if o.CacheTTLS == 0 {
		return "not at all"
	}
	return lifetime(time.Duration(o.CacheTTLS) * time.Second)
}

// Read returns the sources of an operation in words, the first choice first.
func (o offer) Read() []string {
	var out []string
	for i, name := range o.Providers {
		from := name
		if i < len(o.Sources) {
			switch source := o.Sources[i]; source {
			case schema.Official:
				from += " (official interface)"
			case schema.Own:
				from += " (public pages)"
			default:
				from += " (a third-party service)"
			}
		}
		out = append(out, from)
	}
	return out
}
