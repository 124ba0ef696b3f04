// Package schema defines the types of socialdata's answers: profiles, posts, comments and the other resources of the
// specification, and the [Envelope] around them.
//
// Every type marshals exactly as specified: a required key with an unknown value is null, an array is never null after
// Fill, and raw and enrichment are absent unless requested. [Marshal] is the only encoder of answers: it leaves <, >
// and & unescaped, and everything sent to a caller goes through it. Nil means that the platform does not provide the
// value, or hides it; it is never 0 or "".
//
// The allowed values and the meaning of a property are defined once, by the tags and the comment of its Go field.
// Check and the API description read them from there: see [Field]. The comments reach the program through docs.go,
// which go test -update writes. Word lists are functions beside their types: see [Vocabularies].
//
// Check reports the first way in which an object violates the specification, as a [*FieldError]. That includes
// values that JSON cannot represent, so that a valid object can always be encoded. The types have no other behaviour.
package schema
