package schema

import (
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// BatchItem is the result for one key of a batch: an object, or the problem that a read of the key alone would return.
type BatchItem[T any] struct {
	Key      string         `json:"key" min:"1"`        // the key as the caller wrote it, without invisible characters
	Data     *T             `json:"data"`               // the object; null if there is a problem
	Problem  *problem.Error `json:"problem"`            // why there is no object; null if there is one
	Cache    CacheState     `json:"cache"`              // whether this result, which may be a cached absence, came from the cache
	DataAgeS int64          `json:"data_age_s" min:"0"` // seconds since it was fetched; 0 on a MISS
	Call     *BatchCall     `json:"call,omitempty"`     // of a batch of addresses, the call that reads this one, if it names one; otherwise absent
}

// BatchCall is the call that reads one address.
type BatchCall struct {
	Platform   platform.ID `json:"platform"`              // the platform of the address
	Operation  string      `json:"operation"`             // the operation that reads it, such as "profile"
	Path       string      `json:"path"`                  // the path and query of the call
	NextCursor string      `json:"next_cursor,omitempty"` // of a list, where its next page begins; absent at its end
}
