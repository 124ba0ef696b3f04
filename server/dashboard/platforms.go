package dashboard

import (
	"net/http"
	"slices"

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
	State    schema.HealthState
	Settings []Setting
}

// Serves reports whether an operation is served, or would be with a setting.
func (platformPage) Serves(o schema.OperationInfo) bool { return o.Available || len(o.Missing) > 0 }

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
		p := platformPage{PlatformInfo: info, State: d.cfg.Client.Health(r.Context()).Platforms[info.Platform]}
		if d.cfg.Settings != nil {
			p.Settings = slices.DeleteFunc(slices.Clone(d.cfg.Settings()), func(s Setting) bool {
				return s.Platform != info.Platform
			})
		}
		d.show(w, r, http.StatusOK, frame{Title: info.Name, Data: p})
		return
	}
	d.refuse(w, r, http.StatusNotFound, "There is no such platform.")
}
