// Package privacy is about what must be forgotten: whose data it is ([Subject]), who removes it ([Eraser]), and what a
// deployment notes of it ([Blocklist]).
//
// Names of people are kept nowhere for this. A [Hasher] makes keyed hashes of them under a secret of the deployment, and
// the stores keep those hashes ([Marks]) beside whatever holds the data, so that it can be found. [NewMemory] returns a
// Blocklist in the process; store/sqlite and contrib/postgres keep one over a restart and for several processes. Anyone who
// writes another runs the suite of privacy/privacytest over it.
package privacy
