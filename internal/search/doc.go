// Package search asks several platforms at once and merges what they find. It is made of many reads, and knows nothing
// of HTTP.
//
// # The life of a search
//
// [Service.Plan] checks what is asked: which platforms, with which query each, and, behind a cursor, from where on.
// [Service.All] then begins the search (run.go): it holds the whole price, one hold for each platform and one for the
// enrichment, and reads from all platforms side by side. Each is a part of the search, and each part comes to its end
// by itself:
//
//	pending ──> found ──> paid    its results are there, then they are charged
//	    └──────────┴────> failed  the platform or the ledger failed, or it was too late
//
// Nothing is paid before there is an answer (answer.go). The first answer comes when no part is pending any more, or
// when the caller has waited long enough and something was found; what was found is charged (settle.go), its results
// are merged (fuse.go), and a cursor for the next page is made (cursor.go). A search that ends with a problem releases
// all its holds, and so does one whose caller has gone.
//
// What is still pending then is a job: its record (record.go) goes to the records store (store.go), and its id to the
// caller. A part that ends later is noted with its results and its hold, then charged, then noted as charged. Whoever
// finds such a note after a crash settles the noted hold: the ledger says whether it had been charged. The caller
// collects with [Service.Job] (poll.go), from any process that shares the stores. An answer to a poll is noted before
// it is given, and only over the version that it was made from: so every charge is told once.
//
// A search made under an idempotency key has an id that follows from the key, and is noted before it is charged. When
// its process dies, the next call under the key takes up the same job (adopt.go), and [Service.Replay] answers one that
// was answered before.
//
// The first page shows three results of an author at most. The others wait for the next page: its cursor refers to
// where they were read (held.go), and for an hour they are read from there again, from the cache as a rule, for
// nothing.
//
// [Service.Watch] (watch.go) hands parts over as they end, charges each just before, and leaves no record.
package search
