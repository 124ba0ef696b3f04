package wire

import (
	"context"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// Need returns nil when a required part of an answer or a page is present. Else it returns [providers.ErrUnavailable]
// with the name of the part, and reports it to the trace.
func Need(ctx context.Context, part string, here bool) error {
	if here {
		return nil
	}
	providers.TraceOf(ctx).Drift(providers.Drift{Paths: []string{part}, LeftOut: true})
	return providers.Unavailable(nil, "the upstream's answer lacks %s", part)
}

// Marker returns nil when got, the kind that an answer states in the field called name, is one of those wanted. Else it
// fails as [Need] does.
func Marker(ctx context.Context, name, got string, want ...string) error {
	return Need(ctx, name+" "+strings.Join(want, " or "), slices.Contains(want, got))
}

// Same returns nil when the answer is about what was requested. Else it returns [providers.ErrUnavailable], and reports
// it to the trace. what is the name of the thing: "account", "post". Case matters.
func Same(ctx context.Context, what, asked, got string) error {
	return same(ctx, what, asked == got)
}

// SameFold is [Same] for platforms that ignore case.
func SameFold(ctx context.Context, what, asked, got string) error {
	return same(ctx, what, strings.EqualFold(asked, got))
}

func same(ctx context.Context, what string, it bool) error {
	if it {
		return nil
	}
	providers.TraceOf(ctx).Drift(providers.Drift{Paths: []string{what}, LeftOut: true})
	return providers.Unavailable(nil, "the upstream's answer is about another %s", what)
}

// Understood returns [providers.ErrUnavailable] when the list called name has rows and none of them could be
// understood. Understood rows may not belong; lost ones are unreadable.
func Understood(name string, understood, lost int) error {
	if lost > 0 && understood == 0 {
		return providers.Unavailable(nil, "the upstream's answer has no row of %s that can be read", name)
	}
	return nil
}
