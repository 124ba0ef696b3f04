// Package describe makes the description of the HTTP API from the rows of the operation table and from what the package
// schema says of its types: the OpenAPI document, a JSON Schema of each resource, and what the documentation for people
// says of each operation. It serves nothing: [New] returns a [Description], and the package server serves it.
//
// [DataSchema] and [ParamSchema] give the same schemas, complete in themselves, to front ends that are not HTTP.
package describe
