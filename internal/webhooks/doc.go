// Package webhooks sends the changes of accounts to the endpoints that they have named, as Standard Webhooks 1.0.0 says:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md.
//
// A [Sender] takes the deliveries that are due from a [watch.Outbox]. Any number of them, in any number of processes, may
// share one. It may be killed anywhere: what it has not noted is sent again, with the same webhook-id.
package webhooks
