package socialdata_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/socialdata/socialdata/operation"
)

// call returns a call with parameters, given as name and value.
func call(params ...string) operation.Call {
	c := operation.Call{Params: url.Values{}}
	for i := 0; i < len(params); i += 2 {
		c.Params.Set(params[i], params[i+1])
	}
	return c
}

func resultID(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var o struct{ ID string }
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o.ID
}
