package mock

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/schema"
)

// profile generates an account for any handle.
func (s *sandbox) profile(handle string) (schema.Profile, error) {
	return s.user(handle).profile(), nil
}

func (s *sandbox) followers(handle string) (series[schema.Profile], error) {
	return s.crowd("followers", handle), nil
}

func (s *sandbox) following(handle string) (series[schema.Profile], error) {
	return s.crowd("following", handle), nil
}

// crowd is a list of accounts related to one.
func (g *generator) crowd(list, handle string) series[schema.Profile] {
	member := people(list, handle)
	return series[schema.Profile]{n: length(list, handle), at: func(i int) schema.Profile {
		other := member(i)
		if other == handle { // no account follows itself
			other += "_jr"
		}
		return g.user(other).profile()
	}}
}

// user is an account in the format of the sandbox platform.
type user struct {
	account
	Link      string   `json:"link"`
	About     *string  `json:"about"`
	Checked   bool     `json:"checked"`
	Fans      *int64   `json:"fans"`    // null when the owner hides it
	Follows   *int64   `json:"follows"` // null when the owner hides it
	Items     *int64   `json:"items"`
	Language  *string  `json:"language"`
	Country   *string  `json:"country"`
	Sites     []string `json:"sites"`
	MemberFor int      `json:"member_for_days"`
}

// account is a user within another object.
type account struct {
	UserID   string  `json:"user_id"`
	UserName string  `json:"user_name"`
	FullName *string `json:"full_name"`
	Portrait *string `json:"portrait"`
}

func (g *generator) user(handle string) user {
	d, home := roll("user", handle), homeOf(handle)
	u := user{
		account:   g.account(handle),
		Link:      g.page("@" + handle),
		About:     hide(d, 15, pick(d, hobbies[home.lang])),
		Checked:   d.often(20),
		Fans:      hide(d, 8, d.count(7)),
		Follows:   hide(d, 12, d.count(4)),
		Items:     hide(d, 8, int64(length("post", handle))),
		Language:  hide(d, 30, home.lang),
		Country:   hide(d, 30, home.country),
		MemberFor: d.between(30, 4000),
	}
	if d.often(60) {
		u.Sites = append(u.Sites, text.URLs(domain(handle)+"/")...)
	}
	if d.often(20) {
		u.Sites = append(u.Sites, g.page("stores", handle))
	}
	if g.lively.is(handle) {
		return g.lively.user(u)
	}
	return u
}

func (u user) profile() schema.Profile {
	return schema.Profile{
		Common:      common(u.UserID, u.Link, u),
		Handle:      u.UserName,
		DisplayName: u.FullName,
		Bio:         u.About,
		AvatarURL:   u.Portrait,
		Verified:    u.Checked,
		Followers:   u.Fans,
		Following:   u.Follows,
		PostsCount:  u.Items,
		Lang:        u.Language,
		Country:     u.Country,
		Links:       u.Sites,
	}
}

func (g *generator) account(handle string) account {
	d := roll("account", handle)
	return account{
		UserID:   strconv.Itoa(100_000_000 + d.below(900_000_000)),
		UserName: handle,
		FullName: hide(d, 6, nameOf(handle)),
		Portrait: hide(d, 10, g.file("portraits", handle+".jpg")),
	}
}

func (a account) actor() schema.Actor {
	return schema.Actor{ID: a.UserID, Handle: a.UserName, DisplayName: a.FullName, AvatarURL: a.Portrait}
}

// cast is the number of people before names repeat with a number as their suffix.
var cast = len(firstNames) * len(lastNames)

// person returns the handle of the n-th person.
func person(n int) string {
	handle := firstNames[n%len(firstNames)].latin + "_" + lastNames[n/len(firstNames)%len(lastNames)].latin
	if round := n / cast; round > 0 {
		handle += "_" + strconv.Itoa(round+1)
	}
	return handle
}

// people returns a function from indexes to handles, all different, selected by the words.
func people(words ...string) func(i int) string {
	d := roll(words...)
	start, step := d.below(cast), pick(d, []int{5, 7, 11, 13, 17, 19}) // coprime to cast: each step visits all people
	return func(i int) string { return person((start+i*step)%cast + i/cast*cast) }
}

// length returns the length of a list: two or three pages.
func length(list, key string) int { return roll("length", list, key).between(24, 52) }

// homeOf returns where an account lives, even if the platform hides it.
func homeOf(handle string) home { return pick(roll("home", handle), homes) }

// nameOf returns the display name of the owner of a handle.
func nameOf(handle string) string {
	d := roll("name", handle)
	words := strings.FieldsFunc(handle, func(r rune) bool { return r == '_' || r == '.' || r == '-' })
	arabic := homeOf(handle).lang == "ar" && d.often(70)
	for i, w := range words {
		words[i] = spell(w, arabic)
	}
	full := strings.Join(words, " ")
	if full == "" {
		full = handle
	}
	if d.often(25) {
		full += " " + pick(d, emoji)
	}
	return full
}

func spell(word string, arabic bool) string {
	for _, names := range [][]name{firstNames, lastNames} {
		for _, n := range names {
			switch {
			case n.latin != word:
			case arabic:
				return n.arabic
			default:
				return n.english
			}
		}
	}
	r, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r)) + word[size:]
}

// domain returns the web site of an account, an advertiser or a store; handle itself if it is a domain.
func domain(handle string) string {
	if strings.Contains(handle, ".") {
		return handle
	}
	return strings.ReplaceAll(handle, "_", "-") + ".example"
}
