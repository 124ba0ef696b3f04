// Package mock is the sandbox platform: it serves every operation with invented people and objects, so that a client
// can be written and tested in every branch without a call to any upstream.
//
// Any ordinary handle, id or query works, and always finds the same: the data is made up from the words of the call
// alone. What is listed can be read, and says the same: the third comment on the seventh post of salma_haddad is
// salma_haddad-post-7-comment-3, stands on the first page of that post's comments and has replies of its own. Lists
// have two or three pages of 20. Texts are in Arabic and English, with emoji; what real platforms hide now and then
// is null now and then.
//
// Some words are magic: as a handle, an id or a query they show a state that a client must cope with, from not_found
// over slow_5s to a list whose cursor loops. [Magic] returns the table of them.
//
//	p := mock.New(mock.Config{})
//	profile, err := p.Profile(ctx, "salma_haddad") // somebody
//	_, err = p.Profile(ctx, "not_found")           // providers.ErrNotFound
//
// Each file shows one group of operations in the manner of any other provider: the answer as the platform would write
// it (which is what raw holds), and its conversion. Only the fetching is replaced by making up.
package mock
