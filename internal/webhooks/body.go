package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/socialdata/socialdata/schema"
)

// maxBody is the maximum size of the body of a delivery in bytes. A change that is larger without its object exceeds
// it.
const maxBody = 20_000

// bodyOf returns the body that is sent for a change. If it is too large, the object is left out and, if that is not
// enough, the values of the fields; the detail then says so.
func bodyOf(c schema.Change) ([]byte, error) {
	b, err := schema.Marshal(&c)
	if err != nil || len(b) <= maxBody {
		return b, err
	}
	left := "the object is left out because the change is larger than 20 KB; read it at /v1/changes"
	c.Object, c.Detail = nil, also(c.Detail, left)
	if b, err = schema.Marshal(&c); err != nil || len(b) <= maxBody {
		return b, err
	}
	c.Fields = slices.Clone(c.Fields)
	for i := range c.Fields {
		c.Fields[i].Before, c.Fields[i].After = json.RawMessage("null"), json.RawMessage("null")
	}
	c.Detail = also(c.Detail, "the values of its fields are left out as well")
	return schema.Marshal(&c)
}

// also appends to a detail.
func also(detail *string, more string) *string {
	if detail != nil && *detail != "" {
		more = *detail + "; " + more
	}
	return &more
}

// Own returns a change about an account that belongs to no monitor. Its id is derived from account, kind and once, so
// that the change is reported once even if it is found several times.
func Own(account, kind string, at time.Time, once []string, detail string) schema.Change {
	sum := sha256.New()
	for _, part := range append([]string{account, kind}, once...) {
		sum.Write(fmt.Appendf(nil, "%d:%s", len(part), part))
	}
	return schema.Change{
		ID: "chg_" + hex.EncodeToString(sum.Sum(nil)[:16]), At: at.UTC(), Type: kind, Fields: []schema.FieldChange{},
		Detail: &detail,
	}
}
