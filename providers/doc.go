// Package providers is the contract between the engine and the upstreams that it reads.
//
// A [Provider] is a table of functions: one value is one upstream serving one platform, and a nil function means that
// it does not serve that operation. A [Chain] is the upstreams of one package, in the order in which they are tried. A
// provider fetches, decodes into wire structs of its own and converts to the types of schema; it sets the ID, URL and Raw of
// each object, and the engine stamps the rest ([Provider.Stamp]), leaves out what breaks the schema, and turns errors into
// problems. A provider speaks of upstreams ([ErrNotFound], [ErrUnavailable] …) and knows nothing of problems, prices or
// caches.
//
// # Writing a provider
//
// The package github is the model; hackernews shows an upstream that knows single items only. Each package has the same
// files, and each file reads from top to bottom as fetch, wire struct, convert:
//
//	name.go       the package's documentation, Config, New, the table, how the client is made
//	own.go        the upstream that reads public pages, where the package has an official one beside it
//	normalize.go  normalize: what people paste, reduced to the canonical identifier
//	errors.go     check: what the upstream's refusals mean
//	profile.go    one file for each resource: profile.go, post.go, comment.go, search.go …
//	name_test.go  the suite, and what is special here; testdata has its answers and goldens
//
// Config holds strings, numbers, flags and *http.Client, one BaseURL for each host ("" is the real one, by cmp.Or), and Own
// where public pages are read. Its fields are settings: ClientID of kick is client_id in Missing.
//
//	func New(cfg Config) providers.Chain {
//		return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
//	}
//
// A provider without its credentials stays in the chain, so that it can say what is missing: [Provider.Without],
// [Provider.Requiring], [Provider.WithoutOps], and [Provider.IfOwn] for the setting own, which is on by default unless the
// site answers anonymous readers with a bot check. Notes says of an operation what a user should know, or why the upstream
// does not offer it. Routes is the allow-list of what is forwarded unchanged, and Credentials names the query parameters by
// which the upstream takes credentials. A route lists the query parameters that it takes. Owner is what the upstream
// shows to the owner of a credential alone. Then the package is a field and a line of providers/all.
//
// # Reading
//
// Every request goes through a client of providers/kit/upstream, whose Config has the base URL, the headers, the limits
// of the upstream (Quota, Limits), Check, and the same Credentials, which it blanks in answers. It retries, bounds bodies and
// waits, and never follows a redirect to another host.
//
//	var u wire.Object[user]
//	_, err := c.http.Read(ctx, upstream.Get("users", handle), &u)
//
// Read decodes by the rules of providers/kit/wire: a field of the wrong type is left empty, a row that cannot be decoded
// is left out, an answer that is not of its kind is [ErrUnavailable], and each is told to the [Trace] of ctx. A parameter that
// holds the caller's words is set with Request.Says (or Input): then 400 and 422 are [ErrInvalid], with the reason that
// check gives. The answer to a request for a token is read with Token set. JSON, which is strict, is for tokens only.
//
// A wire struct uses the upstream's own words, one comment with the URL of its documentation, and these types:
//
//	string       text; "" is what is absent, null or no string: see text.NonEmpty
//	wire.ID      an id, written as a number or a string; "" for none, 0 and negative ones
//	wire.Serial  an id that is a positive whole number on this platform
//	wire.Count   how many: 12, 12.0 and "12"; nil when unknown or negative
//	wire.Score   the same where the platform writes negative scores, which are 0
//	wire.Float   a number with a fraction
//	wire.Bool    a flag of which it matters whether it is unknown: Is, Not, V; a plain bool is for verified and is_ad
//	wire.Time    a date, or seconds or milliseconds since 1970, in any of the usual forms
//	wire.Rows    the list that makes a page, or a tree; plain slices are for words and pictures
//	wire.Numbers a list of ids that are numbers
//	wire.Token   what leads to the next page; absent, null and "" end the list, and what is no token is a failure
//	wire.Object  one object beside its raw, where it stands alone; of a pointer where null is the upstream's word
//
// There is no *int64, *bool, *string or time.Time in a wire struct, for the reasons that wire gives. A pointer to a struct is
// for what may honestly be null, such as the account of a deleted user.
//
// # Many keys at once
//
// Where the upstream takes several identifiers in one request, Batches says so beside the function that reads one, with how
// many it takes:
//
//	p.Batches.Profile = providers.Batch[schema.Profile]{Most: 100, Read: c.profiles}
//
// The engine cuts, joins the reads of different callers, and asks the function of one key for what a batch leaves open. Read
// sorts the rows with wire.ByKey, so that a row of which nothing can be told leaves open every key that has none, and ends in
// [PerKey], which asks of each key what came of it. What converts a row is what the function of one key converts with. Only keys
// of a form that the upstream takes are asked for ([Together]): one that it refuses would fail all, and the callers may differ.
//
// # What an answer is worth
//
//   - A list must be there. wire.Items converts a page: it fails when the list is not there (naming it), or when rows came and
//     none is left that could be understood. Rows.Optional is for lists that the upstream leaves out when they are empty.
//   - Convert returns false for a row that was understood and does not belong: an advertisement, another kind, a private
//     thing. A row that cannot be understood is converted to an object without an id, or to the zero object: the engine
//     leaves it out and counts it.
//   - What an answer or a page must have is asked for with wire.Need and wire.Marker, which name the missing part. Pages in
//     HTML are read with golang.org/x/net/html, and each part that they cannot do without is needed by its name.
//   - What comes back is what was asked: wire.Same, or wire.SameFold where the platform ignores case, unless the answer says
//     that the thing has moved (Response.Moved).
//   - A page keeps its Next while the upstream says that there is more, also when it is empty.
//   - A missing id, number or flag is never made up: "" and nil, not "0" and 0. The page of an object is text.URLOr.
//
// # Errors
//
// Return them bare: the engine adds the provider and the operation once, in an [UpstreamError]. Never put what was asked
// into one. Only the detail may name it: it is shown to the caller and never logged. The log shows what is [Loggable], so a
// cause that an operator should read is a [Cause]. The common rules are the upstream client's; Check says what is special,
// or returns nil. [BlameOf] tells the engine what counts towards the breaker.
//
//	NotFound     it does not exist, or its owner has switched it off: final, and a healthy answer
//	NotHere      this source does not see such things; the next one is asked
//	Invalid      the caller's words cannot be used; the upstream's reason is the detail
//	Unsupported  not for this input or our kind of access; another source may serve it
//	ErrCursor    the upstream no longer knows the cursor, or it is none
//	Limited      the upstream is rate limiting us, for so long; counts always
//	Walled       a page to log in, or a check, in the place of one subject; counts never
//	Unreadable   an answer that is not of its kind; counts once for each subject
//	Unavailable  every other failure, with a detail for the caller; counts once for each subject
//
// # The suite
//
// The test of a package runs providertest.Run for each of its upstreams (Suite.Upstream). Exchanges stand in
// testdata/MANIFEST.json, written by us in the upstream's shape with invented people; go test -update writes the goldens, and
// the difference is read like code. The suite checks
//
//   - Calls: their golden answers, that each object keeps to the schema and has its raw,
//   - Fails and Inputs: errors by their kind, and what people paste, reduced to a stable form,
//   - Batches: all keys of the calls, and of the fails that are not found, read together: the same objects byte for byte, the
//     same words for what is not there, also with the rows in another order, twice, or odd; Lone lists the keys left out of it
//   - hostile upstreams, a caller who has gone, and the table of the provider,
//   - with Drift: every field of every answer removed, nulled, renamed, negative and of another type, another id in the
//     place of the one asked for, and the files of the package. Drift lists what the dossier names as the upstream's own word:
//     absent paging tokens and flags, scores that may be negative, sums that the platform shows in part.
//
// DRIFT=full go test ./providers/... -run /drift -v makes every change and tells how many there were.
package providers
