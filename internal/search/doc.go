// Package search searches several platforms at once and merges their results. It uses package read, and does not depend
// on HTTP.
//
// # The life of a search
//
// [Service.Plan] checks a request: which platforms, with which query for each, and, with a cursor, from which position.
// [Service.All] then begins the search (run.go): it holds the whole price, with one hold for each platform and one for
// the enrichment, and reads from all platforms concurrently (fetch.go). Each platform is a part of the search, and each
// part ends independently: it has found something, or has failed. A search belongs to one goroutine at a time, which
// hears of the end of its parts, and pays for them.
//
// Nothing is charged before there is an answer (answer.go). The first answer is made when no part is pending any more,
// or when the caller has waited long enough and something was found. Then the parts with results are paid (package
// calls), the results are merged (fuse.go), and a cursor for the next page is made (cursor.go). A search that ends with
// a problem releases all its holds, and so does one whose caller has hung up.
//
// What is still pending is then a job: the record of the call has all parts (record.go), and its id is in the answer. A
// part that ends later is stored, paid, and stored as paid. When the process dies, the charges in the record decide: see
// package calls. The caller polls with [Service.Job] (poll.go), in any process that shares the stores. Each answer is
// made from the record: all results so far, and all charges so far. The last one has the cursor.
//
// A search with an idempotency key has a record from the beginning, and its repetition is answered from it.
//
// [Service.Watch] (watch.go) yields parts as they end, pays for each just before, and leaves no record.
package search
