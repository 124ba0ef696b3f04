package socialdata

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"

	"github.com/socialdata/socialdata/internal/cursor"
	"github.com/socialdata/socialdata/internal/typed"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/schema"
)

// Keyed is a request that reads one T by its key, and so can read many.
type Keyed[T any] interface{ row() *row[T] }

// Batch reads up to 100 objects with one call: req without what identifies the object, which keys replace.
//
//	batch, err := socialdata.Batch(ctx, client, socialdata.ProfileRequest{Platform: platform.GitHub}, "octocat", "torvalds")
//
// The data has an element for each key, in the order of keys: the object, or the problem that a read of that key alone
// would return. A key that is given twice is answered twice, but read and charged once; an empty one is left out. The
// other fields of req apply to each key, except that MaxCredits and IdempotencyKey are for the whole call.
//
// A batch costs the base credits for each key that is answered with an object, twice that with Fresh, and 3 once with
// Enrich. It fails as a whole when no key is valid, when the platform does not have the operation, and when every key
// has failed at the platform.
//
// With a [ReadRequest], the keys are web addresses of any platforms: each is read as [Reader].Read would, of a list one
// page, and its object has the type of the call that read it, such as [schema.Profile], which Call names.
//
//	pasted, err := socialdata.Batch(ctx, client, socialdata.ReadRequest{}, "https://github.com/octocat", "https://x.com/jack")
func Batch[T any, Req Keyed[T]](
	ctx context.Context, r Reader, req Req, keys ...string,
) (*schema.Envelope[[]schema.BatchItem[T]], error) {
	one := req.row()
	call, many := operation.CallOf(one.Operation, &req), one.batch.Operation
	if len(keys) > 0 {
		call.Pairs = append(call.Pairs, operation.Pair{Name: many.Key().Name, Value: many.Key().Join(keys)})
	}
	if !one.Redirects {
		return typed.Decode[[]schema.BatchItem[T]](r.over().Do(ctx, many, call))
	}
	read, err := typed.Decode[[]schema.BatchItem[json.RawMessage]](r.over().Do(ctx, many, call))
	if err != nil {
		return nil, err
	}
	e := &schema.Envelope[[]schema.BatchItem[T]]{Data: make([]schema.BatchItem[T], len(read.Data)), Meta: read.Meta}
	for i, item := range read.Data {
		e.Data[i] = schema.BatchItem[T]{
			Key: item.Key, Problem: item.Problem, Cache: item.Cache, DataAgeS: item.DataAgeS, Call: item.Call,
		}
		if item.Data == nil {
			continue
		}
		if e.Data[i].Data, err = dataOf[T](item.Call, *item.Data); err != nil {
			return nil, typed.Undecodable(read.Meta, err)
		}
	}
	return e, nil
}

// dataOf returns the object of an address as the type of the call that has read it. The operation may be one that only a
// later service has.
func dataOf[T any](by *schema.BatchCall, data json.RawMessage) (*T, error) {
	made := operation.Made{Operation: &operation.Operation{Data: reflect.TypeFor[any]()}}
	if by != nil {
		made.Operation = cmp.Or(Operation(by.Operation), made.Operation)
	}
	v, err := made.Value(data)
	out, ok := v.(T)
	if err == nil && !ok {
		err = fmt.Errorf("the object is a %T", v)
	}
	return &out, err
}

func (ProfileRequest) row() *row[schema.Profile]       { return opProfile }
func (AudienceRequest) row() *row[schema.Audience]     { return opAudience }
func (LiveRequest) row() *row[schema.LiveStream]       { return opLive }
func (PostRequest) row() *row[schema.Post]             { return opPost }
func (TranscriptRequest) row() *row[schema.Transcript] { return opTranscript }
func (CollectionRequest) row() *row[schema.Collection] { return opCollection }
func (TrackRequest) row() *row[schema.Track]           { return opTrack }
func (CommunityRequest) row() *row[schema.Profile]     { return opCommunity }
func (ProductRequest) row() *row[schema.Product]       { return opProduct }
func (StoreRequest) row() *row[schema.StoreSummary]    { return opStore }
func (AdRequest) row() *row[schema.Ad]                 { return opAd }
func (EventRequest) row() *row[schema.Event]           { return opEvent }
func (ReadRequest) row() *row[any]                     { return opRead }

// Paged is a pointer to a request of one page of a list, which embeds [Page].
type Paged[Req any] interface {
	*Req
	Paging() *Page
}

// options returns o, for walks, which turn the pages of any request.
func (o *ReadOptions) options() *ReadOptions { return o }

// mostRows is the highest limit of one call.
const mostRows = 1000

// Pages yields the pages of a list, each with its Meta, until the list ends, the caller breaks, or a page fails: the
// error is then the last pair. It begins at the request's Cursor, so that a list can be continued later at the
// Meta.NextCursor of any page. Items of earlier pages are left out of Data, and a list that returns nothing else ends.
// A page without items is yielded too, since it was charged. It is called as [Walk] is.
func Pages[Req any, T any, P Paged[Req]](
	ctx context.Context, page func(context.Context, Req) (*schema.Envelope[[]T], error), req Req,
) iter.Seq2[*schema.Envelope[[]T], error] {
	return func(yield func(*schema.Envelope[[]T], error) bool) {
		var listed cursor.Listed
		left := P(&req).Paging().Limit
		for idle, cursor := 0, ""; idle <= typed.MostIdle; idle++ {
			next := req
			P(&next).Paging().Limit = min(left, mostRows)
			if cursor != "" {
				P(&next).Paging().Cursor = cursor
				if keyed, ok := any(&next).(interface{ options() *ReadOptions }); ok {
					keyed.options().IdempotencyKey = typed.PageKey(keyed.options().IdempotencyKey, cursor)
				}
			}
			got, err := page(ctx, next)
			if err != nil {
				yield(nil, err)
				return
			}
			own := &schema.Envelope[[]T]{Data: make([]T, 0, len(got.Data)), Meta: got.Meta}
			for i := range got.Data {
				if id, ok := itemID(&got.Data[i]); !ok || !listed.Again(id) {
					own.Data = append(own.Data, got.Data[i])
				}
			}
			listed.Turn()
			if len(own.Data) > 0 {
				idle = -1
			}
			if cursor = got.Meta.NextCursor; !yield(own, nil) || cursor == "" || left > 0 && left <= len(own.Data) {
				return
			}
			left -= min(left, len(own.Data))
		}
	}
}

// Walk yields the items of [Pages] one by one. Each page has its own price.
//
//	req := socialdata.PostsRequest{Platform: platform.GitHub, Handle: "octocat"}
//	for post, err := range socialdata.Walk(ctx, client.Posts, req) {
//		…
//	}
func Walk[Req any, T any, P Paged[Req]](
	ctx context.Context, page func(context.Context, Req) (*schema.Envelope[[]T], error), req Req,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range Pages[Req, T, P](ctx, page, req) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// itemID returns a hash that identifies an item, if it is a resource.
func itemID(item any) (uint64, bool) {
	o, ok := item.(schema.Object)
	if r, isResult := item.(*schema.SearchResult); isResult {
		o, ok = r.Object, r.Object != nil
	}
	if !ok {
		return 0, false
	}
	return cursor.Identity(o), true
}
