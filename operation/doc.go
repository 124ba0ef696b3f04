// Package operation holds the rows of the operation table as data, and what passes through them.
//
// An [Operation] says all that there is to say about one operation: its name and route, its parameters, what it costs,
// how long its answers are good and what it may fail with. Skins are made from rows: the HTTP routes, the API
// description, the methods of the Go client. [Bind] checks the text that a skin was given; a [Call] goes in and an
// [Answer] comes out.
//
// The rows themselves stand in the table of the package socialdata. How an operation is carried out is the engine's
// business and not here.
package operation
