package salla

import (
	"encoding/json"

	"github.com/socialdata/socialdata/internal/jsontext"
)

// private reports whether a field, at any depth, concerns only the merchant or the buyer: cost prices and sales
// figures, the pages of the merchant's dashboard, and how to reach a buyer and what else they ordered.
func private(name string) bool {
	switch name {
	case "cost_price", "sold_quantity", "admin",
		"email", "mobile", "mobile_code", "phone", "city", "order", "order_id", "has_order":
		return true
	}
	return false
}

// public returns raw without its private fields, otherwise unchanged. If raw cannot be read, nothing of it is returned.
func public(raw json.RawMessage) json.RawMessage {
	out, _ := jsontext.Without(raw, private)
	return out
}
