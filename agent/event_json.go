package agent

import (
	"encoding/json"
)

type eventHeader struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq,omitempty"`
	Turn    int    `json:"turn,omitempty"`
	Kind    Kind   `json:"kind"`
	At      int64  `json:"at"`
}

// MarshalJSON writes the event with its kind beside its data.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		eventHeader
		Data Payload `json:"data"`
	}{eventHeader{e.Session, e.Seq, e.Turn, e.Kind(), e.At}, e.Data})
}

// UnmarshalJSON reads what MarshalJSON wrote. An unknown kind is an error:
// the log is from a newer Atelier.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w struct {
		eventHeader
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	data, err := DecodePayload(w.Kind, w.Data)
	if err != nil {
		return err
	}
	*e = Event{Session: w.Session, Seq: w.Seq, Turn: w.Turn, At: w.At, Data: data}
	return nil
}
