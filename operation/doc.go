// Package operation holds the rows of the operation table as data, and the calls and answers of operations.
//
// An [Operation] is the complete description of one operation: its name and route, its parameters, its price, the
// lifetime of its answers and its possible errors. The HTTP routes, the API description and the methods of the Go
// client are generated from it. [Bind] checks the parameters that a front end received; a [Call] goes in and an
// [Answer] comes out.
//
// The rows themselves are in the table of package socialdata. The engine carries operations out, not this package.
package operation
