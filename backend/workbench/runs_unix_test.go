//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/branch"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/trees"
	"atelier.dev/atelier/backend/undoing"
)

func text(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// ofPlan takes all of a plan, also what of a file has no conflict.
func ofPlan(plan branch.MergePlan, rest bool) (all []undoing.UndoChoice) {
	for _, f := range plan.Files {
		all = append(all, undoing.UndoChoice{Path: f.Path, Seal: f.Seal, Rest: rest})
	}
	return all
}

// Issue 36, OAS-506, COM-07: what was done in a worktree is compared with what the project has become
// since, and merged back: committed, changed, removed and new files; what the project changed
// meanwhile stays, a conflict is shown and left, a file that git ignores stays in the worktree and
// keeps it from going, and the merge can be undone.
func TestMergeOfARun(t *testing.T) {
	t.Parallel()
	p, ours, theirs := twoBranches(t) // ours has twelve, theirs one and eleven, and a new file
	tree := filepath.Join(p.folder, theirs.Worktree)
	git(t, tree, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "ours")
	put(t, tree+"/secret.env", "kept")
	put(t, p.folder+"/.git/info/exclude", "*.env\n/.worktrees/\n")
	if err := os.Remove(tree + "/a"); err != nil {
		t.Fatal(err)
	}
	put(t, p.folder+"/lines", strings.Replace(text(t, p.folder, "lines"), "1\n2\n", "uno\n2\n", 1)) // the run changed it, too
	put(t, p.folder+"/shell", "mine\n")                                                             // the same name, another content

	p.runs(theirs.ID, "echo checked; exit 3")
	await(p, anyOf[agent.LocalCommandEnd])
	runs := must[branch.RunsReply](p, "sessions.runs", place.SessionRef{Session: theirs.ID})
	if len(runs.Runs) != 1 || runs.Target.ID != ours.ID {
		t.Fatalf("%+v", runs)
	}
	run := runs.Runs[0]
	if run.Session.ID != theirs.ID || run.Files != 3 || run.Added != 2 || run.Test == nil || run.Test.ExitCode != 3 || run.Test.Output != "checked\n" || run.Facts.Messages != 8 {
		t.Errorf("%+v %+v", run, run.Test)
	}

	plan := must[branch.MergePlan](p, "sessions.merge_plan", branch.MergeRequest{Session: ours.ID, Run: theirs.ID})
	var told []string
	for _, f := range plan.Files {
		told = append(told, f.Path+" "+string(f.Effect)+" "+string(f.Reason))
	}
	if got := strings.Join(told, ", "); got != "a removes , lines changes changed, shell nothing occupied" {
		t.Errorf("planned %s", got)
	}
	file := plan.Files[1]
	if strings.Contains(file.Diff, "+one") || !strings.Contains(file.Diff, "+eleven") || file.Places != 1 || len(file.Conflicts) != 1 || !strings.Contains(file.Conflicts[0].Now, "uno") || !strings.Contains(file.Conflicts[0].Would, "one") {
		t.Errorf("%+v", file)
	}
	done := must[agent.FilesRestored](p, "sessions.merge", branch.MergeFiles{Session: ours.ID, Run: theirs.ID, Files: ofPlan(plan, true)})
	if len(done.Files) != 2 || len(done.Conflicts) != 2 || done.Taken != theirs.ID {
		t.Errorf("%+v", done)
	}
	if got := text(t, p.folder, "lines"); got != "uno\n2\n3\n4\n5\n6\n7\n8\n9\n10\neleven\ntwelve\n" {
		t.Errorf("merged into %q", got)
	}
	if got := text(t, p.folder, "shell"); got != "mine\n" {
		t.Errorf("what was there has become %q", got)
	}
	if _, err := os.Stat(p.folder + "/a"); !os.IsNotExist(err) {
		t.Errorf("the removed file: %v", err)
	}
	if text(t, tree, "secret.env") != "kept" || text(t, tree, "shell") != "by a command\n" {
		t.Error("the worktree has lost something")
	}
	fate := must[trees.WorktreeFate](p, "worktrees.remove", trees.WorktreeRemoveRequest{Name: filepath.Base(tree)})
	if fate.Removed || fate.Why == "" {
		t.Errorf("a worktree with work in it went: %+v", fate)
	}
	if _, err := call[agent.FilesRestored](p, "sessions.merge", branch.MergeFiles{Session: ours.ID, Run: theirs.ID, Files: ofPlan(plan, true)}); err == nil {
		t.Error("what was shown before the merge was merged again")
	}

	p.restore(ours.ID, undoing.UndoTarget{Step: &agent.StepRef{}})
	if text(t, p.folder, "lines") != strings.Replace(strings.Replace(tenLines, "12\n", "twelve\n", 1), "1\n2\n", "uno\n2\n", 1) || text(t, p.folder, "a") == "" {
		t.Errorf("undone: %q", text(t, p.folder, "lines"))
	}
}

// Issue 36, COM-07: one prompt goes to several models, each in a worktree of its own; one is merged, the
// others stay until they are removed. A race in which one cannot begin leaves nothing behind.
func TestRace(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, committed(t), t.TempDir(), environment(server, "sk-test"))
	session := p.session("compat")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: session, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeAcceptEdits}})
	server.Add(llmtest.Round{Text: "Hello."})
	p.send(session, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	runners := []branch.Runner{{Provider: "compat", Model: "fast"}, {Provider: "compat", Model: "slow"}, {Provider: "compat", Model: "third"}}
	for _, r := range runners {
		server.Script(r.Model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "made", "content": "by " + r.Model + "\n"})}}, llmtest.Round{Text: "Made."})
	}
	race := must[branch.RaceReply](p, "sessions.race", branch.RaceRequest{Session: session, Prompt: "Make it", Runs: runners})
	for range runners {
		await(p, anyOf[agent.ProcessingEnd])
	}
	runs := must[branch.RunsReply](p, "sessions.runs", place.SessionRef{Session: race.Session.ID}).Runs
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	for i, run := range runs {
		made := text(t, p.folder, run.Session.Worktree, "made")
		if run.Session.Settings.Model != runners[i].Model || run.Session.Marks.Label != runners[i].Model || run.Session.Worktree == "" || run.Facts.LastEnd != agent.EndDone || made != "by "+runners[i].Model+"\n" || run.Files != 1 {
			t.Errorf("%+v", run)
		}
	}
	if text(t, p.folder, "made") != "" {
		t.Error("a run wrote into the project")
	}
	winner := runs[1].Session
	plan := must[branch.MergePlan](p, "sessions.merge_plan", branch.MergeRequest{Session: race.Session.ID, Run: winner.ID})
	must[agent.FilesRestored](p, "sessions.merge", branch.MergeFiles{Session: race.Session.ID, Run: winner.ID, Files: ofPlan(plan, false)})
	if text(t, p.folder, "made") != "by slow\n" {
		t.Error("the winner was not merged")
	}
	if left := must[trees.WorktreesReply](p, "worktrees.list", backend.Empty{}).Worktrees; len(left) != 3 {
		t.Errorf("%d worktrees are left", len(left))
	}

	before := len(sessionsOf(p))
	for name, bad := range map[string]branch.RaceRequest{
		"one run":     {Prompt: "x", Runs: runners[:1]},
		"five":        {Prompt: "x", Runs: append(runners, runners[:2]...)},
		"no prompt":   {Prompt: " ", Runs: runners},
		"no key":      {Prompt: "x", Runs: append(runners[:1:1], branch.Runner{Provider: "anthropic", Model: "m"})},
		"no model":    {Prompt: "x", Runs: append(runners[:1:1], branch.Runner{Provider: "compat"})},
		"no provider": {Prompt: "x", Runs: append(runners[:1:1], branch.Runner{Provider: "none", Model: "m"})},
	} {
		if _, err := call[branch.RaceReply](p, "sessions.race", bad); err == nil {
			t.Errorf("%s: it was started", name)
		}
	}
	if now := len(sessionsOf(p)); now != before || len(must[trees.WorktreesReply](p, "worktrees.list", backend.Empty{}).Worktrees) != 3 {
		t.Errorf("%d sessions, before %d", now, before)
	}
}

func sessionsOf(p *page) []backend.SessionInfo {
	p.t.Helper()
	all, err := p.store.Sessions(p.t.Context(), p.folder)
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}
