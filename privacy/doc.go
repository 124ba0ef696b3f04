// Package privacy defines erasures: whose data is erased ([Subject]), what removes it ([Eraser]), and the state of a
// deployment's erasures ([Blocklist]).
//
// No names of people are stored for this. A [Hasher] makes keyed hashes of them with a secret of the deployment, and
// stores keep these hashes ([Marks]) next to the data, so that it can be found. [NewMemory] returns a Blocklist in the
// process; store/sqlite and contrib/postgres have durable ones, the latter for several processes. Other implementations
// must pass the suite of privacy/privacytest.
package privacy
