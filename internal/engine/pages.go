package engine

import (
	"context"
	"math"
	"time"

	"github.com/socialdata/socialdata/internal/account"
	"github.com/socialdata/socialdata/internal/calls"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
)

// chargePages answers a read of several pages, as a call of row, and charges for those that it has read. It holds the
// price of all. Finish, if it is not nil, makes the answer of the pages.
func (s *Session) chargePages(
	ctx context.Context, row *read.Row, q *read.Query, call operation.Call, of calls.Request,
	finish func(*operation.Answer) error,
) (*operation.Answer, error) {
	var made *calls.Call
	var unpaid *account.UnpaidCalls
	var pages read.Pages
	answer, err := s.answered(ctx, row, call, of, func(c *calls.Call) (*operation.Answer, error) {
		made = c
		if err := account.Within(q.Total(), q.Most); err != nil {
			return nil, err
		}
		if err := c.Hold(ctx, calls.Item{Amount: q.Total()}); err != nil {
			return nil, err
		}
		var err error
		if unpaid, err = s.who.Open(ctx, s.reader.Sandbox(q.Platform), q.Pages); err != nil {
			return nil, err
		}
		answer := &operation.Answer{}
		answer.Meta.RequestID = call.RequestID
		on := func(page int) context.Context { return unpaid.Context(ctx, page) }
		pages, err = s.reader.Pages(ctx, q, on, time.Until(s.over(ctx)), q.In.Limit(math.MaxInt), answer)
		if err == nil && finish != nil {
			err = finish(answer)
		}
		if err == nil {
			charge := charged(q, pages.Quote.Total(), answer)
			charge.Operation = row.Name
			c.Earn("", charge)
		}
		return answer, err
	})
	outcomes := make([]account.Outcome, pages.Read) // those that were not read have called no upstream
	for i := range outcomes {
		outcomes[i] = outcome(made, err)
	}
	unpaid.Close(ctx, outcomes...)
	return answer, err
}
