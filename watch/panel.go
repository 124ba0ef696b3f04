package watch

import (
	"maps"
	"time"
)

// MaxMembers is the maximum number of members of a panel.
const MaxMembers = 1000

// MembersOf is how many members the panels of an account may have in total, for each monitor that it may have.
const MembersOf = 10

// Of a panel whose members are read together, PanelClaim is how many [Store.Claim] claims at once, while fewer than
// MostInProgress are in progress.
const (
	PanelClaim     = 100
	MostInProgress = 20
)

// MemberOf returns a member of the panel m as it is made, due at next. It is for implementations of [Store].
func (m *Monitor) MemberOf(value string, next time.Time) Monitor {
	own := m.copied()
	own.Name, own.Panel, own.Feed, own.CreatedAt = m.Name+"/"+value, m.Name, "", next
	own.Params = maps.Clone(m.Params)
	if own.Params == nil {
		own.Params = map[string]string{}
	}
	own.Params[m.Each] = value
	own.Each, own.Processed = "", 0
	own.Baseline, own.Progress = 1, Progress{State: Active, NextAt: next}
	return own
}

// The stages of a member.
const (
	StageWaiting = "waiting" // it was not polled yet
	StageRead    = "read"
	StageFailed  = "failed"
	StageGone    = "gone"
	StageStarved = "starved"
	StageStopped = "stopped"
)

// Stage returns what the last poll of a member has come to; "" if m is not a member. It is for implementations of
// [Store].
func (m *Monitor) Stage() string {
	switch {
	case m.Panel == "":
		return ""
	case m.State == Stopped:
		return StageStopped
	case m.State == Starved:
		return StageStarved
	case m.Code != "":
		return StageFailed
	case m.LastAt.IsZero():
		return StageWaiting
	case m.Snapshot.Gone:
		return StageGone
	}
	return StageRead
}

// Coverage is how many members of a panel are in each stage.
type Coverage struct {
	Stages  map[string]int
	Credits int64     // charged for them in the month that was asked for
	LastAt  time.Time // of the last poll that has read one; zero before the first
	NextAt  time.Time // of the next poll; zero when there is none
	Code    string    // of the problem of one that has one
	Detail  string
}

// Add adds members that are in one stage. It is for implementations of [Store].
func (c *Coverage) Add(stage string, members int, credits int64, last, next time.Time) {
	if c.Stages == nil {
		c.Stages = map[string]int{}
	}
	c.Stages[stage] += members
	c.Credits += credits
	if last.After(c.LastAt) {
		c.LastAt = last
	}
	if !next.IsZero() && (c.NextAt.IsZero() || next.Before(c.NextAt)) {
		c.NextAt = next
	}
}

// Members returns how many members there are.
func (c *Coverage) Members() (n int) {
	for _, members := range c.Stages {
		n += members
	}
	return n
}

// State returns the state of the panel, which follows from those of its members.
func (c *Coverage) State() string {
	switch n := c.Members(); {
	case n > 0 && c.Stages[StageStopped] == n:
		return Stopped
	case c.Stages[StageStarved] > 0:
		return Starved
	case n > 0 && c.Stages[StageFailed]+c.Stages[StageStopped] == n:
		return Failing
	}
	return Active
}
