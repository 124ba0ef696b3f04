package x

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
)

// The fields to request: by default X only returns ids and texts.
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

// errWords means that X does not know the names of the fields that we requested.
var errWords = providers.Cause("x: the field vocabulary was refused")

// tweets sends r with the fields of a post, using the names that X last accepted, and the other ones if it refuses
// them: in August 2026 the API's specification renamed tweets to posts, and its documentation did not.
func (c *client) tweets(ctx context.Context, r upstream.Request, dst any) error {
	words := c.postWords.Load()
	_, err := c.http.Read(ctx, inWords(r, words), dst)
	if !errors.Is(err, errWords) {
		return err
	}
	if _, err := c.http.Read(ctx, inWords(r, !words), dst); err != nil {
		return err
	}
	c.postWords.Store(!words)
	return nil
}

func inWords(r upstream.Request, post bool) upstream.Request {
	name, fields, expand := "tweet.fields", tweetFields, expansions
	if post {
		to := strings.NewReplacer("tweet", "post")
		name, fields, expand = to.Replace(name), to.Replace(fields), to.Replace(expand)
	}
	return r.With(name, fields).With("expansions", expand).With("user.fields", authorFields).With("media.fields", mediaFields)
}

// answer is the envelope of every answer, without the data. Errors may come with status 200, with or without data.
// https://docs.x.com/x-api/fundamentals/response-codes-and-errors
type answer struct {
	Includes includes          `json:"includes"`
	Meta     wire.Object[meta] `json:"meta"` // absent from look-ups
	Errors   []fault           `json:"errors"`
}

type meta struct {
	Count     wire.Count `json:"result_count"`
	NextToken wire.Token `json:"next_token"`
}

// single is the answer to a look-up.
type single[T any] struct {
	answer
	Data wire.Object[T] `json:"data"`
}

// check returns an error if there is no data: the thing does not exist, or the answer is malformed.
func (a single[T]) check(ctx context.Context) error {
	if a.Data.Raw != nil {
		return nil
	}
	if err := refusal(a.Errors); err != nil {
		return err
	}
	return wire.Need(ctx, "data", false)
}

// list is a page. If nothing was found, data is absent, not empty, and the count is 0.
type list[T any] struct {
	answer
	Data wire.Rows[T] `json:"data"`
}

// check returns an error if there is no list and X does not state that it is empty.
func (a list[T]) check(ctx context.Context) error {
	if a.Data.Here() {
		return a.Data.Check(ctx, "data")
	}
	if err := refusal(a.Errors); err != nil {
		return err
	}
	if err := a.Data.Optional(ctx, "data"); err != nil {
		return err
	}
	return wire.Need(ctx, "data", a.Meta.V.Count.V != nil && *a.Meta.V.Count.V == 0)
}

// page converts a list.
func page[T, O any](
	ctx context.Context, a list[T], convert func(v T, raw json.RawMessage) (O, bool),
) (out providers.Page[O], err error) {
	if err = a.check(ctx); err != nil {
		return out, err
	}
	if a.Data.Here() {
		out.Items, err = wire.Items(ctx, "data", a.Data, convert)
	}
	if err != nil {
		return out, err
	}
	if err := wire.Need(ctx, "meta", !a.Meta.Odd()); err != nil {
		return out, err
	}
	out.Next, err = a.Meta.V.NextToken.Next(ctx, "meta.next_token")
	return out, err
}

// looked are the results of a look-up of several things.
type looked[T any] struct {
	rows   wire.Keyed[T]
	faults []fault
}

// look reads a into which read decodes the answer about keys, which it gets separated by commas, and groups it by key:
// about returns the key of a row. It reads nothing if there are no keys.
func look[T any](
	ctx context.Context, a *list[T], keys []string, read func(keys string) error, about func(T) string,
) (none looked[T], err error) {
	if len(keys) == 0 {
		return none, nil
	}
	if err := read(strings.Join(keys, ",")); err != nil {
		return none, err
	}
	return a.looked(ctx, keys, about)
}

func (a list[T]) looked(ctx context.Context, keys []string, about func(T) string) (out looked[T], err error) {
	out.faults = a.Errors
	switch {
	case a.Data.Here():
		out.rows, err = wire.ByKey(ctx, "data", a.Data, keys, about)
	case a.Data.Odd() || len(a.Errors) == 0:
		err = wire.Need(ctx, "data", false)
	}
	return out, err
}

// of returns the thing with a key, or the error that X returned for it. Without either, it is unknown whether the thing
// exists.
func (l looked[T]) of(key string) (wire.Object[T], error) {
	row, err := l.rows.Of(key, providers.Unreadable(nil))
	if err != nil {
		for _, f := range l.faults {
			if strings.EqualFold(f.Value, key) && !f.aside() {
				return row, refusal([]fault{f})
			}
		}
	}
	return row, err
}

// includes contains the objects that the data refers to. Entries may be missing.
type includes struct {
	Users  wire.Rows[user]  `json:"users"`
	Media  wire.Rows[media] `json:"media"`
	Tweets wire.Rows[tweet] `json:"tweets"`
	Posts  wire.Rows[tweet] `json:"posts"` // the tweets, with the field name of 2026
}

func (in includes) user(id wire.Serial) *user {
	return find(in.Users, func(u *user) bool { return id != "" && u.ID == id && u.Username != "" })
}

func (in includes) media(key string) *media {
	return find(in.Media, func(m *media) bool { return m.Key == key })
}

func (in includes) tweet(id wire.Serial) *tweet {
	is := func(t *tweet) bool { return id != "" && t.ID == id }
	if t := find(in.Tweets, is); t != nil {
		return t
	}
	return find(in.Posts, is)
}

func find[T any](rows wire.Rows[T], is func(*T) bool) *T {
	for _, row := range rows.All() {
		if is(&row.V) {
			return &row.V
		}
	}
	return nil
}
