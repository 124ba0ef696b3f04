package bulk

import (
	"cmp"
	"context"
	"slices"

	"github.com/socialdata/socialdata/bulkjob"
)

// Results implements [bulkjob.Service]. Those of a [Sink] are not in the table.
func (s *Service) Results(
	ctx context.Context, account, name string, after int64, limit int,
) (page []bulkjob.Result, err error) {
	if limit <= 0 {
		return nil, nil
	}
	err = s.read(ctx, func(t tx) error {
		page = nil
		j, err := t.named(account, name, "")
		if err != nil {
			return err
		}
		var first int64
		var packed []byte
		byLine := func(a, b bulkjob.Result) int { return cmp.Compare(a.Line, b.Line) }
		return t.rows([]any{&first, &packed}, func() error {
			if len(page) >= limit && first > page[limit-1].Line { // all that follow begin later
				return errEnough
			}
			results, err := unpack[bulkjob.Result](s.codec, packed)
			if err != nil {
				return err
			}
			page = append(page, slices.DeleteFunc(results, func(r bulkjob.Result) bool { return r.Line <= after })...)
			slices.SortFunc(page, byLine)
			page = page[:min(limit, len(page))]
			return nil
		}, `SELECT first_line, results FROM @bulk_results WHERE job = $1 AND first_line > $2 AND last_line > $3
			ORDER BY first_line`, j.ID, after-span, after)
	})
	return page, err
}
