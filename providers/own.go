package providers

import (
	"fmt"
)

// Own says whether a package reads what the platform shows to anybody: its public pages and the undocumented JSON behind
// them. Its text is "on" or "off"; "" leaves it to the package.
type Own int

// The values of [Own].
const (
	OwnDefault Own = iota // on where the platform serves anonymous readers, off where it answers them with a bot check
	OwnOn
	OwnOff
)

// On tells whether public pages are read, by a package that does so by default or does not.
func (o Own) On(byDefault bool) bool {
	switch o {
	case OwnOn:
		return true
	case OwnOff:
		return false
	default:
		return byDefault
	}
}

// String returns "on", "off" or "".
func (o Own) String() string {
	switch o {
	case OwnOn:
		return "on"
	case OwnOff:
		return "off"
	default:
		return ""
	}
}

// MarshalText implements [encoding.TextMarshaler].
func (o Own) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (o *Own) UnmarshalText(b []byte) error {
	switch string(b) {
	case "on":
		*o = OwnOn
	case "off":
		*o = OwnOff
	case "":
		*o = OwnDefault
	default:
		return fmt.Errorf("must be on or off, not %q", b)
	}
	return nil
}

// IfOwn returns p, which reads public pages, when own says so, and else p [Provider.Without] the setting "own": it
// keeps its place in the chain, so that its users are told what would switch it on.
func (p Provider) IfOwn(own Own, byDefault bool) Provider {
	if own.On(byDefault) {
		return p
	}
	p = p.Without("own")
	p.Filters = nil
	return p
}
