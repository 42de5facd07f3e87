//go:build unix

package workbench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/branch"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/undoing"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/keystore"
)

// crashingUndo names the home, the folder and the session of a process that undoes what
// it can there, and the file after which it is killed.
const crashingUndo = "WORKBENCH_TEST_CRASHING_UNDO"

// undoUntilKilled is that process. Nothing of it runs after the signal.
func undoUntilKilled(of string) {
	var home, folder, session, last string
	for i, part := range strings.SplitN(of, "\n", 4) {
		*[]*string{&home, &folder, &session, &last}[i] = part
	}
	ctx := context.Background()
	store, err := storage.Open(ctx, home)
	if err != nil {
		panic(err)
	}
	bench := workbench.New(workbench.Config{Folder: folder, Home: home, Version: "test", Store: store, Keys: keystore.New(home), Getenv: os.Getenv})
	ask := func(method string, args, reply any) {
		text, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		answer := struct {
			OK    any
			Error *backend.Error
		}{OK: reply}
		if err := json.Unmarshal([]byte(bench.Call(ctx, method, string(text))), &answer); err != nil || answer.Error != nil {
			panic(fmt.Sprint(err, answer.Error))
		}
	}
	var preview undoing.UndoPreview
	ask("undo.preview", undoing.UndoPreviewRequest{Session: session}, &preview)
	go func() {
		for {
			if text, err := os.ReadFile(filepath.Join(folder, last)); err == nil && string(text) == "a\n" {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
	}()
	ask("undo.apply", undoing.UndoApplyRequest{Session: session, Target: preview.Target, Files: choices(preview)}, &undoing.UndoReply{})
	select {} // until the file was seen
}

// A program is killed in the middle of undoing many files: each file is as it was or as
// it should be, opening the session settles what was done, and that can be redone.
func TestUndoThatIsKilled(t *testing.T) {
	t.Parallel()
	const files, moments, most = 24, 12, 100
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	var names []string
	for i := range files {
		names = append(names, fmt.Sprintf("f%02d", i))
	}
	fill := func(text string) {
		for _, name := range names {
			p.putFile(name, text)
		}
	}
	fill("a\n")
	p.step(session, "1", 0, func() { fill("b\n") }, names...)
	cut := 0
	for moment := 0; moment < moments || cut == 0 && moment < most; moment++ {
		p.close()
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), crashingUndo+"="+strings.Join([]string{home, p.folder, session, names[rand.IntN(files)]}, "\n"))
		if out, err := c.CombinedOutput(); c.ProcessState == nil || c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%v: %s", err, out)
		}
		p = newPage(t, folder, home, environment(llmtest.Serve(t), ""))
		opened := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session})
		if left, _ := filepath.Glob(filepath.Join(home, "restoring", "*")); len(left) > 0 {
			t.Fatalf("%v is left to settle", left)
		}
		if left, _ := filepath.Glob(filepath.Join(p.folder, ".atelier-*")); len(left) > 0 {
			t.Errorf("%v is left behind", left)
		}
		var undone []string
		for _, name := range names {
			switch text := p.fileText(name); text {
			case "a\n":
				undone = append(undone, name)
			case "b\n":
			default:
				t.Errorf("%s is neither old nor new: %q", name, text)
			}
		}
		if len(undone) < files {
			cut++
		}
		settled, ok := opened.Events[len(opened.Events)-1].Data.(agent.FilesRestored)
		var recorded []string
		for _, f := range settled.Files {
			recorded = append(recorded, f.Path)
		}
		if diff := cmp.Diff(undone, recorded); !ok || diff != "" {
			t.Errorf("the log does not say what was undone: %s", diff)
		}
		p.restore(session, undoing.UndoTarget{Redo: true})
		for _, name := range names {
			if text := p.fileText(name); text != "b\n" {
				t.Errorf("%s is not redone: %q", name, text)
			}
		}
	}
	if cut == 0 {
		t.Error("no process was killed between two files")
	}
}

