// Package kit holds what the author of a provider needs, in this repository or in a module of their own. Requests and
// their answers:
//
//   - [github.com/socialdata/socialdata/providers/kit/upstream] makes requests: User-Agent, time-outs, retries, rate
//     limits, access tokens, and errors that show no secret; One and Page read the two common shapes of an answer
//   - [github.com/socialdata/socialdata/providers/kit/wire] decodes what upstreams write: a field of the wrong type is
//     left empty and reported as drift, and an answer about something else is refused
//   - [github.com/socialdata/socialdata/providers/kit/browser] has the header fields that sites expect of a browser
//   - [github.com/socialdata/socialdata/providers/kit/pages] makes and checks cursors that are offsets or page numbers
//
// Addresses:
//
//   - [github.com/socialdata/socialdata/providers/kit/links] parses handles, ids and the addresses of a site's pages
//
// The parts of a page:
//
//   - [github.com/socialdata/socialdata/providers/kit/markup] checks HTML and XML before it is parsed
//   - [github.com/socialdata/socialdata/providers/kit/dom] reads elements and their text
//   - [github.com/socialdata/socialdata/providers/kit/island] reads meta tags and the JSON within scripts
//
// Values:
//
//   - [github.com/socialdata/socialdata/providers/kit/text] makes plain text, hashtags and mentions of what people
//     wrote, and reads counts such as 1.2K
//   - [github.com/socialdata/socialdata/providers/kit/dates] parses dates
//   - [github.com/socialdata/socialdata/providers/kit/ids] makes ids for things to which the upstream gives none
//   - [github.com/socialdata/socialdata/providers/kit/languages] and
//     [github.com/socialdata/socialdata/providers/kit/countries] make tags and codes of what upstreams call them
//   - [github.com/socialdata/socialdata/providers/kit/vtt] reads subtitles
//   - [github.com/socialdata/socialdata/providers/kit/meta] has what the sites and APIs of Meta have in common
//
// Package providers is the contract, and package providertest the suite that every provider passes. The
// directory examples/mastodon is a program in a module of its own, with a platform that is not built in.
//
// These packages are public: they follow the versions of the module, and CHANGELOG.md lists what is removed or changed.
package kit
