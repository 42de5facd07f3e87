package confine

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func layer(t *testing.T, trusted bool, text string) Layer {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		return Layer{Trusted: trusted, Broken: true}
	}
	return Layer{Settings: s, Trusted: trusted}
}

// A project's file narrows at once, but widens only when it is trusted. A file
// that cannot be read allows nothing (OAS-641, K-33, K-34).
func TestLayers(t *testing.T) {
	t.Parallel()
	at := Place{Project: "/home/u/p", Home: "/home/u", Own: []string{"/home/u/.atelier"}, Visible: []string{"/home/u/.atelier/output"}}
	wide := `{"enabled":true,"autoAllowBashIfSandboxed":true,"enableWeakerNestedSandbox":true,"allowNestedSandbox":true,
		"allowedWritePaths":[".","~/out","/srv"],"network":{"allowedDomains":["example.com"],"allowLocalBinding":true,"allowAllUnixSockets":true}}`
	narrow := `{"autoAllowBashIfSandboxed":false,"allowUnsandboxedCommands":false,"allowedWritePaths":["src","/etc"],"deniedPaths":["secrets","~/diary"],
		"network":{"deniedDomains":["bad.example"],"allowLocalBinding":false}}`
	for _, test := range []struct {
		name     string
		layers   []Layer
		want     Request // without its profile
		writable []string
		network  bool
		nested   bool
	}{
		{"nothing", nil, Request{Unsandboxed: true}, []string{"/home/u/p"}, false, false},
		{"the user's", []Layer{layer(t, true, wide)}, Request{Enabled: true, AutoAllow: true, Unsandboxed: true, Weaker: true}, []string{"/home/u/p", "/home/u/out", "/srv"}, true, true},
		{"a project's", []Layer{layer(t, false, wide)}, Request{Enabled: true, Unsandboxed: true}, []string{"/home/u/p"}, false, false},
		{"a project that narrows", []Layer{layer(t, true, `{"enabled":true,"autoAllowBashIfSandboxed":true}`), layer(t, false, narrow)}, Request{Enabled: true}, []string{"/home/u/p/src"}, false, false},
		{"a project that narrows the user's list", []Layer{layer(t, true, wide), layer(t, false, narrow)}, Request{Enabled: true, Weaker: true}, []string{"/home/u/p", "/home/u/out", "/srv"}, true, true},
		{"no folder", []Layer{layer(t, true, `{"allowedWritePaths":[]}`)}, Request{Unsandboxed: true}, []string{}, false, false},
		{"a broken file", []Layer{layer(t, true, wide), layer(t, true, `{"enabled":"perhaps"}`)}, Request{Enabled: true}, []string{"/home/u/p", "/home/u/out", "/srv"}, false, false},
	} {
		got := Combine(test.layers...)
		if got.Enabled != test.want.Enabled || got.AutoAllow != test.want.AutoAllow || got.Unsandboxed != test.want.Unsandboxed || got.Weaker != test.want.Weaker {
			t.Errorf("%s: %+v", test.name, got)
		}
		if p := got.At(at); !slices.Equal(p.Writable, test.writable) || (len(got.Allowed) > 0) != test.network || p.Nested != test.nested {
			t.Errorf("%s: writes %v, network %v, nested %t", test.name, p.Writable, got.Allowed, p.Nested)
		}
	}
	got := Combine(layer(t, false, narrow))
	hidden := got.At(at).Hidden
	for _, path := range []string{"/home/u/p/secrets", "/home/u/diary", "/home/u/.ssh", "/home/u/.atelier", "/home/u/.claude/.credentials.json"} {
		if !slices.Contains(hidden, path) {
			t.Errorf("%s is not hidden", path)
		}
	}
	if !slices.Equal(got.Denied, []string{"bad.example"}) {
		t.Errorf("denied %v", got.Denied)
	}
	if got := Combine().At(at).Protected; !slices.Contains(got, "/home/u/p/.git") || !slices.Contains(got, "/home/u/p/.vscode") {
		t.Errorf("protected %v", got)
	}
	reads := Combine(layer(t, true, `{"allowedReadPaths":["~/lib"]}`)).At(at)
	if !slices.Contains(reads.Hidden, "/home/u") || !slices.Contains(reads.Readable, filepath.Join("/home/u", "lib")) {
		t.Errorf("hidden %v, readable %v", reads.Hidden, reads.Readable)
	}
}

// A model is told what its commands cannot do.
func TestRequestSentence(t *testing.T) {
	t.Parallel()
	whole := Level{By: Namespaces, Writes: true, Reads: true, Network: true, Sockets: true, Processes: true}
	for _, row := range []struct {
		request Request
		level   Level
		want    []string
	}{
		{Request{}, Level{}, []string{"no command runs"}},
		{Request{}, whole, []string{"only in the project", "no network", "none runs unconfined"}},
		{Request{Allowed: []string{"x.dev"}, Unsandboxed: true}, whole, []string{"only some hosts", "can ask to run unconfined"}},
		{Request{}, Level{By: Landlock, Writes: true, Reads: true, Network: true}, []string{"create, rename and delete nothing"}},
	} {
		got := row.request.Sentence(row.level)
		for _, want := range row.want {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: %s", row, got)
			}
		}
		if strings.Count(got, ". ") != 0 {
			t.Errorf("more than one sentence: %s", got)
		}
	}
}
