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

// Share is the share of a platform's objects in which a field is filled.
type Share string

// The shares. An empty text or array counts as not filled, and so does false where it may mean that the upstream does
// not say.
const (
	Always    Share = "always"
	Sometimes Share = "sometimes"
	Never     Share = "never"
)

// Guarantees is what the golden files of the providers show about one resource.
type Guarantees struct {
	Resource string                             `json:"resource"` // such as "Post"
	Objects  map[platform.ID]int                `json:"objects"`  // how many were examined
	Fields   []string                           `json:"fields"`   // in resource order; author.handle is in author
	Cells    map[platform.ID]map[string]Filling `json:"cells"`    // by field
}

// Filling is how a platform fills a field.
type Filling struct {
	Share Share    `json:"share"`
	From  []string `json:"from,omitempty"` // the names of the field in upstream answers, where they are known
}

// readGuarantees reads the guarantees that were made from the golden files.
func readGuarantees() ([]Guarantees, error) {
	var out []Guarantees
	err := json.Unmarshal(guaranteesJSON, &out)
	return out, err
}

// Counted reports whether it is known which fields of a resource are filled.
func (s site) Counted(resource string) bool {
	return slices.ContainsFunc(s.Guarantees, func(g Guarantees) bool { return g.Resource == resource })
}

// Platforms returns the platforms whose objects were examined, sorted.
func (g Guarantees) Platforms() []platform.ID { return slices.Sorted(maps.Keys(g.Objects)) }

// Named returns the fields for which the upstream name of at least one platform is known.
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
