package accounts

import (
	"reflect"

	"github.com/socialdata/socialdata/internal/typed"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// The operations about an account, which package socialdata has in its table.
var (
	opMe = typed.Service[MeRequest, schema.Me](operation.Operation{
		Name: "me", Path: "/v1/me", Tag: "account", Price: operation.Free,
		Errors:  []problem.Code{problem.Unauthorized, problem.RateLimited}, // the specification has no other (D62)
		Summary: "Read the calling key, the balance and the rate limit",
	})
	opUsage = typed.Service[UsageByRequest, []schema.Usage](operation.Operation{
		Name: "usage", Path: "/v1/usage", Tag: "account", Price: operation.Free,
		Summary: "List the account's charges, newest first, or add its usage up", Or: reflect.TypeFor[[]schema.Rollup](),
		Errors: typed.ListErrors,
	})
	opRequests = typed.Service[RequestsRequest, []schema.Request](operation.Operation{
		Name: "requests", Path: "/v1/requests", Tag: "account", Price: operation.Free,
		Summary: "List the account's latest calls, newest first",
		Errors:  typed.ListErrors,
	})
	opKeys = typed.Service[KeysRequest, []schema.Key](operation.Operation{
		Name: "keys", Path: "/v1/keys", Tag: "account", Price: operation.Free,
		Summary: "List the account's keys, oldest first", Errors: typed.ListErrors,
	})
	opMonitors = typed.Service[MonitorsRequest, []schema.Monitor](operation.Operation{
		Name: "monitors", Path: "/v1/monitors", Tag: "monitors", Price: operation.Free,
		Summary: "List the account's monitors", Errors: typed.ListErrors,
	})
	opChanges = selecting(typed.Service[ChangesRequest, []schema.Change](operation.Operation{
		Name: "changes", Path: "/v1/changes", Tag: "monitors", Price: operation.Free, Streams: true,
		Summary: "List what monitors have found, oldest first", Errors: typed.FreeErrors,
	}))
	opHistory = typed.Service[HistoryRequest, []schema.HistoryPoint](operation.Operation{
		Name: "history", Path: "/v1/history", Tag: "monitors", Price: operation.Free,
		Summary: "List the numbers that a monitor has read, oldest first", Errors: typed.FreeErrors,
	})
	opEndpoints = typed.Service[EndpointsRequest, []schema.Endpoint](operation.Operation{
		Name: "endpoints", Path: "/v1/endpoints", Tag: "monitors", Price: operation.Free,
		Summary: "List the account's webhook endpoints", Errors: typed.ListErrors,
	})
	opDeliveries = typed.Service[DeliveriesRequest, []schema.Delivery](operation.Operation{
		Name: "deliveries", Path: "/v1/deliveries", Tag: "monitors", Price: operation.Free,
		Summary: "List the deliveries to webhook endpoints, latest first", Errors: typed.FreeErrors,
	})
	opBulk = typed.Service[BulkJobsRequest, []schema.BulkJob](operation.Operation{
		Name: "bulk", Path: "/v1/bulk", Tag: "bulk", Price: operation.Free, Or: reflect.TypeFor[schema.BulkJob](),
		Summary: "List the account's bulk jobs, or read one", Errors: typed.FreeErrors,
	})
	opBulkResults = typed.Service[BulkResultsRequest, []schema.BulkResult](operation.Operation{
		Name: "bulk_results", Path: "/v1/bulkresults", Tag: "bulk", Price: operation.Free, Lines: true,
		Summary: "List the results of a bulk job, by line", Errors: typed.FreeErrors,
	})
)

// Operations returns a copy of the rows of a group, "account", "monitors" or "bulk", which the caller owns.
func Operations(group string) []*operation.Operation {
	var out []*operation.Operation
	for _, o := range []*operation.Operation{
		opMe.Operation, opUsage.Operation, opRequests.Operation, opKeys.Operation, opMonitors.Operation, opChanges.Operation,
		opHistory.Operation, opEndpoints.Operation, opDeliveries.Operation, opBulk.Operation, opBulkResults.Operation,
	} {
		if o.Tag == group {
			out = append(out, o.Clone())
		}
	}
	return out
}

// selecting lets callers choose what they see of the answers of o.
func selecting[T any](o typed.Operation[T]) typed.Operation[T] {
	o.Selects()
	return o
}
