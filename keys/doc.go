// Package keys is who may call: accounts, the API keys that belong to them, and how often each key may call.
//
// A key is "sk_live_" or "sk_test_", 32 random characters and a checksum ([Mint]); only its SHA-256 is kept. The
// engine looks a key up in a [Store] and asks a [Limiter] whether it may call now. Creating accounts and keys is a
// method of the concrete store. There is no HTTP here.
package keys
