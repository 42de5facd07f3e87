//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/worktree"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/trees"
	"atelier.dev/atelier/backend/workbench"
)

// OAS-606: a session that is removed for good takes its worktree along only if nothing is
// lost with it, also no ignored file, and says which it was. What was kept is listed with
// its size and its reason, and removed from there once the user was told.
func TestRemovingASessionKeepsItsFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  worktree.Kept
	}{
		"nothing":         {nil, ""},
		"an ignored file": {map[string]string{".env": "S"}, worktree.Ignored},
		"ignored folders": {map[string]string{"data/a": "1", "data/b/c": "2"}, worktree.Ignored},
		"an untracked":    {map[string]string{"note": "1"}, worktree.Uncommitted},
		"a change":        {map[string]string{"f": "2"}, worktree.Uncommitted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
			p.git("init", "-q", "-b", "main")
			p.git("config", "user.name", "A")
			p.git("config", "user.email", "a@b")
			p.putFile("f", "1\n")
			p.putFile(".gitignore", ".env\ndata\n")
			p.git("add", "-A")
			p.git("commit", "-qm", "first")
			fork := must[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: p.session("compat"), Folder: workbench.ForkInWorktree}).Session
			if fork.Branch != "worktree-"+filepath.Base(fork.Worktree) {
				t.Errorf("the row says %q before the first turn", fork.Branch)
			}
			for file, text := range tt.files {
				put(t, filepath.Join(p.folder, fork.Worktree, file), text)
			}
			yes := true
			must[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: fork.ID, Deleted: &yes})
			reply := must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: fork.ID})
			if len(reply.Worktrees) != 1 || reply.Worktrees[0].Why != tt.want || reply.Worktrees[0].Removed != (tt.want == "") {
				t.Fatalf("%+v", reply)
			}
			list := must[trees.WorktreesReply](p, "worktrees.list", backend.Empty{}).Worktrees
			if tt.want == "" {
				if len(list) > 0 {
					t.Errorf("%+v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Why != tt.want || list[0].Files != len(tt.files) || list[0].Session != "" || list[0].Size == 0 {
				t.Fatalf("%+v", list)
			}
			for file := range tt.files {
				if _, err := os.Stat(filepath.Join(p.folder, fork.Worktree, file)); err != nil {
					t.Errorf("%s is lost: %v", file, err)
				}
			}
			name := list[0].Name
			if fate := must[trees.WorktreeFate](p, "worktrees.remove", trees.WorktreeRemoveRequest{Name: name}); fate.Removed || fate.Why != tt.want {
				t.Errorf("removed unasked: %+v", fate)
			}
			if fate := must[trees.WorktreeFate](p, "worktrees.remove", trees.WorktreeRemoveRequest{Name: name, All: true}); !fate.Removed {
				t.Errorf("not removed at the user's wish: %+v", fate)
			}
			if _, err := call[trees.WorktreeFate](p, "worktrees.remove", trees.WorktreeRemoveRequest{Name: "../" + name, All: true}); err == nil || err.ID != backend.ProblemWorktreeKept {
				t.Errorf("outside of the folder of worktrees: %v", err)
			}
		})
	}
}
