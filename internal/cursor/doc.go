// Package cursor keeps the position of a walk: what a cursor holds, how it is sealed into opaque text, and which
// objects have been seen along the way. It does not interpret the tokens of upstreams.
package cursor
