package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OAS-401, OAS-407: the shapes that other programs write are understood, and what
// cannot be connected is named.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       ServerDraft
		findings   []ServerFindingID
	}{
		{"claude", `{"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": "1", "N": 5, "Z": null}}`, ServerDraft{
			Transport: kindStdio, Command: "npx", Args: []string{"-y", "x"}, Env: map[string]string{"A": "1", "N": "5"},
		}, nil},
		{"cursor", `{"url": "https://x/mcp", "headers": {"A": "b"}}`, ServerDraft{Transport: kindHTTP, URL: "https://x/mcp", Headers: map[string]string{"A": "b"}}, []ServerFindingID{FindingTypeAssumed}},
		{"list", `{"type": "local", "command": ["node", "s.js"], "environment": {"A": "1"}}`, ServerDraft{
			Transport: kindStdio, Command: "node", Args: []string{"s.js"}, Env: map[string]string{"A": "1"},
		}, nil},
		{"streamable", `{"type": "streamable-http", "url": "https://x", "timeout": 5000, "alwaysLoad": true}`, ServerDraft{
			Transport: kindHTTP, URL: "https://x", Options: ServerOptions{AlwaysShown: true, CallMS: 5000},
		}, nil},
		{"oauth", `{"type": "http", "url": "https://x", "oauth": {"clientId": "c", "callbackPort": 8080, "scopes": "a b"}}`, ServerDraft{
			Transport: kindHTTP, URL: "https://x", OAuth: &OAuthDraft{ClientID: "c", CallbackPort: 8080, Scopes: []string{"a", "b"}},
		}, nil},
		{"proxy", `{"type": "claudeai-proxy", "url": "https://x", "id": "7"}`, ServerDraft{Transport: kindProxy, URL: "https://x", ProxyID: "7"}, nil},
		{"websocket", `{"type": "ws", "url": "wss://x"}`, ServerDraft{Transport: "ws", URL: "wss://x"}, []ServerFindingID{FindingTransport}},
		{"neither", `{"args": ["x"]}`, ServerDraft{Transport: kindStdio, Args: []string{"x"}}, []ServerFindingID{FindingNothing}},
		{"not an object", `[]`, ServerDraft{}, []ServerFindingID{FindingNotObject}},
		{"header of two lines", `{"type": "http", "url": "https://x", "headers": {"A": "b\r\nHost: y"}}`, ServerDraft{Transport: kindHTTP, URL: "https://x", Headers: map[string]string{"A": "b\r\nHost: y"}}, []ServerFindingID{FindingHeader}},
		{"password", `{"type": "http", "url": "https://u:p@x"}`, ServerDraft{Transport: kindHTTP, URL: "https://u:p@x"}, []ServerFindingID{FindingURL}},
		{"helper", `{"type": "http", "url": "https://x", "headersHelper": "./evil"}`, ServerDraft{Transport: kindHTTP, URL: "https://x"}, []ServerFindingID{FindingHelper}},
		{"nothing", `{"command": "x", "env": null, "url": null, "headers": null}`, ServerDraft{Transport: kindStdio, Command: "x"}, nil},
		{"typo", `{"command": "x", "arg": []}`, ServerDraft{Transport: kindStdio, Command: "x"}, []ServerFindingID{FindingUnknown}},
		{"time", `{"command": "x", "timeout": -1}`, ServerDraft{Transport: kindStdio, Command: "x"}, []ServerFindingID{FindingMember}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := parse("a", json.RawMessage(tc.text))
			tc.want.Name = "a"
			if diff := cmp.Diff(tc.want, d.draft); diff != "" {
				t.Error(diff)
			}
			var ids []ServerFindingID
			for _, f := range d.findings {
				ids = append(ids, f.ID)
			}
			if diff := cmp.Diff(tc.findings, ids); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, want := range map[string]ServerFindingID{
		"": FindingNameEmpty, "a__b": FindingNameUnderscores, strings.Repeat("n", 10_000): FindingNameLong, "a\nb": FindingNameHidden, "a\u202eb": FindingNameHidden,
	} {
		d := parse(name, json.RawMessage(`{"command": "x"}`))
		if !d.broken() || d.findings[0].ID != want || len(d.draft.Name) > 400 || strings.ContainsAny(d.draft.Name, "\n") {
			t.Errorf("%.20q is named %.20q: %+v", name, d.draft.Name, d.findings)
		}
	}
}

// Variables are filled in, and one without a value is said.
func TestVariables(t *testing.T) {
	t.Parallel()
	s := surroundings{getenv: func(name string) string { return map[string]string{"A": "1", "B": "${A}"}[name] }, folder: "/p", user: "/u"}
	for _, tc := range []struct {
		text, want string
		unset      []string
	}{
		{"${A}-${A:-x}-${env:A}", "1-1-1", nil},
		{"${X:-y}${X:-}", "y", nil},
		{"${X}", "${X}", []string{"X"}},
		{"$A ${1} ${", "$A ${1} ${", nil},
		{"${B}", "${A}", nil}, // a value is not read again
		{"${workspaceFolder}/${userHome}", "/p//u", nil},
		{"${input:key}", "${input:key}", []string{"input:key"}},
		{"${secret}", "${secret}", nil},
	} {
		got, unset, err := s.expand(tc.text, "env.X")
		if got != tc.want || !slices.Equal(unset, tc.unset) || err != nil {
			t.Errorf("%s became %s, %v, %v", tc.text, got, unset, err)
		}
	}
}

// FuzzParse finds no definition that is connected although something is wrong, and
// none that parsing does not survive.
func FuzzParse(f *testing.F) {
	f.Add("a", `{"command": ["x", 1], "env": {"": "b"}}`)
	f.Add("a", `{"type": "http", "url": "%zz", "headers": {"A": "\n"}, "oauth": {"scopes": [null]}}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		d := parse(name, json.RawMessage(text))
		if d.broken() {
			return
		}
		if d.draft.Name != name || strings.Contains(name, "__") || d.draft.Transport == kindStdio && d.draft.Command == "" || d.draft.Transport != kindStdio && d.draft.URL == "" {
			t.Errorf("%q %q: %+v", name, text, d.draft)
		}
		again := parse(name, element(d.draft))
		if again.broken() || again.draft.Command != d.draft.Command || again.draft.URL != d.draft.URL {
			t.Errorf("%q is written as %s", text, element(d.draft))
		}
	})
}
