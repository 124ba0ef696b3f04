// Package schema is the universal shape of what socialdata answers: profiles, posts, comments and the other
// resources of the specification, and the [Envelope] around them.
//
// Every type marshals exactly as the specification says: a key that is required but unknown is null, an array is
// never null once it went through Fill, and raw and enrichment are absent until they are asked for. [Marshal] is the
// one encoder of answers: it leaves <, > and & as they are, and whatever goes out to a caller goes through it. Nil means
// that the platform does not tell, or hides it; it is never 0 or "".
//
// What may stand in a property, and what it means, is said once, by the tags and the comment beside its Go field, and
// read from there by Validate and by the API description: see [Field]. The comments reach the program through docs.go,
// which go test -update writes. Word lists are functions beside their types: see [Vocabularies].
//
// Validate reports the first way in which an object breaks the specification, as a [*FieldError]; what JSON cannot
// write breaks it too, so an object that passed can be encoded. There is no other behaviour here.
package schema
