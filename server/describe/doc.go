// Package describe makes the description of the HTTP API from the rows of the operation table and from what the package
// schema says about its types: the OpenAPI document, a JSON Schema of each resource, and the texts about each operation
// for the documentation. [New] returns a [Description]; the package server serves it.
//
// [DataSchema] and [ParamSchema] return the same schemas without references, for front ends other than HTTP.
package describe
