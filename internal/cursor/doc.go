// Package cursor keeps the position of a walk: what a cursor holds, how it is sealed into opaque text, and which
// objects have been seen along the way. It knows nothing of providers: an upstream's token is kept unread.
package cursor
