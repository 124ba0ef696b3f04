package describe

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed examples.json
var examplesJSON []byte

// examples returns an answer of the sandbox for each operation, by its name. A test of the server writes examples.json
// and compares it with the sandbox.
var examples = sync.OnceValue(func() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(examplesJSON, &out); err != nil {
		return nil // a test checks that it does not fail
	}
	return out
})
