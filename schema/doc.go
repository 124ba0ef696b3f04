// Package schema is the universal shape of what socialdata answers: profiles, posts, comments and the other
// resources of the specification, and the [Envelope] around them.
//
// Every type marshals exactly as the specification says: a key that is required but unknown is null, an array is
// never null, and raw and enrichment are absent until they are asked for. Use [Marshal], which leaves <, > and &
// as they are. Nil means that the platform does not tell, or hides it; it is never 0 or "".
//
// Validate reports the first way in which an object breaks the specification. There is no other behaviour here.
package schema
