// Package platform names the platforms that socialdata reads, and the price of a call to each.
//
// It knows no provider, no route and no request. A platform's value, such as [GitHub], is the word in paths
// (/v1/github/profile), in the field platform of every object and in ledger entries.
package platform

// ID is a platform's identifier, as used in paths and objects: one lower-case word.
type ID string

// The built-in platforms.
const (
	Amazon      ID = "amazon"
	AppleMusic  ID = "apple_music"
	AppStore    ID = "appstore"
	Bluesky     ID = "bluesky"
	Facebook    ID = "facebook"
	GitHub      ID = "github"
	Google      ID = "google"
	HackerNews  ID = "hackernews"
	Instagram   ID = "instagram"
	Kick        ID = "kick"
	Kwai        ID = "kwai"
	LinkedIn    ID = "linkedin"
	Linktree    ID = "linktree"
	Mock        ID = "mock"
	Pinterest   ID = "pinterest"
	Reddit      ID = "reddit"
	Rumble      ID = "rumble"
	Salla       ID = "salla"
	Snapchat    ID = "snapchat"
	SoundCloud  ID = "soundcloud"
	Spotify     ID = "spotify"
	Telegram    ID = "telegram"
	Threads     ID = "threads"
	TikTok      ID = "tiktok"
	TruthSocial ID = "truthsocial"
	Twitch      ID = "twitch"
	X           ID = "x"
	YouTube     ID = "youtube"
	Zid         ID = "zid"
)

// Info is the fixed data of a platform, whichever provider serves it.
type Info struct {
	ID          ID
	Name        string  // as people write it: "Apple Music"
	BaseCredits int64   // the price of one plain call, in credits
	Meaning     string  // what the universal objects mean on this platform; "" when they mean what their names say
	NoEnrich    bool    // its content must not be sent through enrichment
	Sandbox     bool    // its data is invented: it is only searched when nothing else is
	Links       Links   // the meaning of the links in its profiles
	Replies     Replies // which lists have the replies to comments
	Aliases     string  // other names by which people know it, separated by spaces; no path accepts them
}

// Links is the meaning of the links in a platform's profiles.
type Links int

// Values of [Links].
const (
	LinksInBio  Links = iota // part of what an account says about itself
	LinksListed              // a list that the owner keeps beside the bio
	LinksPage                // the whole profile: a page of links to the owner's accounts elsewhere
)

// Replies is which lists of a platform have the replies to comments.
type Replies int

// Values of [Replies].
const (
	RepliesOfEach     Replies = iota // each comment at any depth has a list of the replies to it
	RepliesFlat                      // a reply belongs to a comment on the post, and has no replies
	RepliesInComments                // the list of comments has the replies at all depths
)

// specified is the table of the built-in platforms, sorted by identifier.
var specified = newTable([]Info{
	{ID: Amazon, Name: "Amazon", BaseCredits: 1, Meaning: "profiles are shop owners"},
	{ID: AppleMusic, Name: "Apple Music", BaseCredits: 1, Meaning: "profiles are artists, posts are artist albums", Aliases: "itunes applemusic"},
	{ID: AppStore, Name: "App Store", BaseCredits: 1, Meaning: "profiles are apps, looked up by numeric id or by bundle id", Aliases: "ios apple"},
	{ID: Bluesky, Name: "Bluesky", BaseCredits: 1, Replies: RepliesInComments, Aliases: "bsky"},
	{ID: Facebook, Name: "Facebook", BaseCredits: 1, Replies: RepliesFlat, Aliases: "fb meta"},
	{ID: GitHub, Name: "GitHub", BaseCredits: 1, Meaning: "posts are public repositories", Aliases: "gh"},
	{ID: Google, Name: "Google", BaseCredits: 1},
	{ID: HackerNews, Name: "Hacker News", BaseCredits: 1, Aliases: "hn ycombinator"},
	{ID: Instagram, Name: "Instagram", BaseCredits: 1, Replies: RepliesFlat, Aliases: "ig insta"},
	{ID: Kick, Name: "Kick", BaseCredits: 1},
	{ID: Kwai, Name: "Kwai", BaseCredits: 1},
	{ID: LinkedIn, Name: "LinkedIn", BaseCredits: 2, Aliases: "li"},
	{ID: Linktree, Name: "Linktree", BaseCredits: 1, Links: LinksPage},
	{ID: Mock, Name: "Mock", BaseCredits: 1, Replies: RepliesFlat, Meaning: "a sandbox with invented data for every operation", Sandbox: true},
	{ID: Pinterest, Name: "Pinterest", BaseCredits: 1},
	{ID: Reddit, Name: "Reddit", BaseCredits: 1, Replies: RepliesInComments, NoEnrich: true},
	{ID: Rumble, Name: "Rumble", BaseCredits: 1},
	{ID: Salla, Name: "Salla", BaseCredits: 1},
	{ID: Snapchat, Name: "Snapchat", BaseCredits: 2},
	{ID: SoundCloud, Name: "SoundCloud", BaseCredits: 1, Aliases: "sc"},
	{ID: Spotify, Name: "Spotify", BaseCredits: 1, Meaning: "posts are artist albums", NoEnrich: true},
	{ID: Telegram, Name: "Telegram", BaseCredits: 2, Aliases: "tg"},
	{ID: Threads, Name: "Threads", BaseCredits: 1},
	{ID: TikTok, Name: "TikTok", BaseCredits: 1, Replies: RepliesFlat, Aliases: "tt"},
	{ID: TruthSocial, Name: "Truth Social", BaseCredits: 1, Replies: RepliesInComments, Aliases: "truth"},
	{ID: Twitch, Name: "Twitch", BaseCredits: 1},
	{ID: X, Name: "X", BaseCredits: 1, Replies: RepliesInComments, Aliases: "twitter tweet tweets"},
	{ID: YouTube, Name: "YouTube", BaseCredits: 1, Replies: RepliesFlat, Links: LinksListed, Aliases: "yt"},
	{ID: Zid, Name: "Zid", BaseCredits: 1},
})

// All returns every built-in platform, sorted by identifier. The caller owns the slice.
func All() []Info { return specified.All() }

// Names returns the identifiers of the built-in platforms as text, sorted. The caller owns the slice.
func Names() []string { return specified.Names() }

// Lookup returns the data of a built-in platform, and whether id is one.
func Lookup(id ID) (Info, bool) { return specified.Lookup(id) }

// Valid reports whether id is a built-in platform.
func (id ID) Valid() bool { return specified.Has(id) }
