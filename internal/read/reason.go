package read

import (
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
)

const (
	shops  = "only storefronts and shops have it"
	adsOf  = "only the public ad libraries of facebook, google, linkedin and tiktok have it"
	events = "only facebook and twitch publish events"
)

// rare says of operations that few platforms have where they are found. Nobody writes to it.
var rare = map[providers.Op]string{
	providers.OpFollowers: "offered on tiktok and github only", providers.OpFollowing: "offered on tiktok and github only",
	providers.OpAudience: "only tiktok tells where an audience lives",
	providers.OpProducts: shops, providers.OpProduct: shops, providers.OpReviews: shops, providers.OpStore: shops,
	providers.OpAds: adsOf, providers.OpAdsSearch: adsOf, providers.OpAd: adsOf, providers.OpAdvertisers: adsOf,
	providers.OpEvent: events, providers.OpEvents: events, providers.OpEventsSearch: events,
}

// Reason says why a platform does not serve op: a setting that is missing, what the provider says about it, or that
// nobody offers it. It is "" when op is served.
func (r *Reader) Reason(id platform.ID, op providers.Op) string {
	if r.Serves(id, op) {
		return ""
	}
	links := r.links[id]
	if len(links) == 0 {
		return "no provider of " + string(id) + " is configured"
	}
	var names []string
	note := ""
	for _, l := range links {
		if len(r.Missing(l.p, op)) > 0 {
			return r.missing(l.p, op)
		}
		if note == "" {
			note = l.p.Notes[op]
		}
		names = append(names, l.p.Name)
	}
	switch {
	case note != "":
		return note
	case op == providers.OpLinked:
		return "it is derived from the profile: " + r.Reason(id, providers.OpProfile)
	case rare[op] != "":
		return rare[op]
	}
	return "the upstream offers nothing of the kind (" + strings.Join(names, ", ") + ")"
}

// Missing returns the settings that would make p serve op; nil when no setting would. What is derived from profiles needs
// what profiles need.
func (r *Reader) Missing(p *providers.Provider, op providers.Op) []string {
	if settings := p.Missing[op]; len(settings) > 0 || op != providers.OpLinked {
		return settings
	}
	return p.Missing[providers.OpProfile]
}

// missing says which settings would switch op on, by their names and by the variables that the shipped server reads.
func (r *Reader) missing(p *providers.Provider, op providers.Op) string {
	var variables []string
	settings := r.Missing(p, op)
	for _, setting := range settings {
		variables = append(variables, Variable(p.Platform, setting))
	}
	return fmt.Sprintf("the provider %s misses the setting %s (%s)",
		p.Name, strings.Join(settings, ", "), strings.Join(variables, ", "))
}

// Variable returns the environment variable from which the shipped server reads a setting of a platform's providers.
func Variable(id platform.ID, setting string) string {
	whose, name, named := strings.Cut(setting, ".")
	if !named {
		whose, name = string(id), setting
	}
	return strings.ToUpper("socialdata_" + whose + "_" + name)
}

// notOffered is the problem of an operation that the platform does not serve: it names the route and the reason.
func (r *Reader) notOffered(row *Row, id platform.ID) error {
	return problem.New(problem.PlatformUnavailable, "%s does not offer %s: %s",
		id, row.Route(string(id)), r.Reason(id, row.Op))
}
