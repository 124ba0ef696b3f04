// Package kit holds what the author of a provider needs, in this repository or in a module of their own:
//
//   - [github.com/socialdata/socialdata/providers/kit/upstream] makes requests: User-Agent, time-outs, retries, rate
//     limits, access tokens, and errors that show no secret
//   - [github.com/socialdata/socialdata/providers/kit/wire] decodes what upstreams write: a field of the wrong type is
//     left empty and reported as drift, and an answer about something else is refused
//   - [github.com/socialdata/socialdata/providers/kit/text] makes plain text, hashtags and mentions of what people
//     wrote
//
// Package providers is the contract, and package providertest the suite that every provider passes. The directory
// testdata/mastodon is a complete provider in a module of its own, for a platform that is not built in.
//
// These packages are public: they follow the versions of the module, and CHANGELOG.md lists what is removed or changed.
package kit
