package describe

import (
	"cmp"
	"strings"

	"github.com/socialdata/socialdata/operation"
)

// operation describes one row.
func (c *components) operation(o *operation.Operation) object {
	out := object{
		"operationId": operationID(o), "summary": o.Summary, "tags": o.Tags(),
		"description": o.Summary + ". " + price(o), "responses": c.responses(o),
	}
	if params := c.params(o); len(params) > 0 {
		out["parameters"] = params
	}
	if o.NoKey {
		out["security"] = []object{}
	}
	return out
}

// operationID returns a name for generated functions: getProfile, getProfileBatch, listPosts, searchAds. A verb in the
// operation's name is moved to the front; without one, the verb is the first word of the summary.
func operationID(o *operation.Operation) string {
	name := strings.TrimPrefix(o.Method(), "List")
	// Not read or getRead: generators would name the type of its answer ReadResponse, like its schema.
	switch name {
	case "Resolve", "Read":
		return strings.ToLower(name) + "Address"
	case "Reads":
		return "readAddresses"
	}
	for _, verb := range []string{"Search", "Enrich"} {
		if before, after, found := strings.Cut(name, verb); found {
			return strings.ToLower(verb) + before + after
		}
	}
	switch first, _, _ := strings.Cut(o.Summary, " "); first {
	case "List":
		return "list" + name
	case "Search":
		return "search" + name
	default:
		return "get" + name
	}
}

func price(o *operation.Operation) string {
	switch o.Price {
	case operation.Free:
		return "Free."
	case operation.OneEnrichment:
		return "Costs 3 credits."
	case operation.EachPlatform:
		return "Costs the base credits of each platform that answers."
	case operation.PlatformAndProbes:
		return "Costs the platform's base credits, and those of each platform that is probed and can be read."
	case operation.EachKey:
		return "Costs the base credits of its platform for each key that is answered with an object."
	case operation.PlatformBase:
	}
	return "Costs the platform's base credits."
}

// shownPath returns the path as it is written in the description.
func shownPath(o *operation.Operation) string {
	return cmp.Or(o.Shown, strings.ReplaceAll(o.Path, "...", ""))
}
