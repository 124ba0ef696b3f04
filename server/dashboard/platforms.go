package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Setting is a setting of a provider. It does not have its value.
type Setting struct {
	Platform   platform.ID
	Name       string   // in words, such as "api key"
	Variable   string   // where it is set
	Set        bool     // whether it has a value
	Operations []string // that need it; none for a setting that only changes how something is read
}

// platformPage is the content of the page of a platform.
type platformPage struct {
	schema.PlatformInfo
	State      schema.HealthState
	Settings   table[Setting]
	Operations table[schema.OperationInfo] // that are served, or would be with a setting
}

func (d *Dashboard) platform(w http.ResponseWriter, r *http.Request) {
	got, err := d.cfg.Client.Platforms(r.Context(), socialdata.PlatformsRequest{})
	if err != nil {
		d.fail(w, r, err)
		return
	}
	for _, info := range got.Data {
		if string(info.Platform) != r.PathValue("platform") {
			continue
		}
		health, err := d.cfg.Client.Health(r.Context())
		if err != nil {
			d.fail(w, r, err)
			return
		}
		p := platformPage{PlatformInfo: info, State: health.Platforms[info.Platform]}
		var settings []Setting
		if d.cfg.Settings != nil {
			settings = slices.DeleteFunc(slices.Clone(d.cfg.Settings()), func(s Setting) bool {
				return s.Platform != info.Platform
			})
		}
		path := Root + "/platforms/" + string(info.Platform)
		p.Settings = newTable(r, path, "settings", settings, []column[Setting]{
			{"setting", "Setting", "", func(s Setting) any { return s.Name }},
			{"set", "Set", "", func(s Setting) any { return s.Set }},
			{"operations", "Operations that need it", "more", func(s Setting) any { return strings.Join(s.Operations, ", ") }},
			{"variable", "Variable", "", func(s Setting) any { return s.Variable }},
		})
		operations, _ := partition(info.Operations, func(o schema.OperationInfo) bool { return o.Available || len(o.Missing) > 0 })
		p.Operations = newTable(r, path, "operations", operations, []column[schema.OperationInfo]{
			{"operation", "Operation", "", func(o schema.OperationInfo) any { return o.Operation }},
			{"sources", "Read from, in this order", "", func(o schema.OperationInfo) any { return strings.Join(o.Providers, ", ") }},
			{"vendors", "At most, in credits of the vendor", "", func(o schema.OperationInfo) any { return vendorPrices(o) }},
		})
		d.show(w, r, http.StatusOK, frame{Title: info.Name, Data: p})
		return
	}
	d.refuse(w, r, http.StatusNotFound, "There is no such platform.")
}

// vendorPrices writes what an operation costs at most with each vendor.
func vendorPrices(o schema.OperationInfo) string {
	var words []string
	for vendor, n := range byName(o.UpstreamCredits) {
		words = append(words, vendor+" "+number(n))
	}
	return strings.Join(words, ", ")
}
