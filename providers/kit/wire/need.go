package wire

import (
	"context"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/providers"
)

// Need returns nil when a part that an answer or a page must have is there, and else the [providers.ErrUnavailable] that names
// the part, and tells the trace of it.
func Need(ctx context.Context, part string, here bool) error {
	if here {
		return nil
	}
	providers.TraceOf(ctx).Drift(providers.Drift{Paths: []string{part}, LeftOut: true})
	return providers.Unavailable(nil, "the upstream's answer lacks %s", part)
}

// Marker returns nil when the word by which an answer names its kind is one of those wanted; name is the field's. Else it
// fails as [Need] does.
func Marker(ctx context.Context, name, got string, want ...string) error {
	return Need(ctx, name+" "+strings.Join(want, " or "), slices.Contains(want, got))
}

// Same returns nil when the answer is about what was asked for, and else the [providers.ErrUnavailable] that says so, and tells
// the trace of it. What names it: "account", "post". Case matters.
func Same(ctx context.Context, what, asked, got string) error {
	return same(ctx, what, asked == got)
}

// SameFold is [Same] where the platform ignores case.
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

// Understood fails with [providers.ErrUnavailable] when rows of the list named name came and none of them could be
// understood: understood rows may still not belong, and lost ones are those of which nothing can be told.
func Understood(name string, understood, lost int) error {
	if lost > 0 && understood == 0 {
		return providers.Unavailable(nil, "the upstream's answer holds no row of %s that can be read", name)
	}
	return nil
}
