package socialdata

import (
	"context"
	"reflect"
	"time"

	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Each operation that reads one object by one key has a batch operation for up to 100 keys. The data has an element for
// each key, in the order of the request: the object, or the problem that a read of that key alone would return. A key
// that is given twice is answered twice, but read and charged once; an empty one is left out. The other fields have the
// same meaning as in the request for one key, and apply to each key, except that MaxCredits and IdempotencyKey are for
// the whole call.
//
// A batch costs the base credits for each key that is answered with an object, twice that with Fresh, and 3 once with
// Enrich. It fails as a whole when no key is valid, when the platform does not have the operation, and when every key
// has failed at the platform.
type (
	// ProfileBatchRequest asks for several accounts.
	ProfileBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handles        []string      `param:"handles,required" form:"keys" doc:"The accounts: 1 to 100 handles or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// AudienceBatchRequest asks for where the followers of several accounts live.
	AudienceBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handles        []string      `param:"handles,required" form:"keys" doc:"The accounts: 1 to 100 handles or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// LiveBatchRequest asks for several accounts' broadcasts.
	LiveBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		Handles        []string      `param:"handles,required" form:"keys" doc:"The accounts: 1 to 100 handles or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// PostBatchRequest asks for several posts.
	PostBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		IDs            []string      `param:"ids,required" form:"keys" doc:"The posts: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// TranscriptBatchRequest asks for what is said in several posts.
	TranscriptBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		PostIDs        []string      `param:"post_ids,required" form:"keys" doc:"The posts: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		Lang           string        `param:"lang,filter" form:"lang" doc:"BCP 47 code of the wanted language; the original without it."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// CollectionBatchRequest asks for several collections.
	CollectionBatchRequest struct {
		Platform       platform.ID           `path:"platform"`
		IDs            []string              `param:"ids,required" form:"keys" doc:"The collections: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		Kind           schema.CollectionKind `param:"kind,filter" enum:"playlist board highlight album podcast" doc:"The kind of the collection, if the id does not show it."`
		IncludeRaw     bool                  `param:"include_raw"`
		Fresh          bool                  `param:"fresh"`
		MaxAge         time.Duration         `param:"max_age_s"`
		StaleIfError   time.Duration         `param:"stale_if_error_s"`
		Enrich         Enrichment            `param:"enrich"`
		MaxCredits     int64                 `param:"max_credits"`
		IdempotencyKey string                `header:"Idempotency-Key"`
	}

	// TrackBatchRequest asks for several tracks.
	TrackBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		IDs            []string      `param:"ids,required" form:"keys" doc:"The tracks or sounds: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// CommunityBatchRequest asks for several communities.
	CommunityBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		IDs            []string      `param:"ids,required" form:"keys" doc:"The communities: 1 to 100 names, ids or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// ProductBatchRequest asks for several products.
	ProductBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		IDs            []string      `param:"ids,required" form:"keys" doc:"The products: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		Region         string        `param:"region,filter" form:"country" doc:"ISO 3166-1 alpha-2 code, where the platform sells by region."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// StoreBatchRequest asks for several stores.
	StoreBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		IDs            []string      `param:"ids,required" form:"keys" doc:"The stores: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// AdBatchRequest asks for several ads.
	AdBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		IDs            []string      `param:"ids,required" form:"keys" doc:"The ads: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}

	// EventBatchRequest asks for several events.
	EventBatchRequest struct {
		Platform       platform.ID   `path:"platform"`
		IDs            []string      `param:"ids,required" form:"keys" doc:"The events: 1 to 100 ids or public URLs, separated by commas, or by line feeds where there is one."`
		IncludeRaw     bool          `param:"include_raw"`
		Fresh          bool          `param:"fresh"`
		MaxAge         time.Duration `param:"max_age_s"`
		StaleIfError   time.Duration `param:"stale_if_error_s"`
		Enrich         Enrichment    `param:"enrich"`
		MaxCredits     int64         `param:"max_credits"`
		IdempotencyKey string        `header:"Idempotency-Key"`
	}
)

// The batch operations of the rows that read one object.
var (
	opProfileBatch    = batchRow[ProfileBatchRequest](opProfile, "Read several accounts")
	opAudienceBatch   = batchRow[AudienceBatchRequest](opAudience, "Say where the followers of several accounts live")
	opLiveBatch       = batchRow[LiveBatchRequest](opLive, "Read several accounts' broadcasts, on air or not")
	opPostBatch       = batchRow[PostBatchRequest](opPost, "Read several posts")
	opTranscriptBatch = batchRow[TranscriptBatchRequest](opTranscript, "Read what is said in several posts")
	opCollectionBatch = batchRow[CollectionBatchRequest](opCollection, "Read several collections")
	opTrackBatch      = batchRow[TrackBatchRequest](opTrack, "Read several tracks or sounds")
	opCommunityBatch  = batchRow[CommunityBatchRequest](opCommunity, "Read several communities, as profiles")
	opProductBatch    = batchRow[ProductBatchRequest](opProduct, "Read several products")
	opStoreBatch      = batchRow[StoreBatchRequest](opStore, "Read several stores")
	opAdBatch         = batchRow[AdBatchRequest](opAd, "Read several ads")
	opEventBatch      = batchRow[EventBatchRequest](opEvent, "Read several public events")
)

// batchRow returns the row of the batch operation for one.
func batchRow[Many, Req, T any](one *row[Req, T], summary string) *row[Many, []schema.BatchItem[T]] {
	o := &operation.Operation{
		Name: one.Name + "/batch", Of: one.Name, Path: one.Path + "/batch", Tag: one.Tag, Also: one.Also, Summary: summary,
		Platforms: one.Platforms, TTL: one.TTL, Price: operation.EachKey, Errors: readErrors,
		Data: reflect.TypeFor[[]schema.BatchItem[T]](),
	}
	o.Takes(reflect.TypeFor[Many]())
	return &row[Many, []schema.BatchItem[T]]{read.Row{Op: one.Op, Of: &one.Row, Operation: o}}
}

// ProfileBatch reads several accounts with one call.
func (c *Client) ProfileBatch(
	ctx context.Context, req ProfileBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Profile]], error) {
	return opProfileBatch.do(ctx, c, req.Platform, req)
}

