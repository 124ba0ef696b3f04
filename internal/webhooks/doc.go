// Package webhooks sends the changes of accounts to their endpoints, as specified by Standard Webhooks 1.0.0:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md.
//
// A [Sender] claims the deliveries that are due from a [watch.Outbox]. Several senders, also in several processes, can
// share one. A sender may be killed at any time: a delivery whose result was not recorded is sent again, with the same
// webhook-id.
package webhooks
