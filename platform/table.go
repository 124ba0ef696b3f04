package platform

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Table holds the platforms that a program knows: the built-in ones, and its own. It is immutable.
type Table struct {
	infos []Info // sorted by identifier
	byID  map[ID]*Info
}

// Specified returns the table of the built-in platforms.
func Specified() *Table { return specified }

func newTable(infos []Info) *Table {
	t := &Table{infos, make(map[ID]*Info, len(infos))}
	for i := range infos {
		t.byID[infos[i].ID] = &infos[i]
	}
	return t
}

// reserved are the words that paths have in the position of a platform.
var reserved = [...]ID{
	"bulk", "bulkresults", "changes", "deliveries", "endpoints", "enrich", "estimate", "history", "job", "keys", "me",
	"monitors", "platforms", "raw", "read", "reads", "requests", "resolve", "search", "usage",
}

// word is the form of identifiers.
var word = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// With returns a table with one more platform. Its Name is optional.
func (t *Table) With(info Info) (*Table, error) {
	switch {
	case !word.MatchString(string(info.ID)):
		return nil, fmt.Errorf("the ID %q is not one word of lower-case letters, digits and _, such as mastodon", info.ID)
	case slices.Contains(reserved[:], info.ID):
		return nil, fmt.Errorf("the ID %q is the word of a route: choose another", info.ID)
	case t.Has(info.ID):
		return nil, fmt.Errorf("there is a platform %q: choose another ID", info.ID)
	case info.BaseCredits < 1:
		return nil, fmt.Errorf("the BaseCredits of %q are %d: set them to 1 or more", info.ID, info.BaseCredits)
	}
	info.Name = cmp.Or(info.Name, string(info.ID))
	infos := append(t.All(), info)
	slices.SortFunc(infos, func(a, b Info) int { return cmp.Compare(a.ID, b.ID) })
	return newTable(infos), nil
}

// All returns every platform, sorted by identifier. The caller owns the slice.
func (t *Table) All() []Info { return slices.Clone(t.infos) }

// Names returns the identifiers of all platforms as text, sorted. The caller owns the slice.
func (t *Table) Names() []string {
	names := make([]string, len(t.infos))
	for i := range t.infos {
		names[i] = string(t.infos[i].ID)
	}
	return names
}

// Meant returns the identifier of the platform that people also know by word, such as twitter; word itself if there is
// none.
func (t *Table) Meant(word string) string {
	lower := strings.ToLower(strings.TrimSpace(word))
	for _, info := range t.infos {
		if lower == strings.ToLower(info.Name) || slices.Contains(strings.Fields(info.Aliases), lower) {
			return string(info.ID)
		}
	}
	return word
}

// Lookup returns the data of id, and whether there is such a platform.
func (t *Table) Lookup(id ID) (Info, bool) {
	if info, ok := t.byID[id]; ok {
		return *info, true
	}
	return Info{}, false
}

// Has reports whether there is a platform with that id.
func (t *Table) Has(id ID) bool {
	_, ok := t.byID[id]
	return ok
}
