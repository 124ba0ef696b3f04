// Package mock is the sandbox platform: it serves every operation with invented people and objects, so that every
// branch of a client can be written and tested without a call to an upstream.
//
// Any ordinary handle, id or query works, and always has the same result: the data is generated from the parameters of
// the call alone. Objects in lists can be read alone, with the same data: the third comment on the seventh post of
// salma_haddad is salma_haddad-post-7-comment-3, is on the first page of that post's comments and has replies of its
// own, which have none. Lists have two or three pages of 20. Texts are in Arabic and English, with emoji; fields that
// real platforms sometimes hide are sometimes null.
//
// Some words are magic: as a handle, an id or a query they produce a state that a client must handle, such as
// not_found, slow_5s, or a list whose cursor loops. [Magic] returns all of them.
//
//	p := mock.New(mock.Config{})
//	profile, err := p.Profile(ctx, "salma_haddad") // a profile
//	_, err = p.Profile(ctx, "not_found")           // providers.ErrNotFound
//
// Each file implements one group of operations as any other provider does: the answer in the platform's format (the raw
// data), and its conversion. Only the fetching is replaced by generating.
package mock
