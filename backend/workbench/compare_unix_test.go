//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/authors"
	"atelier.dev/atelier/backend/branch"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/editors"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/backend/workbench"
)

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"

// twoBranches is a session in the project and a fork of it in a worktree, each of which
// changed a file of twelve lines.
func twoBranches(t *testing.T) (p *page, ours, theirs backend.SessionInfo) {
	t.Helper()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	folder := committed(t)
	put(t, folder+"/lines", tenLines)
	git(t, folder, "add", "-A")
	git(t, folder, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "lines")
	p = newPage(t, folder, t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	set := agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeAcceptEdits}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
	p.send(id, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	made := fork(p, workbench.ForkRequest{Session: id, Folder: workbench.ForkInWorktree, Settings: &set}).Session
	edit := func(session, old, new string) {
		server.Add(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": "lines"})}},
			llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Edit", map[string]any{"file_path": "lines", "old_string": old, "new_string": new})}},
			llmtest.Round{Text: "Edited."})
		p.send(session, "edit")
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Edited." })
		await(p, anyOf[agent.ProcessingEnd])
	}
	edit(id, "12\n", "twelve\n")
	edit(made.ID, "1\n2\n", "one\n2\n")
	edit(made.ID, "11\n", "eleven\n")
	put(t, filepath.Join(folder, made.Worktree, "shell"), "by a command\n")
	at := func(id string) backend.SessionInfo {
		return must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session
	}
	return p, at(id), at(made.ID)
}

// Two branches are compared by what they made of the files, also by what no tool
// reported; one hunk of the other is taken over, and what changed here stays.
func TestCompareAndTake(t *testing.T) {
	t.Parallel()
	p, ours, theirs := twoBranches(t)
	kept := objects.Open(filepath.Join(p.home, "journal", "objects"), objects.Limits{})
	defer kept.Close()
	edited := agent.FileRecord{Path: "lines", Before: kept.Keep(t.Context(), agent.PlainFile, []byte(tenLines)),
		After: kept.Keep(t.Context(), agent.PlainFile, []byte(strings.Replace(tenLines, "12\n", "twelve\n", 1)))}
	if _, err := p.store.Append(t.Context(), agent.Event{Session: ours.ID, At: 1 << 42, Data: agent.ToolCallEnd{Files: &agent.FilesChanged{Files: []agent.FileRecord{edited}}}}); err != nil {
		t.Fatal(err)
	}
	both := branch.CompareRequest{Session: ours.ID, With: theirs.ID}
	reply := must[branch.CompareReply](p, "sessions.compare", both)
	if len(reply.Files) != 2 || reply.Files[0].Path != "lines" || reply.Files[1].Path != "shell" || reply.Files[1].State != "added" {
		t.Errorf("%+v", reply.Files)
	}
	if reply.Parted == nil || reply.Parted.Session != ours.ID || reply.Ours.Messages != 4 || reply.Theirs.Messages != 8 || reply.Theirs.Lines.Added != 2 {
		t.Errorf("%+v", reply)
	}
	file := branch.CompareFileRequest{Session: ours.ID, With: theirs.ID, Path: "lines"}
	shown := must[branch.CompareFileReply](p, "sessions.compare_file", file)
	if shown.Take == nil || shown.Take.Diff != shown.Diff || shown.Take.Hunks != 2 || !shown.Take.Possible || !strings.Contains(shown.Diff, "+one") {
		t.Fatalf("%+v", shown)
	}
	request := branch.TakeRequest{Session: ours.ID, With: theirs.ID, Path: "lines", Seal: shown.Take.Seal, Hunks: []int{0}}
	put(t, p.folder+"/lines", strings.Replace(strings.Replace(tenLines, "12\n", "twelve\n", 1), "6\n", "six\n", 1))
	if _, err := call[agent.FilesRestored](p, "sessions.take", request); err == nil || !strings.Contains(err.Message, "has changed since it was shown") {
		t.Errorf("%v", err)
	}
	again := must[branch.CompareFileReply](p, "sessions.compare_file", file)
	request.Seal = again.Take.Seal
	taken := must[agent.FilesRestored](p, "sessions.take", request)
	if data, _ := os.ReadFile(p.folder + "/lines"); string(data) != "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n" {
		t.Errorf("%q", data)
	}
	if stored := await(p, anyOf[agent.FilesRestored]); stored.Taken != theirs.ID || stored.ID != taken.ID || len(stored.Files) != 1 || stored.Files[0].Before.Hash == "" {
		t.Errorf("%+v", stored)
	}
	if data, _ := os.ReadFile(filepath.Join(p.folder, theirs.Worktree, "lines")); !strings.HasPrefix(string(data), "one\n") || strings.Contains(string(data), "six") {
		t.Errorf("the other branch has %q", data)
	}
}

// A file that the other branch made, or removed, is taken over whole.
func TestTakeAWholeFile(t *testing.T) {
	t.Parallel()
	p, ours, theirs := twoBranches(t)
	take := func(path string) {
		shown := must[branch.CompareFileReply](p, "sessions.compare_file", branch.CompareFileRequest{Session: ours.ID, With: theirs.ID, Path: path})
		must[agent.FilesRestored](p, "sessions.take", branch.TakeRequest{Session: ours.ID, With: theirs.ID, Path: path, Seal: shown.Take.Seal})
	}
	take("shell")
	if data, _ := os.ReadFile(p.folder + "/shell"); string(data) != "by a command\n" {
		t.Errorf("%q", data)
	}
	if err := os.Remove(filepath.Join(p.folder, theirs.Worktree, "a")); err != nil {
		t.Fatal(err)
	}
	take("a")
	if _, err := os.Stat(p.folder + "/a"); !os.IsNotExist(err) {
		t.Errorf("a is there: %v", err)
	}
}

// Branches in one folder are compared by what was recorded; what nobody recorded is said
// to be unknown, with what the tools said of it.
func TestCompareInOneFolder(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	kept := objects.Open(filepath.Join(p.home, "journal", "objects"), objects.Limits{})
	defer kept.Close()
	keep := func(text string) agent.FileVersion { return kept.Keep(t.Context(), agent.PlainFile, []byte(text)) }
	ours := p.session("compat")
	theirs := fork(p, workbench.ForkRequest{Session: ours}).Session.ID
	store := func(session string, data ...agent.Payload) {
		for _, d := range data {
			if _, err := p.store.Append(t.Context(), agent.Event{Session: session, Turn: 1, At: 1 << 42, Data: d}); err != nil {
				t.Fatal(err)
			}
		}
	}
	step := func(path, before, after string) agent.Payload {
		return agent.ToolCallEnd{CallID: path, Files: &agent.FilesChanged{Files: []agent.FileRecord{{Path: path, Before: keep(before), After: keep(after)}}}}
	}
	told := agent.ToolCallEnd{Details: &agent.Details{Changes: []agent.FileChange{{Path: "told", Diff: "@@ -1 +1 @@\n-a\n+b\n"}}}}
	store(ours, step("both", "0\n", "ours\n"), step("same", "0\n", "1\n"), told)
	store(theirs, step("both", "ours\n", "theirs\n"), step("same", "0\n", "1\n"), step("alone", "old\n", "new\n"))
	reply := must[branch.CompareReply](p, "sessions.compare", branch.CompareRequest{Session: ours, With: theirs})
	var paths []string
	for _, f := range reply.Files {
		paths = append(paths, f.Path)
	}
	if strings.Join(paths, " ") != "alone both told" || !reply.Files[2].Unknown {
		t.Errorf("%+v", reply.Files)
	}
	file := func(path string) branch.CompareFileReply {
		return must[branch.CompareFileReply](p, "sessions.compare_file", branch.CompareFileRequest{Session: ours, With: theirs, Path: path})
	}
	if got := file("both"); got.Diff != "@@ -1 +1 @@\n-ours\n+theirs\n" {
		t.Errorf("%+v", got)
	}
	if got := file("alone"); got.Diff != "@@ -1 +1 @@\n-old\n+new\n" {
		t.Errorf("%+v", got)
	}
	if got := file("told"); !got.Unknown || len(got.OurEdits) != 1 || got.Take != nil {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"../outside", ".git/config", "missing"} {
		if got, err := call[branch.CompareFileReply](p, "sessions.compare_file", branch.CompareFileRequest{Session: ours, With: theirs, Path: path}); err == nil && got.Take != nil {
			t.Errorf("%s can be taken: %+v", path, got)
		}
	}
}

// What is shown of files beside a session with a worktree is what is there: its files,
// their authors, and what the editor opens.
func TestFilesOfAWorktree(t *testing.T) {
	t.Parallel()
	p, ours, theirs := twoBranches(t)
	for session, want := range map[string]struct{ files, author, line string }{
		ours.ID:   {"a lines sub/b", ours.ID, "twelve"},
		theirs.ID: {"a lines shell sub/b", theirs.ID, "one"},
	} {
		list := must[filechanges.FilesReply](p, "files.list", filechanges.FilesRequest{Session: session})
		if got := strings.Join(list.Files, " "); got != want.files {
			t.Errorf("%s has %q, want %q", session, got, want.files)
		}
		blamed := must[authors.BlameReply](p, "files.blame", filechanges.BlameRequest{Session: session, Path: "lines", Texts: true})
		wrote := map[string]string{}
		for _, run := range blamed.Runs {
			if run.By == authors.ByStep {
				wrote[blamed.Texts[run.From-1]] = blamed.Steps[run.Step].Session
			}
		}
		if wrote[want.line] != want.author {
			t.Errorf("the lines of %s are by %v", session, wrote)
		}
	}
	path, reports := program(t, t.TempDir(), "editor")
	prefer(p, func(prefs *backend.Preferences) { prefs.Editor = path })
	must[backend.Empty](p, "files.open", editors.OpenFileRequest{Session: theirs.ID, Path: "shell"})
	if got := told(t, reports); got != "editor\n<"+filepath.Join(p.folder, theirs.Worktree, "shell")+">\n" {
		t.Errorf("opened %s", got)
	}
	if _, err := call[backend.Empty](p, "files.open", editors.OpenFileRequest{Session: theirs.ID, Path: "../../../x"}); err == nil || err.ID != backend.ProblemChangesOutside {
		t.Errorf("%v", err)
	}
}
