package docs

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/platform"
)

//go:generate go test . -run TestGuaranteesAreWhatTheGoldenFilesSay -update

//go:embed fields.json
var guaranteesJSON []byte

// Share says in how many of a platform's objects a field is filled.
type Share string

// The shares. A text or array that is empty counts as not filled, and false where it may mean that nobody tells.
const (
	Always    Share = "always"
	Sometimes Share = "sometimes"
	Never     Share = "never"
)

// Guarantees is what the golden files of the providers say of one resource.
type Guarantees struct {
	Resource string                             `json:"resource"` // such as "Post"
	Objects  map[platform.ID]int                `json:"objects"`  // how many were looked at
	Fields   []string                           `json:"fields"`   // in the order of the resource; author.handle is inside author
	Cells    map[platform.ID]map[string]Filling `json:"cells"`    // by field
}

// Filling is how a platform fills a field.
type Filling struct {
	Share Share    `json:"share"`
	From  []string `json:"from,omitempty"` // the upstreams' own names of the field, where they can be told
}

// readGuarantees reads what the golden files say.
func readGuarantees() ([]Guarantees, error) {
	var out []Guarantees
	err := json.Unmarshal(guaranteesJSON, &out)
	return out, err
}

// Counted tells whether it is known which fields of a resource are filled.
func (s site) Counted(resource string) bool {
	return slices.ContainsFunc(s.Guarantees, func(g Guarantees) bool { return g.Resource == resource })
}

// Platforms returns the platforms of which objects were looked at, by identifier.
func (g Guarantees) Platforms() []platform.ID { return slices.Sorted(maps.Keys(g.Objects)) }

// Named returns the fields of which some platform's own name is known.
func (g Guarantees) Named() []string {
	return slices.DeleteFunc(slices.Clone(g.Fields), func(field string) bool {
		for _, cells := range g.Cells {
			if cells[field].From != nil {
				return false
			}
		}
		return true
	})
}
