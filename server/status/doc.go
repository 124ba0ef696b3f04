// Package status makes the report of the status page: how each platform has answered in the last 90 days, and when many
// calls have failed. It is made of the usage that belongs to no account, and has shares of calls but never their number.
package status
