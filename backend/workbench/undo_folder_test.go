package workbench_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/workbench"
)

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
	if done := p.restore(session, workbench.UndoTarget{}); p.fileText("f") != "a\n" || len(done.Conflicts) > 0 {
		t.Errorf("%q, %+v", p.fileText("f"), done)
	}
}
