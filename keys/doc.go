// Package keys manages accounts, their API keys, and how often each key may call.
//
// A key is "sk_live_" or "sk_test_", 32 random characters and a checksum ([Mint]); only its SHA-256 is stored. The
// engine looks a key up in a [Store] and asks a [Limiter] whether it may call now. Creating accounts and keys is a
// method of the concrete store. The package knows nothing of HTTP.
package keys
