package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// params returns references to the parameters of an operation: path, query, then header.
func (c *components) params(o *operation.Operation) []object {
	out := []object{}
	for _, name := range []string{"platform", "provider", "path"} {
		if strings.Contains(shownPath(o), "{"+name+"}") {
			out = append(out, c.param(o, c.pathParam(name, c.platforms(o))))
		}
	}
	for _, p := range o.Params {
		out = append(out, c.param(o, c.queryParam(p)))
	}
	if charged(o) {
		out = append(out, c.param(o, object{
			"name": "Idempotency-Key", "in": "header", "required": false,
			"schema": object{"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[!-~]*$"},
			"description": "Repeating a request with the same key within 24 hours returns the same answer " +
				"without a second charge.",
		}))
	}
	return out
}

// platforms returns the platforms that are listed for the path of an operation; nil means every platform. A path of the
// specification keeps the specification's list; any other lists the platforms that have the operation.
func (c *components) platforms(o *operation.Operation) []platform.ID {
	if o.Specified || o.Platforms != nil {
		return o.Platforms
	}
	return c.offered[cmp.Or(o.Of, o.Name)]
}

// charged reports whether an operation has a price.
func charged(o *operation.Operation) bool { return o.Price != operation.Free && !o.Bare }

// param returns a reference to a parameter, and adds the parameter to the components unless an equal one exists. The
// first parameter called "id" becomes IdParam; a different one with that name gets the name of the first operation that
// has it as a prefix: TrackIdParam.
func (c *components) param(o *operation.Operation, p object) object {
	said, _ := schema.Marshal(p) // of plain maps, which can always be marshalled
	name, known := c.names[string(said)]
	if !known {
		for name = pascal(p["name"].(string)) + "Param"; c.parameters[name] != nil; {
			name = o.Method() + name
		}
		c.names[string(said)], c.parameters[name] = name, p
	}
	return object{"$ref": "#/components/parameters/" + name}
}

// pascal joins words that are separated by _, / or -: IncludeRaw for include_raw.
func pascal(words string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r == '_' || r == '/' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// pathParam describes a parameter of the path. For the platform, it only lists the values in only; nil means every
// platform.
func (c *components) pathParam(name string, only []platform.ID) object {
	s, doc := object{"type": "string", "minLength": 1}, "The provider's name."
	switch {
	case name == "path":
		doc = "A path on the allow-list of the provider."
	case name == "platform" && only != nil:
		s, doc = object{"type": "string", "enum": only}, "The platform. Only these have the operation."
	case name == "platform":
		s, doc = c.ref("PlatformID"), "The platform."
	}
	return object{"name": name, "in": "path", "required": true, "schema": s, "description": doc}
}

func (c *components) queryParam(p operation.Param) object {
	s := c.paramSchema(p)
	out := object{"name": p.Name, "in": "query", "required": p.Required, "schema": s, "description": paramDoc(p)}
	if p.Form == operation.FormList || p.Form == operation.FormKeys || p.Form == operation.FormFields {
		out["style"], out["explode"] = "form", false // separated by commas
	}
	return out
}

// paramDoc returns the description of a parameter, with the rules that its schema cannot express.
func paramDoc(p operation.Param) string {
	doc := p.Doc
	if (p.Form == operation.FormText || p.Form == operation.FormAddress) && p.Enum == nil && p.Max == 0 {
		doc += fmt.Sprintf(" At most %d bytes.", p.MaxBytes())
	}
	if p.Form == operation.FormKeys || p.Form == operation.FormAddresses {
		doc += fmt.Sprintf(" At most %d bytes.", p.MaxBytes())
	}
	if p.OneOf {
		doc += " Exactly one of the parameters with this note must be given."
	}
	return doc
}

// paramSchema returns the schema of the value of a parameter: of its text in a query, or of its JSON when c is inline.
func (c *components) paramSchema(p operation.Param) object {
	if p.Enum != nil {
		return c.choice(p)
	}
	text := object{"type": "string", "minLength": 1}
	switch p.Form {
	case operation.FormBool:
		if c.inline {
			return object{"type": "boolean", "default": false}
		}
		return c.ref("Flag")
	case operation.FormInt:
		number := object{"type": "integer", "format": "int64", "minimum": p.Min}
		if p.Max > 0 {
			number["maximum"] = p.Max
		}
		return number
	case operation.FormList:
		return object{"type": "array", "minItems": 1, "items": c.ref("PlatformID")}
	case operation.FormKeys:
		return object{"type": "array", "minItems": 1, "maxItems": operation.MaxKeys, "items": text}
	case operation.FormFields:
		return object{"type": "array", "minItems": 1, "items": text}
	case operation.FormTime:
		text["pattern"] = `^[0-9]{4}-[0-9]{2}-[0-9]{2}(T.+)?$`
	case operation.FormCountry:
		text["pattern"] = "^[A-Za-z]{2}$"
	case operation.FormLang:
		text["pattern"] = "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
	case operation.FormText, operation.FormProse, operation.FormCursor, operation.FormAddress,
		operation.FormAddresses:
		text["maxLength"] = cmp.Or(p.Max, p.MaxBytes())
	}
	return text
}

// choice returns a reference to the values of a parameter. Each list has a name, because generators make a type of it.
func (c *components) choice(p operation.Param) object {
	for _, v := range schema.Vocabularies() {
		if slices.Equal(v.Words, p.Enum) {
			return c.ref(v.Name)
		}
	}
	name := pascal(p.Name) + "Choice"
	c.schemas[name] = object{"type": "string", "enum": p.Enum, "description": "What the parameter " + p.Name + " may be."}
	return c.ref(name)
}
