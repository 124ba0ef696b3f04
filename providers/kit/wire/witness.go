package wire

import (
	"context"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/providers"
)

// Witness makes an empty list credible. Pages and undocumented JSON also come without rows when their layout has
// changed, or when the upstream silently refuses a reader. The list of a documented API, or of a reseller, needs no
// witness.
type Witness struct {
	// Rows is how many rows were understood, including those that do not belong. A list with rows is its own witness.
	Rows int
	// Words reports whether the upstream itself says that the list is empty.
	Words bool
	// Count is the number of things according to what has just been read; nil when it is unknown.
	Count *int64
	// Cursor is the cursor of the page, "" for the first page. A provider only returns a cursor when the previous page
	// said that there is more, so an empty page with one is believed only if Last is true.
	Cursor string
	// Last reports whether the page itself says that it is the last, with the upstream's own mark. An empty page with a
	// cursor is then believed; a first page is not.
	Last bool
	// More reports whether the page says that there is more.
	More bool
	// Gaps reports whether the upstream is known to put empty pages into lists. They are believed if More is true.
	Gaps bool
}

// Check returns nil when the list called name has rows or may be empty. Else it returns [providers.ErrUnavailable] with
// the name of the list, and records it in the trace.
func (w Witness) Check(ctx context.Context, name string) error {
	var said string
	switch {
	case w.Rows > 0, w.More && w.Gaps:
		return nil
	case w.More:
		said = "an empty list of %s and says that there is more"
	case w.Cursor != "" && w.Last:
		return nil
	case w.Cursor != "":
		said = "an empty list of %s behind a page that said there is more"
	case w.Words, w.Count != nil && *w.Count == 0:
		return nil
	case w.Count != nil:
		said = "an empty list of %s and says that there are some"
	default:
		said = "an empty list of %s and does not say that there are none"
	}
	callctx.Of(ctx).Trace.Drift(callctx.Drift{Paths: []string{name}, LeftOut: true})
	return providers.Unavailable(nil, "the upstream's answer has "+said, name)
}
