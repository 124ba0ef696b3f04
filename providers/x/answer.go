package x

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/internal/upstream"
)

// The fields to ask for: X gives no more than ids and texts unasked.
// https://docs.x.com/x-api/fundamentals/fields
const (
	tweetFields = "id,text,author_id,created_at,lang,public_metrics,entities,attachments,referenced_tweets,conversation_id," +
		"in_reply_to_user_id,note_tweet,possibly_sensitive,paid_partnership,community_id,edit_history_tweet_ids,withheld"
	expansions = "author_id,attachments.media_keys,referenced_tweets.id,referenced_tweets.id.author_id," +
		"referenced_tweets.id.attachments.media_keys,in_reply_to_user_id"
	authorFields = "id,name,username,profile_image_url,verified,verified_type"
	mediaFields  = "media_key,type,url,preview_image_url,duration_ms,variants,width,height,alt_text,public_metrics"
	userFields   = "id,name,username,description,profile_image_url,verified,verified_type,protected,public_metrics,url,entities," +
		"location,created_at,withheld"
	spaceFields     = "title,state,participant_count,started_at,host_ids,lang"
	communityFields = "access,created_at,description,id,join_policy,member_count,name"
)

// errWords says that X does not know the words in which we named the fields.
var errWords = errors.New("x: the field vocabulary was refused")

// tweets sends r with the fields of a post, in the words that X last understood, and in the other ones when it refuses
// them: in August 2026 the interface's description renamed tweets to posts, and its prose did not.
func (c *client) tweets(ctx context.Context, r upstream.Request, dst any) error {
	words := c.postWords.Load()
	_, err := c.http.JSON(ctx, inWords(r, words), dst)
	if errors.Is(err, errWords) {
		if _, err = c.http.JSON(ctx, inWords(r, !words), dst); err == nil {
			c.postWords.Store(!words)
		}
	}
	return err
}

func inWords(r upstream.Request, post bool) upstream.Request {
	name, fields, expand := "tweet.fields", tweetFields, expansions
	if post {
		to := strings.NewReplacer("tweet", "post")
		name, fields, expand = to.Replace(name), to.Replace(fields), to.Replace(expand)
	}
	return r.With(name, fields).With("expansions", expand).With("user.fields", authorFields).With("media.fields", mediaFields)
}

// answer is the envelope of every answer. Data is absent, not empty, when nothing was found; errors may come with
// status 200, alone or beside data.
// https://docs.x.com/x-api/fundamentals/response-codes-and-errors
type answer[T any] struct {
	Data     T        `json:"data"`
	Includes includes `json:"includes"`
	Meta     *struct {
		NextToken string `json:"next_token"`
	} `json:"meta"` // absent on look-ups
	Errors []fault `json:"errors"`
}

type (
	single[T any] = answer[*upstream.Object[T]]
	list[T any]   = answer[[]upstream.Object[T]]
)

// includes holds what the objects of data point to. Entries may be missing.
type includes struct {
	Users  []user  `json:"users"`
	Media  []media `json:"media"`
	Tweets []tweet `json:"tweets"`
	Posts  []tweet `json:"posts"` // the tweets in the words of 2026
}

func (in includes) user(id string) *user {
	return find(in.Users, func(u *user) bool { return u.ID == id && u.Username != "" })
}

func (in includes) media(key string) *media {
	return find(in.Media, func(m *media) bool { return m.Key == key })
}

func (in includes) tweet(id string) *tweet {
	is := func(t *tweet) bool { return t.ID == id }
	if t := find(in.Tweets, is); t != nil {
		return t
	}
	return find(in.Posts, is)
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func (a answer[T]) next() string {
	if a.Meta == nil {
		return ""
	}
	return a.Meta.NextToken
}

// fault is an entry of errors.
type fault struct {
	Title      string                     `json:"title"`
	Type       string                     `json:"type"`
	Detail     string                     `json:"detail"`
	Parameter  string                     `json:"parameter"`  // of a 200
	Parameters map[string]json.RawMessage `json:"parameters"` // of a 400
}

// absent says what an answer without data means. It is nil for a list that is honestly empty.
func (a answer[T]) absent() error {
	for _, f := range a.Errors {
		if f.aside() {
			continue
		}
		switch {
		case strings.Contains(f.Detail, "suspended"):
			return providers.NotFound("the account is suspended")
		case kind(f.Type) == "not-authorized-for-resource":
			return providers.NotFound("the account is protected or suspended")
		case kind(f.Type) == "resource-not-found":
			return providers.NotFound("X knows no such account, post, space or community")
		}
		return providers.Unavailable(errors.New(f.Title), "X refused our request")
	}
	if a.Meta == nil {
		return providers.Unreadable(nil)
	}
	return nil
}

// aside tells whether f is about something that the answer only points to.
func (f fault) aside() bool {
	for _, p := range []string{"referenced_", "pinned_", "attachments.", "entities.", "in_reply_to_"} {
		if strings.HasPrefix(f.Parameter, p) {
			return true
		}
	}
	return false
}

// kind is what stands behind /problems/ in a type; the host before it is an old or a new one.
func kind(typ string) string { return typ[strings.LastIndex(typ, "/")+1:] }

// check reads the answers that the common rules would misunderstand.
func check(res *upstream.Response) error {
	if res.Status < 400 {
		return nil
	}
	var body struct {
		fault
		Errors []fault `json:"errors"`
	}
	_ = json.Unmarshal(res.Body, &body) // what is no JSON has no type and no errors
	switch res.Status {
	case http.StatusBadRequest:
		return badRequest(body.Errors)
	case http.StatusPaymentRequired:
		return providers.Unavailable(nil, "our account with X is out of credits")
	case http.StatusForbidden:
		if kind(body.Type) == "unsupported-authentication" {
			return providers.Unsupported("X does not serve this to our kind of access")
		}
	case http.StatusNotFound:
		if len(res.Body) == 0 || strings.Contains(res.URL.Path, "/search") {
			return providers.Unavailable(nil, "X does not know this address")
		}
	case http.StatusTooManyRequests:
		if kind(body.Type) == "usage-capped" || body.Title == "UsageCapExceeded" {
			return providers.Unavailable(nil, "our account with X has used up its month")
		}
		// X sends no Retry-After; a bucket with nothing left has been closed until its reset already.
		if s, err := strconv.ParseInt(res.Header.Get("x-rate-limit-reset"), 10, 64); err == nil {
			wait := max(0, time.Until(time.Unix(s, 0)))
			return &providers.Error{Kind: providers.ErrUnavailable, Detail: "X limits our pace", RetryAfter: wait}
		}
	case http.StatusGatewayTimeout:
		return &providers.Error{Kind: providers.ErrTimeout, Detail: "X did not answer in time"}
	}
	return nil
}

// badRequest tells a dead cursor from a caller's fault and both from ours.
func badRequest(faults []fault) error {
	for _, f := range faults {
		for name := range f.Parameters {
			switch name {
			case "pagination_token", "next_token":
				return providers.ErrCursor
			case "tweet.fields", "post.fields":
				return providers.Unavailable(errWords, "X refused our request")
			case "start_time":
				return providers.Invalid("since must be in the past, and within the time that X searches")
			case "end_time":
				return providers.Invalid("until must be later than since, and within the time that X searches")
			case "query":
				return providers.Invalid("X cannot read this query")
			case "id", "ids", "username", "usernames", "user_ids":
				return providers.Invalid("X cannot read this handle or id")
			}
		}
	}
	return providers.Unavailable(nil, "X refused our request")
}
