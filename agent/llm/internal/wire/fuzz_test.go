package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

// For any error that a server sends, the message is short, valid and free of
// the key.
func FuzzReported(f *testing.F) {
	const key = "a-secret-key-0123456789"
	for _, body := range []string{
		`{"error":{"message":"m","code":"c","type":"t"}}`, `{"error":"text"}`, `{"detail":[{"msg":"m"}]}`, `[{"error":{"code":400}}]`,
		`<html><title>t</title>`, "", `{"error":null}`, "\xff" + key, strings.Repeat("ü", 5000),
	} {
		f.Add(400, []byte(body))
	}
	e := NewEndpoint(Config{Provider: "p", AdapterConfig: llm.AdapterConfig{BaseURL: "http://127.0.0.1", APIKey: key}})
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		code, text := explain(body)
		err := e.Reported(status, code, text)
		if err.Class == "" || strings.Contains(err.Message+err.Code, key) {
			t.Fatalf("class %q, message %q", err.Class, err.Message)
		}
		if !utf8.ValidString(err.Message) || len(err.Message) > 4<<10 {
			t.Fatalf("message of %d bytes: %q", len(err.Message), err.Message)
		}
	})
}

// FuzzReadString compares the quick way with the decoder.
func FuzzReadString(f *testing.F) {
	for _, raw := range []string{
		`""`, `"word "`, `"a\nb"`, `"\u00e9\ud800"`, "\"\xff\"", `"quote\""`, `"end\\"`, `null`, `7`, `["a"]`, `{"a":1}`, ` "spaces" `, `"a space" `, `"`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		got, want := "before", "before"
		is := ReadString(raw, &got)
		if err := json.Unmarshal(raw, &want); is != (err == nil) || got != want {
			t.Errorf("ReadString(%q) = %q, %v; decoded it is %q, %v", raw, got, is, want, err)
		}
	})
}
