package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Unmarshal is [json.Unmarshal] for data from a server: it skips a field of an
// unexpected type and reads the others.
func Unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return nil
	}
	return err
}

// Present reports whether a member of an object was sent, and not as null.
func Present(member json.RawMessage) bool { return len(member) > 0 && string(member) != "null" }

// ReadString reads valid JSON that may be a string, and reports whether it is
// one or null, which leaves s as it is. Most strings have no escape, and need
// no decoder.
func ReadString(raw []byte, s *string) bool {
	if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		*s = string(raw[1 : n-1])
		return true
	}
	return json.Unmarshal(raw, s) == nil
}
