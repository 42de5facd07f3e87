package config_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/config"
)

// memory has two settings.
type memory map[string]string

func (m memory) List(context.Context) ([]config.Setting, error) {
	if m == nil {
		return nil, errors.New("it is damaged")
	}
	return []config.Setting{
		{Key: "theme", About: "light or dark", Value: json.RawMessage(m["theme"]), Choices: []string{"", "light", "dark"}},
		{Key: "zoom", About: "the scale of the page", Value: json.RawMessage(m["zoom"])},
	}, nil
}

func (m memory) Set(_ context.Context, key string, value json.RawMessage) error {
	if string(value) == "5000" {
		return errors.New("it is too large")
	}
	m[key] = string(value)
	return nil
}

// OAS-327: what is offered is listed, read and set, and nothing else.
func TestConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, says string
		failed   bool
		theme    string
	}{
		{`{"action":"list"}`, `theme = "": light or dark (one of ["" "light" "dark"])` + "\nzoom = 100: the scale of the page", false, `""`},
		{`{"action":"get","key":"zoom"}`, "zoom = 100", false, `""`},
		{`{"action":"set","key":"theme","value":"dark"}`, `theme is now "dark"; it was ""`, false, `"dark"`},
		{`{"action":"set","key":"theme","value":"pink"}`, "takes one of", true, `""`},
		{`{"action":"set","key":"theme","value":true}`, "takes one of", true, `""`},
		{`{"action":"set","key":"zoom","value":5000}`, "was not changed: it is too large", true, `""`},
		{`{"action":"get","key":"ANTHROPIC_API_KEY"}`, "user's alone", true, `""`},
		{`{"action":"set","key":"permission_mode","value":"bypass"}`, "user's alone", true, `""`},
	} {
		m := memory{"theme": `""`, "zoom": "100"}
		got := config.Tool(m).Run(t.Context(), agent.Invocation{Input: json.RawMessage(tt.in)})
		if got.IsError != tt.failed || !strings.Contains(got.Output, tt.says) || m["theme"] != tt.theme {
			t.Errorf("%s: %t %q, the theme is %s", tt.in, got.IsError, got.Output, m["theme"])
		}
	}
	if got := config.Tool(memory(nil)).Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{"action":"list"}`)}); !got.IsError || !strings.Contains(got.Output, "damaged") {
		t.Errorf("settings that cannot be read: %q", got.Output)
	}
}

// OAS-327: reading asks nobody, and a change is asked about.
func TestCalls(t *testing.T) {
	t.Parallel()
	tool := config.Tool(memory{})
	for in, want := range map[string]struct {
		fault string
		own   bool
	}{
		`{"action":"list"}`:                             {"", true},
		`{"action":"get","key":"zoom"}`:                 {"", true},
		`{"action":"set","key":"zoom","value":{"a":1}}`: {"", false},
		`{"action":"set","key":"zoom"}`:                 {"takes a value", false},
		`{"action":"set","value":1}`:                    {"takes the key", false},
		`{"action":"drop"}`:                             {"no action", true},
		`{"action":"set","key":"zoom","value":"` + strings.Repeat("a", 2000) + `"}`: {"more than 1000 bytes", false},
	} {
		err := tool.(agent.Validator).Validate(json.RawMessage(in))
		if (want.fault == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want.fault) {
			t.Errorf("%.80s: %v", in, err)
		}
		if access := tool.(agent.Accessor).Access(t.Context(), json.RawMessage(in)); access.Own != want.own && want.fault == "" {
			t.Errorf("%.80s: %+v", in, access)
		}
	}
}
