package accounts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// WatchRequest defines the call of a monitor, how often it is made, and what is reported.
type WatchRequest struct {
	// Operation is one that monitors can call, such as "posts": see [operation.Operation.Watched].
	Operation string
	Platform  platform.ID       // "" for search_across, which has none
	Params    map[string]string // of the operation, by their names over HTTP; without options of the answer and the cursor
	// Each makes the monitor a panel: one parameter with up to 1,000 values. Each value is a member, which is read,
	// compared and charged by itself; members that are new when the request is made again begin with a baseline of their
	// own, and those that are left out end. Members that an upstream answers for together are read together.
	Each map[string][]string
	// Every is the interval, from the cache lifetime of the operation to 31 days; 0 means the lifetime, or 15 minutes
	// if that is longer.
	Every time.Duration
	// Cron are the times of polls, instead of Every: a cron line of five fields, and after them the name of a time zone,
	// such as "0 9 * * 1-5 Europe/Berlin"; without one they are in UTC. Two times must not be closer than Every may be.
	Cron string
	// Pages is the maximum number of pages of a list that a poll reads, 1 to 10; 0 means 2. Each is charged.
	Pages int
	// Follow is how many of the newest items of a list are also compared, 0 to 100. Of the others, only new ones are
	// reported.
	Follow int
	Fields []string // the compared ones, such as "bio" or "author.handle"; none means all
	// Alerts are numbers of one object that are reported when they have moved that far since the last report, or cross
	// a bound: "followers:5%", "price.amount:-10%", "viewers:>=10000".
	Alerts []string
	// DryRun makes [Monitors.Make] return what the monitor would be and cost, without making or changing it.
	DryRun bool
	// Name is the name of the monitor, of a-z, 0-9 and -. For Watch "" means [WatchRequest.DefaultName].
	Name string
}

// Spec returns r as a monitor is described over HTTP.
func (r *WatchRequest) Spec() schema.MonitorSpec {
	every := r.Cron
	if every == "" && r.Every != 0 {
		every = r.Every.String()
	}
	return schema.MonitorSpec{
		Operation: r.Operation, Platform: r.Platform, Params: maps.Clone(r.Params), Each: maps.Clone(r.Each), Every: every,
		Pages: r.Pages, Follow: r.Follow, Fields: slices.Clone(r.Fields), Alerts: slices.Clone(r.Alerts), DryRun: r.DryRun,
	}
}

// DefaultName returns the name that Watch gives a monitor without one: the same for the same call.
func (r *WatchRequest) DefaultName() string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %q", r.Operation, r.Platform)
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		_, _ = fmt.Fprintf(sum, " %q=%q", name, r.Params[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Each)) {
		_, _ = fmt.Fprintf(sum, " each %q", name) // and not its values: the panel stays when its members change
	}
	return "watch-" + hex.EncodeToString(sum.Sum(nil)[:10])
}
