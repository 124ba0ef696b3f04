// Package kit is what the author of a provider needs, in this repository or in a module of one's own:
//
//   - [github.com/socialdata/socialdata/providers/kit/upstream] makes requests: User-Agent, time-outs, retries, rate
//     limits, access tokens, and errors that show no secret
//   - [github.com/socialdata/socialdata/providers/kit/wire] decodes what upstreams write: a field of the wrong type is
//     left empty and reported as drift, and an answer about something else is refused
//   - [github.com/socialdata/socialdata/providers/kit/text] makes plain text, hashtags and mentions of what people wrote
//
// Package providers is the contract, and package providertest the suite that every provider passes. The folder
// testdata/mastodon is a whole provider of a module of its own, with a platform that the specification does not have.
//
// These packages are public: they keep to the versions of the module as every other package does, and what is removed or
// changed is in CHANGELOG.md.
package kit
