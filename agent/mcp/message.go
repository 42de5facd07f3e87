package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// message is one message of JSON-RPC. Its members are parts of the text that it
// was parsed from, without a copy, because a result can be large.
type message struct {
	ID     json.RawMessage // nil if it is absent or null
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

const (
	mostBatch = 1000 // messages in one array, as the protocol of March 2025 allows
	mostID    = 256  // bytes of an id
)

var errNotMessage = errors.New("it is not a message of JSON-RPC")

func (m message) isRequest() bool  { return m.ID != nil && m.Method != "" }
func (m message) isResponse() bool { return m.Method == "" }

// number returns the id as one of ours.
func (m message) number() (int64, bool) {
	n, err := strconv.ParseInt(string(m.ID), 10, 64)
	return n, err == nil
}

// parseMessages reads one message, or an array of them.
func parseMessages(text []byte) ([]message, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if !json.Valid(text) {
		return nil, errNotMessage
	}
	if text[0] != '[' {
		m, err := parseMessage(text)
		return []message{m}, err
	}
	var out []message
	for rest := text[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if rest[0] == ']' {
			return out, nil
		}
		if len(out) == mostBatch {
			return out, fmt.Errorf("more than %d messages in one: %w", mostBatch, errNotMessage)
		}
		n := valueLen(rest)
		m, err := parseMessage(rest[:n])
		if err != nil {
			return out, err
		}
		out, rest = append(out, m), rest[n:]
	}
}

// parseMessage reads one message from valid JSON.
func parseMessage(text []byte) (m message, err error) {
	if text[0] != '{' {
		return m, errNotMessage
	}
	for rest := text[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if rest[0] == '}' {
			break
		}
		n := valueLen(rest)
		key := rest[:n]
		rest = bytes.TrimLeft(rest[n:], " \t\r\n:")
		n = valueLen(rest)
		value := rest[:n:n]
		rest = rest[n:]
		var name string
		if err := json.Unmarshal(key, &name); err != nil {
			return m, errNotMessage
		}
		switch name {
		case "id":
			m.ID = value
		case "method":
			if json.Unmarshal(value, &m.Method) != nil {
				return m, errNotMessage
			}
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	if string(m.Error) == "null" {
		m.Error = nil
	}
	switch {
	case len(m.ID) > mostID, m.ID != nil && m.ID[0] != '"' && (m.ID[0] < '0' || m.ID[0] > '9') && m.ID[0] != '-':
		return m, fmt.Errorf("an id that is neither a text nor a number: %w", errNotMessage)
	case m.Method == "" && m.Result == nil && m.Error == nil:
		return m, errNotMessage
	}
	return m, nil
}

// valueLen returns the length of the value at the beginning of valid JSON.
func valueLen(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // after a number, true, false or null
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// idNear looks for the id of an answer in what is known of a line that was too
// long: its beginning and its end.
func idNear(head, tail []byte) (int64, bool) {
	for _, part := range [][]byte{head, tail} {
		for _, key := range []string{`"id":`, `"id": `} {
			at := bytes.Index(part, []byte(key))
			if at < 0 {
				continue
			}
			digits := part[at+len(key):]
			n := 0
			for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
				n++
			}
			if id, err := strconv.ParseInt(string(digits[:n]), 10, 64); err == nil {
				return id, true
			}
		}
	}
	return 0, false
}