// AudienceBatch returns where the followers of several accounts live, with one call.
func (c *Client) AudienceBatch(
	ctx context.Context, req AudienceBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Audience]], error) {
	return opAudienceBatch.do(ctx, c, req.Platform, req)
}

// LiveBatch reads several accounts' broadcasts, on air or not, with one call.
func (c *Client) LiveBatch(
	ctx context.Context, req LiveBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.LiveStream]], error) {
	return opLiveBatch.do(ctx, c, req.Platform, req)
}

// PostBatch reads several posts with one call.
func (c *Client) PostBatch(
	ctx context.Context, req PostBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Post]], error) {
	return opPostBatch.do(ctx, c, req.Platform, req)
}

// TranscriptBatch reads what is said in several posts with one call.
func (c *Client) TranscriptBatch(
	ctx context.Context, req TranscriptBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Transcript]], error) {
	return opTranscriptBatch.do(ctx, c, req.Platform, req)
}

// CollectionBatch reads several collections with one call.
func (c *Client) CollectionBatch(
	ctx context.Context, req CollectionBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Collection]], error) {
	return opCollectionBatch.do(ctx, c, req.Platform, req)
}

// TrackBatch reads several tracks or sounds with one call.
func (c *Client) TrackBatch(
	ctx context.Context, req TrackBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Track]], error) {
	return opTrackBatch.do(ctx, c, req.Platform, req)
}

// CommunityBatch reads several communities with one call.
func (c *Client) CommunityBatch(
	ctx context.Context, req CommunityBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Profile]], error) {
	return opCommunityBatch.do(ctx, c, req.Platform, req)
}

// ProductBatch reads several products with one call.
func (c *Client) ProductBatch(
	ctx context.Context, req ProductBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Product]], error) {
	return opProductBatch.do(ctx, c, req.Platform, req)
}

// StoreBatch reads several stores with one call.
func (c *Client) StoreBatch(
	ctx context.Context, req StoreBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.StoreSummary]], error) {
	return opStoreBatch.do(ctx, c, req.Platform, req)
}

// AdBatch reads several ads with one call.
func (c *Client) AdBatch(
	ctx context.Context, req AdBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Ad]], error) {
	return opAdBatch.do(ctx, c, req.Platform, req)
}

// EventBatch reads several events with one call.
func (c *Client) EventBatch(
	ctx context.Context, req EventBatchRequest,
) (*schema.Envelope[[]schema.BatchItem[schema.Event]], error) {
	return opEventBatch.do(ctx, c, req.Platform, req)
}
