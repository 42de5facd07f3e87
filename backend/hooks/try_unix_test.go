//go:build unix

package hooks

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
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

// Each template has an example of what it does: the hook is about it, and answers.
func TestTemplatesHaveExamples(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	reply, err := f.Templates(t.Context(), backend.Empty{})
	if err != nil || len(reply.Templates) != 4 {
		t.Fatalf("%+v, %v", reply, err)
	}
	for _, x := range reply.Templates {
		x.Draft.Timeout = 300
		e, err := f.Test(t.Context(), HookTestRequest{Draft: x.Draft, Input: x.Example, Matching: true})
		if err != nil || e.Outcome == OutcomeNotMatched || e.Effect == (HookEffect{}) {
			t.Errorf("%s: %+v, %v", x.ID, e, err)
		}
		if x.ID == TemplateSecrets && e.Effect.Decision != agent.Deny {
			t.Errorf("%+v", e)
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

// A draft of a hook is tried as it would run in its file, with the time and the variables
// of there, and only if the hook itself may run.
func TestDraftsAreTriedAsTheyWouldRun(t *testing.T) {
	t.Setenv("ATELIER_TRIED", "a value")
	f := newFixture(t)
	const line = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo $ATELIER_TRIED >&2"}]}]}}`
	f.write("~/.agent/settings.json", line)
	f.write(".claude/settings.json", strings.Replace(line, "echo", "echo ours", 1))
	rows := f.rows()
	var problem *backend.Error
	in := HookTestRequest{Draft: rows[1].Draft, Replaces: rows[1].ID}
	if e, err := f.Test(t.Context(), in); !errors.As(err, &problem) || problem.ID != backend.ProblemHookUntrusted {
		t.Errorf("untrusted: %+v, %v", e, err)
	}
	if _, err := f.DryRun(t.Context(), HookDryRunRequest{Draft: in.Draft, Replaces: in.Replaces, Run: true}); !errors.As(err, &problem) || problem.ID != backend.ProblemHookUntrusted {
		t.Errorf("an untrusted dry run: %v", err)
	}
	trial, err := f.DryRun(t.Context(), HookDryRunRequest{Draft: in.Draft, Replaces: in.Replaces})
	if err != nil {
		t.Fatal(err)
	}
	defer trial.Close()
	if trial.handler.Terms.Timeout != hook.MostTime {
		t.Errorf("it has %s", trial.handler.Terms.Timeout)
	}
	f.accept()
	if e, err := f.Test(t.Context(), in); err != nil || e.Stderr != "ours\n" {
		t.Errorf("trusted: %+v, %v", e, err)
	}
	if e, err := f.Test(t.Context(), HookTestRequest{Draft: rows[0].Draft, Replaces: rows[0].ID}); err != nil || e.Stderr != "a value\n" {
		t.Errorf("the user's: %+v, %v", e, err)
	}
	if _, err := f.Test(t.Context(), HookTestRequest{Draft: rows[0].Draft, Replaces: "gone"}); !errors.As(err, &problem) || problem.ID != backend.ProblemHookMissing {
		t.Errorf("gone: %v", err)
	}
}

// A time that nobody wrote is not written either, when a hook is edited.
func TestUsualTimeIsNotWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, file := range []string{".agent/settings.json", ".claude/settings.json"} {
		f.write(file, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}, {"type": "command", "command": "false", "timeout": 3}]}]}}`)
	}
	for i, row := range f.rows() {
		if want := float64(i % 2 * 3); row.Draft.Timeout != want {
			t.Errorf("%s has %v", row.Origin.File, row.Draft.Timeout)
		}
		row.Draft.Name = "named"
		if _, err := f.Save(t.Context(), HookSaveRequest{Draft: row.Draft, Replaces: row.ID}); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{".agent/settings.json", ".claude/settings.json"} {
		if text := f.read(file); strings.Count(text, `"timeout"`) != 1 || strings.Count(text, "named") != 2 {
			t.Errorf("%s: %s", file, text)
		}
	}
}
