package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/stats"
	"github.com/socialdata/socialdata/watch"
)

// planStats plans the read of the posts that numbers are computed from.
func planStats(ctx context.Context, s *Session, row *read.Row, call operation.Call) (planned, error) {
	if _, err := s.reader.Plan(ctx, row, call); err != nil { // its problems name this operation
		return planned{}, err
	}
	posts := call
	posts.Pairs = slices.DeleteFunc(slices.Clone(call.Given()), func(p operation.Pair) bool {
		return p.Name == operation.ParamFields // of the numbers
	})
	q, err := s.reader.Plan(ctx, s.reads(providers.OpPosts), posts)
	return planned{read: q}, err
}

// accountStats returns numbers of an account's newest posts, at the price of their pages.
func accountStats(ctx context.Context, s *Session, row *read.Row, call operation.Call) (*operation.Answer, error) {
	plan, err := planStats(ctx, s, row, call)
	q := plan.read
	of, err := s.ready(ctx, row, q, err, call)
	if err != nil {
		return nil, err
	}
	return s.chargePages(ctx, row, q, call, of, func(a *operation.Answer) error {
		var posts []schema.Post
		if err := json.Unmarshal(a.Data, &posts); err != nil {
			return err
		}
		handle := q.In.Values[0]
		growth := s.growth(ctx, q.Platform, handle)
		var followers *float64
		if growth != nil {
			followers = &growth.After
		}
		sums := stats.Of(posts, followers)
		sums.Platform, sums.Handle, sums.Growth = q.Platform, handle, growth
		if a.Data, err = schema.Marshal(sums); err != nil {
			return err
		}
		if a.Meta.NextCursor = ""; a.Tag != "" {
			a.Tag = read.Tag(a.Tag, string(a.Data))
		}
		return nil
	})
}

// growth returns how the followers of an account have grown in the last 30 days, if a monitor of the caller's account has
// read them; else nil.
func (s *Session) growth(ctx context.Context, on platform.ID, handle string) *schema.StatsGrowth {
	owner, err := s.owner()
	if err != nil {
		return nil
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	for after := ""; ; {
		found, err := s.watching.store.Monitors(ctx, owner, "", after, monitorsPage)
		if err != nil {
			s.cfg.Log.WarnContext(ctx, "monitors cannot be read for numbers", "error", stored(ctx, err))
			return nil
		}
		for i := range found {
			m := &found[i]
			if m.Each == "handle" && m.Operation == string(providers.OpProfile) && m.Platform == string(on) {
				if member, err := s.watching.store.Monitor(ctx, owner, m.Name+"/"+handle); err == nil {
					m = &member
				}
			}
			if s.watches(m, on, handle) {
				points, _, err := s.watching.points(ctx, watch.Numbers{
					Account: owner, Monitor: m.Name, Field: "followers", Since: s.cfg.Now().Add(-month), Limit: historyPart,
				}, 24*time.Hour, historyPage)
				if err == nil && len(points) > 0 {
					return stats.Growth(cmp.Or(m.Panel, m.Name), points)
				}
			}
		}
		if len(found) < monitorsPage {
			return nil
		}
		after = found[len(found)-1].Name
	}
}

// watches reports whether a monitor reads the profile of an account.
func (s *Session) watches(m *watch.Monitor, on platform.ID, handle string) bool {
	if m.Operation != string(providers.OpProfile) || m.Platform != string(on) {
		return false
	}
	watched, _, err := s.upstreams.Normalize(on, providers.Handle, m.Params["handle"])
	return err == nil && watched == handle
}
