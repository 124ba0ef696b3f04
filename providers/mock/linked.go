package mock

import (
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// linked lists accounts of the same person on the sandboxes of other platforms.
func (s *sandbox) linked(handle string) (series[schema.LinkedProfile], error) {
	var others []platform.ID
	for _, p := range platform.All() {
		if p.ID != s.id && p.ID != platform.Mock {
			others = append(others, p.ID)
		}
	}
	start := roll("linked", handle).below(len(others))
	return series[schema.LinkedProfile]{n: 5, at: func(i int) schema.LinkedProfile {
		on := others[(start+i)%len(others)]
		return badgeOf(handle, on, i/len(others)).linked()
	}}, nil
}

// badge is a confirmed account elsewhere in the format of the sandbox platform.
type badge struct {
	Site     platform.ID `json:"site"`
	UserName string      `json:"user_name"`
	Link     string      `json:"link"`
	Sure     int         `json:"sure_percent"`
	Proofs   []string    `json:"proofs"`
}

// badgeOf generates the account on a platform. In each round the owner has another account there.
func badgeOf(handle string, on platform.ID, round int) badge {
	handle += strings.Repeat("_too", round)
	d := roll("badge", handle, string(on))
	link := address(hostOf(on), []string{"@" + handle})
	b := badge{Site: on, UserName: handle, Link: link, Sure: 80, Proofs: []string{"bio_link:" + link}}
	if d.often(40) {
		b.Sure, b.Proofs = 95, append(b.Proofs, "back_link")
	}
	return b
}

func (b badge) linked() schema.LinkedProfile {
	p := schema.LinkedProfile{
		Common:     common(string(b.Site)+":"+b.UserName, b.Link, b),
		Handle:     b.UserName,
		Confidence: float64(b.Sure) / 100,
		Evidence:   b.Proofs,
	}
	p.Platform = b.Site
	return p
}
