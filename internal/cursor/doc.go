// Package cursor keeps the place of a walk: what a cursor holds, how it is sealed into opaque text, and what has been
// seen along the way. It knows nothing of providers: a token is what the upstream gave, unread.
package cursor
