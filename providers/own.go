package providers

import (
	"fmt"
)

// Own sets whether a package reads what the platform shows to anonymous visitors: its public pages and their
// undocumented JSON. Its text is "on" or "off"; with "" the package decides.
type Own int

// The values of [Own].
const (
	OwnDefault Own = iota // on if the platform serves anonymous readers, off if it answers them with a bot check
	OwnOn
	OwnOff
)

// On reports whether public pages are read, given the default of the package.
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

// IfOwn returns p, which reads public pages, if own is on, and otherwise p [Provider.Without] the setting "own": it
// stays in the chain, so that its users see which setting would enable it.
func (p Provider) IfOwn(own Own, byDefault bool) Provider {
	if own.On(byDefault) {
		return p
	}
	p = p.Without("own")
	p.Filters = nil
	return p
}
