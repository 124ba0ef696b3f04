// Package docs is the documentation that a server shows to people: a reference of every operation, what this server can
// read from each platform, and which fields each platform fills.
//
// [New] renders the pages once. They need no script to be read and ask nothing of other hosts; the script adds the
// search, the copy buttons and the calls that a reader tries. What a page says of the address under which it is read is
// put in by [File.At], because only a request knows it.
//
// Nothing here knows an operation by its name: the pages are made from the rows of the operation table, from the tags
// and comments of the package schema, and from fields.json, which go test -update writes from the golden files of the
// providers.
package docs
