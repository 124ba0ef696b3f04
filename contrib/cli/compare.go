package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

type compareCmd struct {
	Accounts []string `arg:"" help:"The accounts, as platform/handle such as github/octocat, or as addresses."`
	Pages    int      `help:"How many pages of posts to read of each account, at most 10." default:"1" placeholder:"N"`

	MaxCredits string `help:"Refuse to read an account that may cost more credits." placeholder:"N"`

	outputFlags `embed:""`
}

// Run prints the numbers of the newest posts of each account.
func (c *compareCmd) Run(e *env) error {
	client, err := e.caller()
	if err != nil {
		return err
	}
	row := socialdata.Operation("stats")
	all := []schema.Stats{}
	for _, named := range c.Accounts {
		call, err := c.call(e, client, named)
		if err != nil {
			return err
		}
		a, err := client.Do(e.ctx, row, call)
		if err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
		var s schema.Stats
		if err := json.Unmarshal(a.Data, &s); err != nil {
			return err
		}
		all = append(all, s)
	}
	return c.show(e, all, func() error {
		head := []string{
			"ACCOUNT", "POSTS", "A WEEK", "LIKES", "COMMENTS", "SHARES", "VIEWS", "BY VIEWS", "BY FOLLOWERS", "BEST HOURS", "GROWTH",
		}
		return e.table(head, func(line func(...string)) {
			for i := range all {
				s := &all[i]
				line(string(s.Platform)+"/"+s.Handle, strconv.FormatInt(s.Posts, 10), figure(s.PostsAWeek.Value),
					figure(s.Likes.Value), figure(s.Comments.Value), figure(s.Shares.Value), figure(s.Views.Value),
					percent(s.RateByViews.Value), percent(s.RateByFollowers.Value), hoursOf(s.BestHours), growthOf(s.Growth))
			}
		})
	})
}

// call returns the call for the numbers of an account.
func (c *compareCmd) call(e *env, client caller, named string) (operation.Call, error) {
	call := operation.Call{Params: url.Values{"pages": {strconv.Itoa(c.Pages)}}}
	if c.MaxCredits != "" {
		call.Params.Set(maxCredits, c.MaxCredits)
	}
	if on, handle, ok := strings.Cut(named, "/"); ok && handle != "" && !strings.Contains(on, ".") && !strings.Contains(on, ":") {
		if known := e.localPlatforms(); known == nil || known.Has(platform.ID(on)) {
			call.Platform = on
			call.Params.Set("handle", handle)
			return call, nil
		}
	}
	a, err := client.Do(e.ctx, socialdata.Operation("resolve"), operation.Call{Params: url.Values{"url": {named}}})
	if err != nil {
		return call, fmt.Errorf("%s: %w", named, err)
	}
	var found []schema.Resolved
	if err := json.Unmarshal(a.Data, &found); err != nil {
		return call, err
	}
	for _, r := range found {
		if r.Operation == "profile" {
			call.Platform = string(r.Platform)
			call.Params.Set("handle", r.Params["handle"])
			return call, nil
		}
	}
	return call, misusef("%s does not name an account; write platform/handle, such as github/octocat", named)
}

// figure prints a number; a dash if it is not known.
func figure(v *float64) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(math.Round(*v*100)/100, 'f', -1, 64)
}

func percent(v *float64) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v*100, 'f', 2, 64) + " %"
}

func hoursOf(hours []schema.StatsHour) string {
	var said []string
	for _, h := range hours {
		said = append(said, fmt.Sprintf("%02d", h.Hour))
	}
	if said == nil {
		return "–"
	}
	return strings.Join(said, ", ") + " UTC"
}

func growthOf(g *schema.StatsGrowth) string {
	if g == nil {
		return "–"
	}
	return fmt.Sprintf("%+.0f", g.Change)
}
