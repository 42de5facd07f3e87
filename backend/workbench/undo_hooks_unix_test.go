//go:build unix

package workbench_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/undoing"
)

// formatter ends each line with a semicolon. It names no file, which would be pinned.
const formatter = `sed -i 's/[^;]$/&;/' *.js`

func editing(from, to string) llmtest.Round {
	return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Edit", map[string]any{"file_path": "a.js", "old_string": from, "new_string": to})}}
}

// K-24, K-28: what a hook of a step, or the agent's own command, does to a file belongs to
// the step: the model is told, its next edit works, and undoing brings the file back. What
// somebody else changed is protected still.
func TestUndoWhatHooksChanged(t *testing.T) {
	t.Parallel()
	read := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": "a.js"})}}
	write := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.js", "content": "uno\ntwo\nthree\n"})}}
	for name, tt := range map[string]struct {
		hook   string // settings
		rounds []llmtest.Round
		want   string // of a.js after the turn
		told   string // to the model; empty if nothing
		stays  string // of a.js after undo; empty means what it was
	}{
		"edits":         {onEvent("PostToolUse", "Edit|Write", formatter), []llmtest.Round{read, editing("one", "uno"), editing("two", "due"), editing("three", "tre")}, "uno;\ndue;\ntre;\n", "+two;", ""},
		"a write":       {onEvent("PostToolUse", "Write", formatter), []llmtest.Round{read, write, editing("two;", "due;")}, "uno;\ndue;\nthree;\n", "+three;", ""},
		"any call":      {onEvent("PostToolUse", "*", formatter), []llmtest.Round{read, editing("two", "due")}, "one;\ndue;\nthree;\n", "+one;", ""},
		"before a call": {onEvent("PreToolUse", "Edit", formatter), []llmtest.Round{read, editing("two;", "due;")}, "one;\ndue;\nthree;\n", "", ""},
		"another file":  {onEvent("PostToolUse", "Edit", "echo edited >> log"), []llmtest.Round{read, editing("two", "due"), editing("one", "uno")}, "uno\ndue\nthree\n", "", ""},
		"at the end":    {onEvent("Stop", "", formatter), []llmtest.Round{read, editing("two", "due")}, "one;\ndue;\nthree;\n", "", ""},
		"sed -i":        {"{}", []llmtest.Round{read, run(formatter), editing("two;", "due;")}, "one;\ndue;\nthree;\n", "+two;", ""},
		"git commit":    {"{}", []llmtest.Round{read, run("git init -q . && printf '#!/bin/sh\n" + strings.ReplaceAll(formatter, "'", `'\''`) + "\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && git -c user.name=a -c user.email=a commit -q --allow-empty -m x"), editing("two;", "due;")}, "one;\ndue;\nthree;\n", "+two;", ""},
		"somebody else": {onEvent("PostToolUse", "Edit", `true`), []llmtest.Round{read, editing("two", "due")}, "one\ndue\nthree\n", "", "mine\ntwo\nthree\n"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			p, server, id := bypassing(t, tt.hook, map[string]string{"a.js": "one\ntwo\nthree\n"})
			server.Script(model, append(tt.rounds, llmtest.Round{Text: "Done."})...)
			p.send(id, "go")
			await(p, anyOf[agent.ProcessingEnd])
			if got := p.fileText("a.js"); got != tt.want {
				t.Fatalf("the turn left %q, want %q", got, tt.want)
			}
			told, _ := json.Marshal(tt.told)
			if said := strings.Trim(string(told), `"`); tt.told != "" && !strings.Contains(lastBody(server), said) {
				t.Errorf("the model was not told %q", tt.told)
			}
			if tt.stays != "" {
				p.putFile("a.js", strings.Replace(tt.want, "one", "mine", 1))
			}
			done := p.restore(id, undoing.UndoTarget{})
			want := tt.stays
			if want == "" {
				want = "one\ntwo\nthree\n"
			}
			if got := p.fileText("a.js"); got != want || len(done.Conflicts) > 0 {
				t.Errorf("undone, it is %q, want %q; %+v", got, want, done.Conflicts)
			}
		})
	}
}

// bypassing returns a page with files, whose model may do everything, and a session.
func bypassing(t *testing.T, settings string, files map[string]string) (*page, *llmtest.Server, string) {
	t.Helper()
	server, folder, user := llmtest.Serve(t), t.TempDir(), t.TempDir()
	put(t, user+"/.agent/settings.json", settings)
	for name, text := range files {
		put(t, folder+"/"+name, text)
	}
	p := newPage(t, folder, t.TempDir(), homely(server, user))
	trustAll(p)
	id := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: agent.Settings{Provider: "openai", Model: model, Mode: agent.ModeBypass}})
	return p, server, id
}

