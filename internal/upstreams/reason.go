package upstreams

import (
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
)

// Reason returns why a platform does not serve op: a missing setting, the provider's note, or that no provider offers
// it. It is "" when op is served.
func (p *Pool) Reason(id platform.ID, op providers.Op) string {
	if p.Serves(id, op) {
		return ""
	}
	if len(p.sources[id]) == 0 {
		return "no provider of " + string(id) + " is configured"
	}
	if err := p.Lacking(id, op); err != nil {
		return err.Error()
	}
	var names []string
	note := ""
	for _, s := range p.sources[id] {
		if note == "" {
			note = s.Provider.Notes[op]
		}
		names = append(names, s.Provider.Name)
	}
	switch {
	case note != "":
		return note
	case op == providers.OpLinked:
		return "it is derived from the profile: " + p.Reason(id, providers.OpProfile)
	case op.Where() != "":
		return op.Where()
	}
	return "the upstream does not offer it (" + strings.Join(names, ", ") + ")"
}

// Lacking returns a [providers.MissingError] with the settings that would make the platform serve op, from the first
// provider that names some; nil when none does.
func (p *Pool) Lacking(id platform.ID, op providers.Op) error {
	for _, s := range p.sources[id] {
		if err := s.Lacking(op); err != nil {
			return err
		}
	}
	return nil
}
