package workbench_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/undoing"
)

// What an undo takes out can be redone although the journal's copy of it was damaged
// before, as by a power failure.
func TestUndoWithADamagedCopy(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	p.putFile("f", "a\n")
	p.step(session, "1", 0, func() { p.putFile("f", "b\n") }, "f")
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("b\n")))
	if err := os.Truncate(filepath.Join(p.home, "journal", "objects", sum[:2], sum[2:]), 1); err != nil {
		t.Fatal(err)
	}
	p.restore(session, undoing.UndoTarget{})
	if text := p.fileText("f"); text != "a\n" {
		t.Errorf("undone: %q", text)
	}
	done := p.restore(session, undoing.UndoTarget{Redo: true})
	if text := p.fileText("f"); text != "b\n" {
		t.Errorf("redone: %q, %+v", text, done)
	}
}

// A command that removes the project with its folder is undone like any other.
func TestUndoTheLossOfTheFolder(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	p.putFile("f", "a\n")
	p.step(session, "1", 0, func() {
		if err := errors.Join(os.Remove(filepath.Join(p.folder, "f")), os.Remove(p.folder)); err != nil {
			t.Fatal(err)
		}
	}, "f")
	if done := p.restore(session, undoing.UndoTarget{}); p.fileText("f") != "a\n" || len(done.Conflicts) > 0 {
		t.Errorf("%q, %+v", p.fileText("f"), done)
	}
}

// A preview changes nothing: it makes no folder where the project's was.
func TestPreviewLeavesALostFolder(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	p.putFile("f", "a\n")
	p.step(session, "1", 0, func() {
		if err := os.RemoveAll(p.folder); err != nil {
			t.Fatal(err)
		}
	}, "f")
	shown := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session})
	if len(shown.Files) != 1 || shown.Files[0].Effect != undoing.UndoBringsBack {
		t.Errorf("%+v", shown)
	}
	if _, err := os.Lstat(p.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the preview made the folder: %v", err)
	}
	if p.restore(session, undoing.UndoTarget{}); p.fileText("f") != "a\n" {
		t.Errorf("undone: %q", p.fileText("f"))
	}
}