// What undoes files without a preview settles first what a crash cut off.
func TestUndoSettlesFirst(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	p.putFile("f", "a\n")
	p.putFile("g", "a\n")
	p.step(session, "1", 0, func() { p.putFile("f", "b\n") }, "f")
	p.step(session, "2", 0, func() { p.putFile("g", "b\n") }, "g")
	first, second := undoing.UndoTarget{Step: &agent.StepRef{Session: session, Call: "1"}}, undoing.UndoTarget{Step: &agent.StepRef{Session: session, Call: "2"}}
	cut := p.restore(session, first)
	p.restore(session, undoing.UndoTarget{Redo: true})
	preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: second})
	cut.ID = "cut-off"
	put(t, filepath.Join(p.home, "restoring", session+".json"), string(marshal(t, cut)))
	p.putFile("f", "a\n")
	must[undoing.UndoReply](p, "undo.apply", undoing.UndoApplyRequest{Session: session, Target: second, Files: choices(preview)})
	redo := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: undoing.UndoTarget{Restoration: "cut-off"}})
	if len(redo.Files) != 1 || redo.Files[0].Path != "f" || p.fileText("f") != "a\n" || p.fileText("g") != "a\n" {
		t.Errorf("%+v, %q, %q", redo, p.fileText("f"), p.fileText("g"))
	}
	if _, err := call[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session}); err == nil || err.ID != backend.ProblemUndoNothing {
		t.Errorf("something is left to undo: %v", err)
	}
}

// What is undone in a session while a command of another one runs is not said to be a
// change by that command, which undoing it would bring back.
func TestUndoBesideACommand(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session, other := p.session("compat"), p.session("compat")
	p.putFile("f", "a\n")
	p.step(session, "1", 0, func() { p.putFile("f", "b\n") }, "f")
	began, goes := filepath.Join(p.folder, "began"), filepath.Join(p.folder, "goes")
	for _, pipe := range []string{began, goes} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.runs(other, "echo b > g; echo > began; cat goes; echo b > h")
	if _, err := os.ReadFile(began); err != nil {
		t.Fatal(err)
	}
	if done := p.restore(session, undoing.UndoTarget{}); len(done.Files) != 1 || p.fileText("f") != "a\n" {
		t.Errorf("%+v, %q", done, p.fileText("f"))
	}
	if err := os.WriteFile(goes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var changed []string
	for _, f := range await(p, anyOf[agent.LocalCommandEnd]).Files.Files {
		changed = append(changed, f.Path)
	}
	if diff := cmp.Diff([]string{"g", "h"}, changed); diff != "" {
		t.Errorf("what the command is said to have changed: %s", diff)
	}
}

// unsaved is a store that does not take restorations while fails is set.
type unsaved struct {
	backend.Store
	fails *atomic.Bool
}

func (u unsaved) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	if u.fails.Load() && slices.ContainsFunc(events, func(ev agent.Event) bool { return ev.Kind() == agent.KindFilesRestored }) {
		return 0, errFault
	}
	return u.Store.Append(ctx, events...)
}

// A file was taken over from another branch when the program ended, and the log does
// not say so: opening the session enters it, once, and it can be undone.
func TestTakeThatWasCutOff(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	p := newPageOn(t, environment(llmtest.Serve(t), ""), func(s *storage.Store) backend.Store { return unsaved{s, &fails} })
	ours := p.session("compat")
	p.putFile("f", "0\n")
	theirs := fork(p, workbench.ForkRequest{Session: ours}).Session.ID
	p.step(theirs, "1", 0, func() { p.putFile("f", "theirs\n") }, "f")
	p.putFile("f", "0\n")
	shown := must[branch.CompareFileReply](p, "sessions.compare_file", branch.CompareFileRequest{Session: ours, With: theirs, Path: "f"})
	if shown.Take == nil {
		t.Fatalf("%+v", shown)
	}
	fails.Store(true)
	take := branch.TakeRequest{Session: ours, With: theirs, Path: "f", Seal: shown.Take.Seal}
	if _, err := call[agent.FilesRestored](p, "sessions.take", take); err == nil || p.fileText("f") != "theirs\n" {
		t.Fatalf("%v, %q", err, p.fileText("f"))
	}
	fails.Store(false)
	intent := filepath.Join(p.home, "restoring", ours+".json")
	note, err := os.ReadFile(intent)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		opened := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: ours})
		taken := slices.DeleteFunc(opened.Events, func(ev agent.Event) bool {
			d, ok := ev.Data.(agent.FilesRestored)
			return !ok || d.Taken != theirs || len(d.Files) != 1
		})
		if _, err := os.Stat(intent); len(taken) != 1 || !os.IsNotExist(err) {
			t.Fatalf("it is %d times in the log, %v", len(taken), err)
		}
		put(t, intent, string(note)) // as if the program had ended before it was removed
	}
	p.restore(ours, undoing.UndoTarget{})
	if text := p.fileText("f"); text != "0\n" {
		t.Errorf("undone, it is %q", text)
	}
}
