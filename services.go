package socialdata

import (
	"context"
	"reflect"
	"time"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Requests of the service's own operations.
type (
	// MeRequest asks for the calling key, the balance and the rate limit.
	MeRequest struct{}

	// UsageRequest asks for a page of the account's books, newest first.
	UsageRequest struct {
		RequestID string      `param:"request_id" doc:"Only the entries of this call."`
		Since     time.Time   `param:"since" doc:"Only entries from this time or later: RFC 3339, or a date."`
		Until     time.Time   `param:"until" doc:"Only entries from before this time: RFC 3339, or a date."`
		Platform  platform.ID `param:"platform" doc:"Only entries of this platform."`
		Cursor    string      `param:"cursor" doc:"The next_cursor of the page before."`
	}

	// PlatformsRequest asks what the service can read.
	PlatformsRequest struct{}

	// EnrichRequest asks what a text says.
	EnrichRequest struct {
		Text string `param:"text,required" doc:"The text, 1 to 4,000 characters."`
	}

	// SearchAllRequest asks several platforms at once for objects that match a text.
	SearchAllRequest struct {
		Query     string            `param:"query,required" doc:"The text to search for, 1 to 512 characters; a hashtag with its #."`
		Platforms []platform.ID     `param:"platforms" doc:"The platforms to ask, parted by commas; all that can search without it."`
		Kind      schema.ResultKind `param:"kind" enum:"profile post comment product review track collection web" doc:"Only results of this kind."`
		Sort      string            `param:"sort" enum:"relevance recent" doc:"The order of the merged results; relevance without it."`
		Since     time.Time         `param:"since" doc:"Only what is from this time or later: RFC 3339, or a date."`
		Until     time.Time         `param:"until" doc:"Only what is from before this time: RFC 3339, or a date."`
		Lang      string            `param:"lang" form:"lang" doc:"BCP 47 code, for the platforms that can tell languages apart."`
		WaitS     int               `param:"wait_s" min:"1" max:"25" doc:"How long to wait for slow platforms, in seconds; 8 without it. What is late becomes a job."`
		Cursor    string            `param:"cursor" doc:"The next_cursor of the page before."`
		EnrichOptions
	}

	// JobRequest asks for the rest of a search.
	JobRequest struct {
		ID    string `param:"id,required" doc:"The job_id of the search."`
		WaitS int    `param:"wait_s" min:"0" max:"25" doc:"How long to wait for more, in seconds; 0 without it."`
	}

	// RawRequest asks a provider for one of its own routes, unchanged.
	RawRequest struct {
		Provider string // such as "github"
		Path     string // such as "users/octocat"
		Query    map[string][]string
		Fresh    bool `param:"fresh" doc:"Skips the cache; costs twice the base. Every other parameter is forwarded."`
	}
)

var (
	opMe = service[MeRequest, schema.Me](Operation{
		Name: "me", Path: "/v1/me", Tag: "account", Free: true, Errors: accountErrors,
		Summary: "Read the calling key, the balance and the rate limit",
	})
	opUsage = service[UsageRequest, []schema.Usage](Operation{
		Name: "usage", Path: "/v1/usage", Tag: "account", Free: true,
		Summary: "List the account's charges, newest first", Errors: append([]problem.Code{problem.InvalidRequest}, accountErrors...),
	})
	opPlatforms = service[PlatformsRequest, []schema.PlatformInfo](Operation{
		Name: "platforms", Path: "/v1/platforms", Tag: "account", Free: true, NoKey: true,
		Summary: "List the platforms and what can be read from each",
	})
	opEnrich = service[EnrichRequest, schema.Enrichment](Operation{
		Name: "enrich", Path: "/v1/enrich", Tag: "enrich", TTL: profileTTL, entry: (*engine).enrichEntry,
		Summary: "Say which Arabic a text is, how it feels, what it names and what it is about",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.RateLimited, problem.InternalError,
			problem.PlatformUnavailable,
		},
	})
	opSearchAll = service[SearchAllRequest, []schema.SearchResult](Operation{
		Name: "search_all", Path: "/v1/search", Tag: "search", TTL: searchTTL, Summary: "Search several platforms at once",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.InsufficientCredits, problem.RateLimited, problem.InternalError,
			problem.PlatformUnavailable, problem.UpstreamTimeout,
		},
	})
	opJob = service[JobRequest, []schema.SearchResult](Operation{
		Name: "job", Path: "/v1/job", Tag: "search", Free: true, Summary: "Collect the rest of a search",
		Errors: []problem.Code{
			problem.InvalidRequest, problem.Unauthorized, problem.NotFound, problem.RateLimited, problem.InternalError,
		},
	})
	opRaw = service[RawRequest, any](Operation{
		Name: "raw", Path: "/v1/raw/{provider}/{path...}", Tag: "raw", TTL: searchTTL, Errors: readErrors,
		Summary: "Read one of a provider's own routes, unchanged", plan: (*Client).planRaw, entry: (*engine).walk, fetch: fetchRaw,
	})
	opHealth = service[struct{}, schema.Health](Operation{
		Name: "health", Path: "/health", Tag: "service", Free: true, NoKey: true, Bare: true, Summary: "Read the state of every platform",
	})
)

// service completes the row of an operation of our own.
func service[Req, T any](o Operation) *typed[Req, T] {
	o.Params, o.data = paramsOf(reflect.TypeFor[Req]()), reflect.TypeFor[T]()
	o.List = o.data.Kind() == reflect.Slice
	return &typed[Req, T]{o}
}

// own is how an operation of our own answers.
type own func(c *Client, ctx context.Context, o *Operation, call Call, in args) (*Answer, error)

// ownOf returns how the operation of that name answers, or nil when it is a read through a provider. It is a function
// because a table of these would refer to itself.
func ownOf(name string) own {
	switch name {
	case "me":
		return (*Client).me
	case "usage":
		return (*Client).usage
	case "platforms":
		return (*Client).platforms
	case "enrich":
		return (*Client).enrichCall
	case "search_all":
		return (*Client).searchAll
	case "job":
		return (*Client).job
	case "health":
		return (*Client).healthCall
	}
	return nil
}

// table is every operation, in the order of the description. Nobody writes to it.
var table = append(append([]*Operation{&opMe.Operation, &opUsage.Operation, &opPlatforms.Operation}, reads...),
	&opSearchAll.Operation, &opJob.Operation, &opEnrich.Operation, &opRaw.Operation, &opHealth.Operation)

// Operations returns the operation table. The caller owns the slice; the rows are shared and read only.
func Operations() []*Operation { return append([]*Operation(nil), table...) }
