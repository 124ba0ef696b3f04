// Package cli is the command line of a server program: it serves the API, stores everything in one SQLite file or in
// PostgreSQL, and has the commands to manage it. A program passes its providers in:
//
//	func main() {
//		cli.Main(cli.Config{Providers: func(env cli.Environment) ([]providers.Chain, error) {
//			cfg, err := all.FromEnv(env.Lookup)
//			cfg.HTTP = env.HTTP
//			return append(all.New(cfg), mine.New(mine.Config{HTTP: env.HTTP})), err
//		}})
//	}
//
// The program in examples/standalone is the one that is shipped.
//
// # What commands print
//
// Text for people, or with --output (-o) one of
//
//	json   {"data": …}, and "meta" beside it from open, get and search
//	jsonl  a line of JSON for each item
//	csv    a line for each item under a line of names; an object within an item has columns such as author_handle, a
//	       number of engagement has its own name, such as likes, and a list is JSON
//
// The columns depend only on the operation, and are the fields of the API description, in its order. A text that a
// spreadsheet would interpret as a formula gets a leading apostrophe. The data of open, get, search and export is that
// of the API, that of sql has the columns of its query. That of the other commands is
//
//	resolve                        a list of platform, operation, params, path, url, available, reason
//	account create, set, grant, refund, close
//	                               id, name, balance, monthly, created_at, closed_at
//	account list                   a list of these
//	account show                   the same with keys, a list of what key list prints, which --server does not have;
//	                               without a name, with --server, the data of GET /v1/me
//	key create, set, rotate, revoke id, name, prefix, account, environment, created_at, last_used_at, revoked_at, day_cap,
//	                               total_cap, rate_capacity, rate_refill, manage, secret (of a new key or secret alone)
//	                               (account is empty with --server)
//	key list                       a list of these
//	usage                          a list of seq, time, kind, amount, balance, operation, platform, cache, request_id,
//	                               key, reason
//	usage --by                     a list of group, calls, paid, free, failed, hits, credits, refunded, dropped, p50_ms,
//	                               p95_ms, errors (calls by code)
//	logs                           a list of time, request_id, account, key, source, operation, platform, status, code,
//	                               detail, upstream_status, cache, held, credits, took_ms, providers
//	platforms                      a list of platform, operation, available, providers, missing, note
//	platforms --raw                a list of platform, route, available, missing
//	quotas                         a list of platform, provider, name, limit, used, left, resets, shared
//	erase                          no, at, by, kind, platform, subject, block, reason, attempts, removed, mentions (absent
//	                               for none), before, hash
//	erasures list                  a list of these
//	conversation                   a list of depth, parent_id, data (a comment of the API), problem
//	changes, watch                 a list of what GET /v1/changes lists; from watch only with jsonl
//	endpoints                      the data of GET /v1/endpoints, GET /v1/deliveries and what is below /manage/endpoints
//	audit                          in_order, accounts, keys, entries, credits, problems, losses, changed_keys
//	                               (losses: a list of accepted, at, had_entries, had_credits, entries, credits)
//	doctor                         a list of ok, warning, check, says
//	version                        version, commit, go, os, arch
//
// The exit status is 0, 1 when the command failed or found something wrong, 2 when its arguments are invalid, and 130 when
// SIGINT or SIGTERM ended it before it was done. Commands that run until then, such as serve, end with 0.
package cli
