package offer

import "encoding/json"

// RefusedBy lets tests outside of the package ask what strict providers refuse.
func RefusedBy(schema json.RawMessage) string { return refusedBy(schema) }