// What a hook beside the session does belongs to the session, during its turn and after it.
func TestUndoWhatAsyncHooksChanged(t *testing.T) {
	t.Parallel()
	async := func(command string) string {
		return strings.Replace(onEvent("PostToolUse", "Write", command), `"type":"command"`, `"type":"command","async":true`, 1)
	}
	write := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.js", "content": "uno\ntwo\n"})}}
	read := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": "a.js"})}}

	p, server, id := bypassing(t, async(formatter+"; touch formatted"), map[string]string{"a.js": "one\ntwo\n"})
	server.Script(model, read, write, run("until [ -e formatted ]; do sleep 0.02; done"), editing("two;", "due;"), llmtest.Round{Text: "Done."})
	p.send(id, "go")
	await(p, anyOf[agent.ProcessingEnd])
	if got := p.fileText("a.js"); got != "uno;\ndue;\n" || !strings.Contains(lastBody(server), "+uno;") {
		t.Errorf("the turn left %q, or the model was not told", got)
	}
	if done := p.restore(id, undoing.UndoTarget{}); p.fileText("a.js") != "one\ntwo\n" || len(done.Conflicts) > 0 {
		t.Errorf("undone, it is %q, %+v", p.fileText("a.js"), done.Conflicts)
	}

	late, formatted := t.TempDir()+"/late", t.TempDir()+"/formatted"
	if err := errors.Join(syscall.Mkfifo(late, 0o600), syscall.Mkfifo(formatted, 0o600)); err != nil {
		t.Fatal(err)
	}
	p, server, id = bypassing(t, async("cat "+late+"; "+formatter+"; echo done > "+formatted+"; sleep 60"), map[string]string{"a.js": "one\ntwo\n"})
	server.Script(model, read, write, llmtest.Round{Text: "Done."})
	p.send(id, "go")
	await(p, anyOf[agent.ProcessingEnd])
	if err := os.WriteFile(late, nil, 0o600); err != nil { // waits for the hook, and lets it go on
		t.Fatal(err)
	}
	if _, err := os.ReadFile(formatted); err != nil { // waits for it
		t.Fatal(err)
	}
	if done := p.restore(id, undoing.UndoTarget{}); p.fileText("a.js") != "one\ntwo\n" || len(done.Conflicts) > 0 {
		t.Errorf("undone after the turn, it is %q, %+v", p.fileText("a.js"), done.Conflicts)
	}
}

// K-24: undoing brings permissions back as they were, and never wider; what somebody else
// did to them since stays.
func TestUndoModes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before fs.FileMode
		line   string
		since  fs.FileMode // by somebody else
		want   fs.FileMode
	}{
		"closed to others, removed":  {0o640, "rm f", 0, 0o640},
		"read only, removed":         {0o444, "rm -f f", 0, 0o444},
		"for the group, removed":     {0o664, "rm f", 0, 0o664},
		"private, removed":           {0o600, "rm f", 0, 0o600},
		"closed":                     {0o644, "chmod 600 f", 0, 0o644},
		"opened":                     {0o600, "chmod 666 f", 0, 0o600},
		"made executable":            {0o640, "chmod +x f", 0, 0o640},
		"written and closed":         {0o644, "echo 2 >> f; chmod 600 f", 0, 0o644},
		"written, then opened by me": {0o600, "echo 2 >> f", 0o644, 0o644},
		"moved away":                 {0o640, "mv f g", 0, 0o640},
		"replaced":                   {0o640, "rm f; umask 022; echo 2 > f", 0, 0o640},
	} {
		t.Run(strings.NewReplacer(" ", "_", ",", "").Replace(name), func(t *testing.T) {
			t.Parallel()
			p, server, id := bypassing(t, "{}", map[string]string{"f": "1\n"})
			at := p.folder + "/f"
			if err := os.Chmod(at, tt.before); err != nil {
				t.Fatal(err)
			}
			server.Script(model, run(tt.line), llmtest.Round{Text: "Done."})
			p.send(id, "go")
			await(p, anyOf[agent.ProcessingEnd])
			if tt.since != 0 {
				if err := os.Chmod(at, tt.since); err != nil {
					t.Fatal(err)
				}
			}
			done := p.restore(id, undoing.UndoTarget{})
			info, err := os.Stat(at)
			if err != nil || info.Mode() != tt.want || len(done.Conflicts) > 0 || p.fileText("f") != "1\n" {
				t.Errorf("it came back as %v, want %v; %+v, %v", info.Mode(), tt.want, done.Conflicts, err)
			}
		})
	}
}

// A file with other names is said to stay before anything is undone.
func TestUndoSaysHardLinks(t *testing.T) {
	t.Parallel()
	p, server, id := bypassing(t, "{}", map[string]string{"f": "1\n", "g": "1\n"})
	if err := os.Link(p.folder+"/f", p.folder+"/same"); err != nil {
		t.Fatal(err)
	}
	server.Script(model, run("echo 2 >> f; echo 2 >> g"), llmtest.Round{Text: "Done."})
	p.send(id, "go")
	await(p, anyOf[agent.ProcessingEnd])
	preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: id})
	said := map[string]agent.ConflictReason{}
	for _, f := range preview.Files {
		said[f.Path] = f.Reason
	}
	if diff := cmp.Diff(map[string]agent.ConflictReason{"f": agent.ConflictLinked, "same": agent.ConflictLinked, "g": ""}, said); diff != "" || !preview.Commands {
		t.Error(diff)
	}
}
