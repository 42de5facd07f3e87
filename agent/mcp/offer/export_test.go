package offer

import "encoding/json"

// RefusedBy lets tests outside of the package ask what strict providers refuse.
func RefusedBy(schema json.RawMessage) string { return refusedBy(schema) }

// Hostile returns schemas that cost much or are odd, and that can be offered.
func Hostile() map[string]string {
	all := hostile()
	delete(all, "too deep")
	for name, schema := range map[string]string{
		"loop": `{"$ref":"#"}`, "draft 7": `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"const":1}},"properties":{"a":{"$ref":"#/definitions/a"}}}`,
		"choices": `{"oneOf":[{"properties":{"a":{}}},{"properties":{"b c":{}},"required":["b c"]}]}`, "no type": `{}`,
	} {
		all[name] = schema
	}
	return all
}
