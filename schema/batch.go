package schema

import "github.com/socialdata/socialdata/problem"

// BatchItem is what one key of a batch is answered with: an object, or the problem that a read of the key alone would have.
type BatchItem[T any] struct {
	Key      string         `json:"key" min:"1"`        // the key as the caller wrote it, without invisible characters
	Data     *T             `json:"data"`               // the object; null where there is a problem
	Problem  *problem.Error `json:"problem"`            // why there is no object; null where there is one
	Cache    CacheState     `json:"cache"`              // whether this one came from the cache; a remembered absence did
	DataAgeS int64          `json:"data_age_s" min:"0"` // seconds since it was fetched; 0 on a MISS
}
