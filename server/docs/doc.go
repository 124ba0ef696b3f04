// Package docs renders the documentation of a server for people: a reference of every operation, what this server can
// read from each platform, and which fields each platform fills.
//
// [New] renders the pages once. They can be read without a script and load nothing from other hosts; the script adds
// the search, the copy buttons and the calls that a reader can try. [Page.At] inserts the address under which a page is
// read, which is known only when a request comes.
//
// No operation is named here: the pages are made from the rows of the operation table, from the tags and comments of
// the package schema, and from fields.json, which go test -update writes from the golden files of the providers.
package docs
