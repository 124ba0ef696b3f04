// Package describe generates the description of the HTTP API from the rows of the operation table and from the doc
// comments of package schema: the OpenAPI document, a JSON Schema of each resource, and the texts about each operation
// for the documentation. [New] returns a [Description]; package server serves it.
//
// [DataSchema] and [ParamSchema] return the same schemas without references, for front ends other than HTTP.
package describe
