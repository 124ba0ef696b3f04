package wire

import (
	"context"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

// Need returns nil when a required part of an answer or a page is present. Else it returns [providers.ErrUnavailable]
// with the name of the part, and reports it to the trace.
func Need(ctx context.Context, part string, here bool) error {
	if here {
		return nil
	}
	callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{part}, LeftOut: true})
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
	callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{what}, LeftOut: true})
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

// NextIf returns the token of the next page, called name as in "cursor"; "" when the flag beside it says that there is
// none. It returns [providers.ErrUnavailable] when the flag is missing, or says that there is one and the token is.
func NextIf(ctx context.Context, more Flag, name string, t Token) (string, error) {
	if err := Need(ctx, "the flag beside "+name, more.V != nil); err != nil || !more.Is() {
		return "", err
	}
	token, err := t.Next(ctx, name)
	if err != nil {
		return "", err
	}
	return token, Need(ctx, name, token != "")
}
