package salla

import (
	"bytes"
	"encoding/json"
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

// public returns raw without its private fields, in one pass and in the same order. If raw cannot be read, nothing of
// it is returned.
func public(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out bytes.Buffer
	if err := publicValue(dec, &out); err != nil {
		return nil
	}
	return out.Bytes()
}

// publicValue copies the next value.
func publicValue(dec *json.Decoder, out *bytes.Buffer) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return publicObject(dec, out)
	case json.Delim('['):
		return publicList(dec, out)
	}
	return write(out, token)
}

// publicObject copies the rest of an object.
func publicObject(dec *json.Decoder, out *bytes.Buffer) error {
	comma := byte('{')
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if word, ok := name.(string); ok && private(word) {
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return err
			}
			continue
		}
		out.WriteByte(comma)
		comma = ','
		if err := write(out, name); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := publicValue(dec, out); err != nil {
			return err
		}
	}
	if comma == '{' {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	_, err := dec.Token()
	return err
}

// publicList copies the rest of a list.
func publicList(dec *json.Decoder, out *bytes.Buffer) error {
	out.WriteByte('[')
	for first := true; dec.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		if err := publicValue(dec, out); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := dec.Token()
	return err
}

// write appends a name, a string, a number, a boolean or null.
func write(out *bytes.Buffer, token json.Token) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // keep the text as it came
	if err := enc.Encode(token); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the line feed
	return nil
}
