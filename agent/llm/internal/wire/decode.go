package wire

import (
	"encoding/json"
	"errors"
)

// Unmarshal is [json.Unmarshal] for what a server sent: a field of another type
// than was expected is passed over, and the others are read.
func Unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return nil
	}
	return err
}

// Present says whether a member of an object was sent, and not as null.
func Present(member json.RawMessage) bool { return len(member) > 0 && string(member) != "null" }
