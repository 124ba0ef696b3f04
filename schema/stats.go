package schema

import (
	"time"

	"github.com/socialdata/socialdata/platform"
)

// Stats sums up the newest posts of an account.
type Stats struct {
	Platform platform.ID `json:"platform"`       // the platform of the account
	Handle   string      `json:"handle" min:"1"` // the account, as its posts were read
	Posts    int64       `json:"posts" min:"0"`  // how many posts were read
	Oldest   *time.Time  `json:"oldest"`         // where posts_a_week begins: the oldest of them, but of eight or more not the three oldest, which may be pinned
	Newest   *time.Time  `json:"newest"`         // the time of the newest; null if none has one
	// posts a week, between the oldest and the newest
	PostsAWeek StatsNumber `json:"posts_a_week"`
	Likes      StatsNumber `json:"likes"`    // the median of the likes
	Comments   StatsNumber `json:"comments"` // the median of the comments
	Shares     StatsNumber `json:"shares"`   // the median of the shares
	Saves      StatsNumber `json:"saves"`    // the median of the saves
	Views      StatsNumber `json:"views"`    // the median of the views
	// the median of the sum of likes, comments, shares and saves, as far as they are known
	Interactions StatsNumber `json:"interactions"`
	// the median of interactions by views, from posts with views
	RateByViews StatsNumber `json:"rate_by_views"`
	// the median of interactions by followers, if a monitor has the followers
	RateByFollowers StatsNumber `json:"rate_by_followers"`
	// the hours of the day, in UTC, with the most interactions, the best first: at most three, each with two posts or more
	BestHours []StatsHour `json:"best_hours"`
	// how the followers have grown in the last 30 days; null unless a monitor of the account reads its profile
	Growth *StatsGrowth `json:"growth"`
}

// StatsNumber is a number and over how many posts it was computed.
type StatsNumber struct {
	Value *float64 `json:"value"`         // null if it is unknown
	Posts int64    `json:"posts" min:"0"` // the number of posts that it is computed from
}

// StatsHour is one hour of the day.
type StatsHour struct {
	Hour         int64   `json:"hour" min:"0" max:"23"` // from its beginning, in UTC
	Interactions float64 `json:"interactions" min:"0"`  // the median of those of its posts
	Posts        int64   `json:"posts" min:"1"`         // the number of its posts
}

// StatsGrowth is how a number has grown.
type StatsGrowth struct {
	Monitor string    `json:"monitor" min:"1"` // the monitor that has read it
	From    time.Time `json:"from"`            // the time of the first reading
	To      time.Time `json:"to"`              // the time of the last one
	Before  float64   `json:"before"`          // the number at first
	After   float64   `json:"after"`           // the number at last
	Change  float64   `json:"change"`          // the difference
	Share   *float64  `json:"share"`           // the difference by the number at first; null if that is 0
	AWeek   *float64  `json:"a_week"`          // the difference a week; null for a single reading
	Points  int64     `json:"points" min:"1"`  // how many days have a reading
}
