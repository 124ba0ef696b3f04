package wire

import (
	"context"

	"github.com/socialdata/socialdata/providers"
)

// Witness is what makes an empty list credible. Pages and undocumented JSON also come without rows when their layout has
// changed, or when the upstream refuses a reader in silence. The list of a documented API, or of a reseller, needs no witness.
type Witness struct {
	// Rows is how many rows were understood, with those that do not belong. A list that has any is its own witness.
	Rows int
	// Words reports whether the upstream says in its own words that there is nothing here.
	Words bool
	// Count is how many things there are, by what has just been read; nil when that is unknown.
	Count *int64
	// Cursor is the cursor that led to the page, "" for the first page. A provider gives a cursor only where the page before
	// said that there is more, so an empty page behind one is never believed.
	Cursor string
	// More reports whether the page says that there is more.
	More bool
	// Gaps reports whether the upstream is known to put empty pages into a list. They are believed where More is true.
	Gaps bool
}

// Check returns nil when the list named name has rows or may be empty, and else the [providers.ErrUnavailable] that names
// the list, and records it in the trace.
func (w Witness) Check(ctx context.Context, name string) error {
	var said string
	switch {
	case w.Rows > 0, w.More && w.Gaps:
		return nil
	case w.More:
		said = "an empty list of %s and says that there is more"
	case w.Cursor != "":
		said = "an empty list of %s behind a page that said there is more"
	case w.Words, w.Count != nil && *w.Count == 0:
		return nil
	case w.Count != nil:
		said = "an empty list of %s and says that there are some"
	default:
		said = "an empty list of %s and does not say that there are none"
	}
	providers.TraceOf(ctx).Drift(providers.Drift{Paths: []string{name}, LeftOut: true})
	return providers.Unavailable(nil, "the upstream's answer has "+said, name)
}
