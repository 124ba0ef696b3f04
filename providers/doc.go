// Package providers is the contract between the engine and the upstreams that it reads.
//
// A [Provider] is a table of functions: one value is one upstream serving one platform, and a nil function means that
// it does not serve that operation. A provider fetches, decodes into wire structs of its own and converts to the types
// of schema; it sets the ID, URL and Raw of each object, and the engine stamps the rest ([Provider.Stamp]). It speaks
// of upstreams ([ErrNotFound], [ErrUnavailable], [ErrTimeout] …) and knows nothing of problems, prices or caches.
//
// The packages below this one are the providers, one an upstream. A new one has the same files as the github package,
// and its tests run the suite of providertest.
package providers
