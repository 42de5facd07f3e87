//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/undoing"
	"atelier.dev/atelier/backend/workbench"
)

// What an agent did in a folder of the project, in its own worktree or beside its folder is
// among the session's changes under the path that it has there, and undone with the turn.
// A file of the same name in the session's folder is another one.
func TestUndoOfAgentsElsewhere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		where map[string]any
		call  llmtest.Call
		path  string // of what it changed; a star stands for a name
	}{
		"in a subfolder":          {map[string]any{"working_dir": "sub"}, run("sed -i s/one/two/ a.txt").Calls[0], "sub/a.txt"},
		"deeper":                  {map[string]any{"working_dir": "sub/deep"}, run("sed -i s/one/two/ a.txt").Calls[0], "sub/deep/a.txt"},
		"in the same folder":      {nil, run("sed -i s/one/two/ a.txt").Calls[0], "a.txt"},
		"in a worktree":           {map[string]any{"isolation": "worktree"}, run("sed -i s/one/two/ a.txt").Calls[0], ".worktrees/*/a.txt"},
		"in a part of a worktree": {map[string]any{"isolation": "worktree", "working_dir": "sub"}, run("sed -i s/one/two/ a.txt").Calls[0], ".worktrees/*/sub/a.txt"},
		"beside its folder":       {map[string]any{"working_dir": "sub"}, llmtest.Use("Write", map[string]any{"file_path": "../new.txt", "content": "two\n"}), "new.txt"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			p, server, id := bypassing(t, "{}", map[string]string{"a.txt": "one\n", "sub/a.txt": "one\n", "sub/deep/a.txt": "one\n"})
			p.git("init", "-q", "-b", "main")
			p.git("config", "user.name", "A")
			p.git("config", "user.email", "a@b")
			p.git("add", "-A")
			p.git("commit", "-qm", "first")
			server.Script("helper", llmtest.Round{Calls: []llmtest.Call{tt.call}}, llmtest.Round{Text: "Done."})
			server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Edit.", tt.where)}}, llmtest.Round{Text: "Good."})
			p.send(id, "go")
			child, _ := agentOf(p, "Agent")
			for deadline := time.After(patience); ; p.more(deadline, "the end of both turns") {
				ended := 0
				for _, s := range []string{id, child} {
					if must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: s}).LastEnd != "" {
						ended++
					}
				}
				if ended == 2 {
					break
				}
			}
			found, _ := filepath.Glob(filepath.Join(p.folder, tt.path))
			if len(found) != 1 {
				t.Fatalf("%s: %v", tt.path, found)
			}
			if text, _ := os.ReadFile(found[0]); string(text) != "two\n" {
				t.Fatalf("the agent %s left %q", child, text)
			}
			path, _ := filepath.Rel(p.folder, found[0])
			if got := p.changed(id, changes.ScopeSession); !strings.Contains(got, " "+path+" ") || strings.Count(got, "\n") > 0 {
				t.Errorf("the session changed %q, want %s", got, path)
			}
			preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: id})
			if len(preview.Files) != 1 || preview.Files[0].Path != path {
				t.Fatalf("%+v", preview.Files)
			}
			must[undoing.UndoReply](p, "undo.apply", undoing.UndoApplyRequest{Session: id, Target: preview.Target, Files: choices(preview)})
			if text, err := os.ReadFile(found[0]); string(text) != "one\n" && !os.IsNotExist(err) {
				t.Errorf("undone, it is %q, %v", text, err)
			}
			p.restore(id, undoing.UndoTarget{Redo: true})
			if text, _ := os.ReadFile(found[0]); string(text) != "two\n" {
				t.Errorf("redone, it is %q", text)
			}
		})
	}
}
