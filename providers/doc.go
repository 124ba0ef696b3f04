// Package providers is the contract between the engine and the upstreams that it reads.
//
// A [Provider] is a table of functions: one value is one upstream serving one platform, and a nil function means that
// it does not serve that operation. A [Chain] is the upstreams of one package, in the order in which they are tried. A
// provider fetches, decodes into its own wire structs and converts to the types of schema. It sets the ID, URL and Raw
// of each object; the engine sets the other shared fields ([Provider.Stamp]), leaves out objects that violate the
// schema, and turns errors into problems. A provider returns errors about upstreams ([ErrNotFound], [ErrUnavailable]
// …); problems, prices and caches are not its concern.
//
// # Writing a provider
//
// The package github is the model; hackernews is an example of an upstream that only serves single items. Each package
// has the same files, and each file reads from top to bottom as fetch, wire struct, convert:
//
//	name.go       the package's documentation, Config, New, the table, the client; name is that of the folder
//	own.go        the upstream that reads public pages, if the package also has an official one
//	normalize.go  normalize: from what people paste to the canonical identifier
//	errors.go     check: the meaning of the upstream's refusals, if it is longer than a few lines
//	profile.go    one file for each resource: profile.go, post.go, comment.go, search.go …
//	name_test.go  the suite, and tests of special cases; testdata has the answers and goldens
//
// A function that converts the upstream's format for another package (ParsePost) is beside its wire struct. What would
// be a file of less than 40 lines is in the one that uses it.
//
// Config has strings, numbers, flags and *http.Client, one BaseURL for each host ("" is the default, by cmp.Or), and
// Own if public pages are read. Its fields are settings: ClientID of kick is client_id in Missing.
//
//	func New(cfg Config) providers.Chain {
//		return providers.Chain{newOfficial(cfg), newOwn(cfg).IfOwn(cfg.Own, true)}
//	}
//
// A provider without its credentials stays in the chain, so that it can report what is missing: [Provider.Without],
// [Provider.Requiring], [Provider.WithoutOps], and [Provider.IfOwn] for the setting own, which is on by default unless
// the site answers anonymous readers with a bot check. Notes describes what a user should know about an operation, or
// why the upstream does not offer it. Routes is the allow-list of raw reads, with the query parameters that each route
// accepts. Credentials lists the query parameters in which the upstream accepts credentials. Owner describes what the
// upstream only shows to the owner of a credential. Finally, the package needs a field and a line in providers/all.
//
// # Reading
//
// Every request goes through a client of providers/kit/upstream, whose Config has the base URL, the headers, the limits
// of the upstream (Quota, Limits), Check, Absent, and the same Credentials, which it blanks in answers. Absent recognizes
// the upstream's own 404: any other one is [ErrUnavailable], whatever Check makes of it. The client retries,
// limits the size of bodies and its waits, and never follows a redirect to another host.
//
//	var u wire.Object[user]
//	_, err := c.http.Read(ctx, upstream.Get("users", handle), &u)
//
// Read decodes by the rules of providers/kit/wire: a field of the wrong type is left empty, a row that cannot be
// decoded is left out, an answer of the wrong kind is [ErrUnavailable], and each of these is reported to the [Trace] of
// ctx. A parameter with the caller's words is set with Request.Says (or Input): then 400 and 422 are [ErrInvalid], with
// the reason that check returns. Requests for tokens set Token. JSON, which is strict, is for tokens only.
//
// A wire struct uses the upstream's own names, one comment with the URL of its documentation, and these types:
//
//	string       text; "" if it is absent, null or not a string: see text.NonEmpty
//	wire.ID      an id, written as a number or a string; "" if it is missing, 0 or negative
//	wire.Serial  an id that is a positive whole number on this platform
//	wire.Count   a count: 12, 12.0 and "12"; nil if unknown or negative
//	wire.Score   the same on a platform with negative scores, which become 0
//	wire.Float   a number with a fraction
//	wire.Bool    a flag that may be unknown: Is, Not, V; a plain bool is for verified and is_ad
//	wire.Time    a date, or seconds or milliseconds since 1970, in any of the usual forms
//	wire.Rows    the list that makes a page, or a tree; plain slices are for texts and pictures
//	wire.Numbers a list of ids that are numbers
//	wire.Token   the token of the next page; absent, null and "" end the list, and any other type is an error
//	wire.Object  one object with its raw, outside a list; of a pointer if null is a valid answer
//
// There is no *int64, *bool, *string or time.Time in a wire struct, for the reasons in package wire. A pointer to a
// struct is for what may validly be null, such as the account of a deleted user.
//
// # Many keys at once
//
// If the upstream accepts several identifiers in one request, Batches has a field with the name of the function that
// reads one, with their maximum number:
//
//	p.Batches.Profile = providers.Batch[schema.Profile]{Most: 100, Read: c.profiles}
//
// The engine splits long lists, joins the reads of different callers, and calls the function of one key for what a
// batch leaves open. Read groups the rows with wire.ByKey: if a row cannot be assigned to a key, every key without a
// row is left open. It ends with [PerKey], which returns the result of each key. A row is converted as in the function
// of one key. Only keys of a form that the upstream accepts are requested ([Together]): it refuses the whole request
// for any other, and the keys may be those of different callers.
//
// # Checking answers
//
//   - A list must be present. wire.Items converts a page: it fails with the name of the list if the list is missing, or
//     if there are rows and none of them can be understood. Rows.Optional is for lists that the upstream omits when
//     they are empty.
//   - convert returns false for a row that was understood and does not belong: an advertisement, another kind, a
//     private thing. A row that cannot be understood is converted to an object without an id, or to the zero object:
//     the engine leaves it out and counts it.
//   - Required parts of an answer or a page are checked with wire.Need and wire.Marker, which name the missing part.
//     HTML pages are parsed with providers/kit/dom, and each required element is checked by its name. The raw of what
//     a page shows is what was read of it: a struct of texts, encoded by schema.Marshal.
//   - The answer must be about the requested thing: wire.Same, or wire.SameFold if the platform ignores case, unless
//     the answer states that the thing has moved (Response.Moved).
//   - A page keeps its Next while the upstream states that there is more, even if the page is empty.
//   - A missing id, number or flag is never invented: "" and nil, not "0" and 0. The page of an object is text.URLOr.
//
// # Errors
//
// Return errors without a prefix: the engine adds the provider and the operation once, in an [UpstreamError]. Never put
// anything from the request into an error, except into its detail, which is shown to the caller and never logged. The
// log contains the [Loggable] text, so a cause that an operator should read is a [Cause]. The common rules are in the
// upstream client; Check handles the special cases and otherwise returns nil. [BlameOf] determines what counts towards
// the circuit breaker.
//
//	NotFound     it does not exist, or its owner has disabled it: final, and a healthy answer
//	NotHere      this source does not see such things; the next one is tried
//	Invalid      the caller's words cannot be used; the upstream's reason is the detail
//	Unsupported  not for this input or our kind of access; another source may serve it
//	ErrCursor    the upstream no longer knows the cursor, or it is not a cursor
//	Limited      the upstream is rate limiting us, for the given time; always counts
//	Walled       a login page or a captcha in place of one subject; never counts
//	Unreadable   an answer of the wrong kind; counts once for each subject
//	Unavailable  every other failure, with a detail for the caller; counts once for each subject
//
// # The suite
//
// The test of a package runs providertest.Run for each of its upstreams (Suite.Upstream). The exchanges are in
// testdata/MANIFEST.json, written by us in the upstream's format with invented people; among them are the request for a
// token, and for an operation with a batch one request for all of its keys together. go test -update writes the goldens,
// and the diff is reviewed like code. A request without an exchange is answered with 501, and go test -v shows it. The
// suite checks
//
//   - Calls: their golden answers, and that each object conforms to the schema and has its raw,
//   - Fails and Inputs: errors by their kind, and the normalized form of what people paste,
//   - Batches: all keys of the calls, and of the fails that are not found, read together: the same objects byte for
//     byte, and the same messages for missing things, also with the rows reordered, repeated, or malformed; Lone lists
//     the keys that are excluded
//   - hostile upstreams, a canceled context, and the table of the provider,
//   - with Drift: every field of every answer removed, nulled, renamed, negative and of another type, another id in
//     place of the requested one, and the files of the package. Drift lists the changes that are valid answers of the
//     upstream: absent paging tokens and flags, scores that may be negative, sums that the platform shows in part.
//
// SIZE=full go test ./providers/... -run /drift -v makes every change and logs their number.
package providers
