//go:build unix

package hooks

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// A hook is tried where the session runs that its input is about: in the project if
// there is none, or none any more.
func TestTriedInTheFolderOfTheSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("agent/a.txt", "")
	draft := HookDraft{Point: agent.HookStop, Timeout: 300, Action: HookAction{Kind: KindCommand, Command: "pwd >&2"}}
	for input, want := range map[string]string{
		`{"session_id": "agent"}`: f.path("agent"), `{"session_id": "gone"}`: f.folder, `{"session_id": "agent/a.txt"}`: f.folder, `{}`: f.folder, "": f.folder,
	} {
		e, err := f.Test(t.Context(), HookTestRequest{Draft: draft, Input: json.RawMessage(input)})
		if got := strings.TrimSpace(e.Stderr); err != nil || got != want {
			t.Errorf("%s: tried in %s, want %s, %v", input, got, want, err)
		}
	}
}

// The template formats the one file that was edited, and says what it lacks.
func TestFormatTemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const wild, neat = "package a\nvar  x = 1\n", "package a\n\nvar x = 1\n"
	for _, name := range []string{"edited file.go", "-w.go", "other.go", "notes.txt"} {
		f.write(name, wild)
	}
	draft := templates[slices.IndexFunc(templates, func(x HookTemplate) bool { return x.ID == TemplateFormat })].Draft
	draft.Timeout = 300
	tried := func(path string) HookLogEntry {
		t.Helper()
		input, err := json.Marshal(map[string]any{"tool_name": "Edit", "tool_input": map[string]string{"file_path": path}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.Test(t.Context(), HookTestRequest{Draft: draft, Input: input})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, path := range []string{f.path("edited file.go"), "-w.go", f.path("notes.txt")} {
		if e := tried(path); e.Outcome != OutcomeRan {
			t.Errorf("%s: %+v", path, e)
		}
	}
	for name, want := range map[string]string{"edited file.go": neat, "-w.go": neat, "other.go": wild, "notes.txt": wild} {
		if got := f.read(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	draft.Action.Command = "PATH=/nowhere\n" + draft.Action.Command
	if e := tried("other.go"); e.Outcome != OutcomeFailed || !strings.Contains(e.Detail, "needs python3, which is not installed") {
		t.Errorf("without its programs: %+v", e)
	}
}
