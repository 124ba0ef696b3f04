package describe

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed examples.json
var examplesJSON []byte

// examples holds an answer of the sandbox for each operation by its name. A test writes them and keeps them true.
var examples = sync.OnceValue(func() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(examplesJSON, &out); err != nil {
		return nil // the same test would fail
	}
	return out
})
