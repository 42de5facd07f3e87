package wire

import (
	"encoding/json"
	"errors"
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
