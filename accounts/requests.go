package accounts

import (
	"time"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
)

// UsageGroup is what [Account.UsageBy] groups usage by.
type UsageGroup string

// The groups of usage.
const (
	UsageByDay       UsageGroup = "day"
	UsageByKey       UsageGroup = "key"
	UsageByPlatform  UsageGroup = "platform"
	UsageByOperation UsageGroup = "operation"
)

// Each operation has a request type with its name. Fields that are zero are not sent.
type (
	// MeRequest asks for the calling key, the balance and the rate limit.
	MeRequest struct{}

	// UsageRequest asks for a page of the account's ledger entries, newest first.
	UsageRequest struct {
		RequestID      string      `param:"request_id" doc:"Only the entries of this call."`
		Since          time.Time   `param:"since" doc:"Only entries from this time or later: RFC 3339, or a date."`
		Until          time.Time   `param:"until" doc:"Only entries from before this time: RFC 3339, or a date."`
		Platform       platform.ID `param:"platform" doc:"Only entries of this platform."`
		operation.Page `without:"pages"`
	}

	// UsageByRequest asks for the account's usage, grouped by Group. RequestID and Cursor select entries, and must be
	// empty.
	UsageByRequest struct {
		UsageRequest
		Group UsageGroup `param:"group" enum:"day key platform operation" doc:"Add the usage up by this, instead of listing entries; since and until then count by UTC days."`
		KeyID string     `param:"key" doc:"With group: only usage of the key with this id."`
	}

	// RequestsRequest asks for a page of the account's last calls, newest first.
	RequestsRequest struct {
		RequestID      string      `param:"request_id" doc:"Only this call."`
		KeyID          string      `param:"key" doc:"Only calls of the key with this id."`
		Operation      string      `param:"operation" doc:"Only calls of this operation, such as posts."`
		Platform       platform.ID `param:"platform" doc:"Only calls of this platform."`
		Status         int         `param:"status" min:"100" max:"599" doc:"Only calls that were answered with this HTTP status."`
		operation.Page `without:"pages"`
	}

	// KeysRequest asks for a page of the account's keys, oldest first.
	KeysRequest struct {
		operation.Page `without:"pages"`
	}

	// MonitorsRequest asks for a page of the account's monitors, by name, or of the members of one that is a panel.
	MonitorsRequest struct {
		Name           string `param:"name" max:"64" doc:"Only the monitor of this name. Not with panel."`
		Panel          string `param:"panel" max:"64" doc:"The members of the panel of this name, each with its state."`
		operation.Page `without:"pages"`
	}

	// ChangesRequest asks for a page of what monitors have found, oldest first.
	ChangesRequest struct {
		Monitor        string        `param:"monitor" max:"64" doc:"Only of the monitor of this name."`
		Type           string        `param:"type" max:"64" doc:"Only of this type, such as new."`
		Since          time.Time     `param:"since" doc:"Only from this time or later: RFC 3339, or a date."`
		Wait           time.Duration `param:"wait_s,option" min:"0" max:"25" doc:"Seconds to wait for a change when there is none; then there is always a next_cursor."`
		operation.Page `without:"pages"`
	}

	// HistoryRequest asks for a page of the numbers that a monitor has read, oldest first.
	HistoryRequest struct {
		Monitor        string    `param:"monitor,required" max:"64" doc:"The name of the monitor."`
		Member         string    `param:"member" max:"2048" doc:"Of a panel: the member whose numbers they are."`
		Field          string    `param:"field,required" max:"128" doc:"The number, such as followers or engagement.likes."`
		Since          time.Time `param:"since" doc:"Only numbers from this time or later: RFC 3339, or a date."`
		Until          time.Time `param:"until" doc:"Only from before this time: RFC 3339, or a date."`
		Step           string    `param:"step" enum:"1h 1d 7d" doc:"Sums the numbers up over stretches of this length."`
		operation.Page `without:"pages"`
	}

	// BulkJobsRequest asks for a page of the account's bulk jobs, by name, or for one of them.
	BulkJobsRequest struct {
		Name           string `param:"id" max:"64" doc:"The name of one job, instead of the list."`
		operation.Page `without:"pages"`
	}

	// BulkResultsRequest asks for a page of the results of a bulk job, by line. They are there up to the first line that is
	// still open, so that no line is missed by a caller who goes on.
	BulkResultsRequest struct {
		Name           string `param:"id,required" max:"64" doc:"The name of the job."`
		After          int64  `param:"after" min:"0" doc:"Only results behind the line of this number."`
		operation.Page `without:"pages"`
	}

	// EndpointsRequest asks for a page of the account's endpoints, by name.
	EndpointsRequest struct {
		Name           string `param:"name" max:"64" doc:"Only the endpoint of this name."`
		operation.Page `without:"pages"`
	}

	// DeliveriesRequest asks for a page of the account's deliveries, those of the latest changes first.
	DeliveriesRequest struct {
		Endpoint       string `param:"endpoint" max:"64" doc:"Only to the endpoint of this name."`
		operation.Page `without:"pages"`
	}
)
