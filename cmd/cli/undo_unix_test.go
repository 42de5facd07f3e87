//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/storage"
)

// expect runs the program, and checks its exit code and that it says something.
func (p *place) expect(code int, says string, args ...string) {
	p.t.Helper()
	out, errs, got := p.run(args...)
	if got != code || !strings.Contains(out+errs, says) {
		p.t.Errorf("%v: exit %d, want %d and %q: %s%s", args, got, code, says, out, errs)
	}
}

// OC-09: what the newest turn did is undone and redone from the command line, after it
// was shown; what was changed since stays.
func TestUndo(t *testing.T) {
	t.Parallel()
	p := newPlace(t, write("a.txt", "1\n2\n3\n"), llmtest.Round{Text: "One."}, write("b.txt", "b\n"), write("c.txt", "c\n"), llmtest.Round{Text: "Two."})
	for _, prompt := range []string{"make a", "make b and c"} {
		if _, errs, code := p.run("run", "--model", "openai/test-model", "--permission-mode", "acceptEdits", prompt); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	session := p.sessions("list", "--json")[0].ID
	has := func(names string) {
		t.Helper()
		var got []string
		for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
			if _, err := os.Stat(filepath.Join(p.folder, name)); err == nil {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != names {
			t.Errorf("the folder has %v, want %s", got, names)
		}
	}
	p.expect(1, "The conversation was not changed.", "redo", "--conversation", "--yes")
	p.expect(2, "exclude each other", "undo", "--both", "--code")
	p.expect(2, "of files only", "undo", "--step", "--both")
	p.expect(0, "Exit code:", "undo", "--help")
	p.expect(1, "Nothing was changed.", "undo") // nobody answers
	p.expect(0, `"effect":"removes"`, "undo", "--json")
	has("a.txt b.txt c.txt")
	p.expect(0, "is removed        c.txt", "undo", "--step", "--yes")
	has("a.txt b.txt")
	p.expect(0, "is brought back   c.txt", "redo", "--yes")
	p.expect(1, "There is nothing to redo", "redo", "--yes")
	p.expect(0, "Rewound: make b and c", "undo", "--both", "--yes")
	has("a.txt")
	p.expect(0, "The conversation is as it was.", "redo", "--conversation", "--yes")
	has("a.txt")

	store, err := storage.Open(t.Context(), p.home)
	if err != nil {
		t.Fatal(err)
	}
	release, err := store.Lease(session)
	if err != nil {
		t.Fatal(err)
	}
	p.expect(1, "Another Atelier", "redo", "--yes", session)
	has("a.txt")
	release()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	p.expect(0, "Files that were redone: 2", "redo", "--yes", session[:20])
	if err := os.WriteFile(filepath.Join(p.folder, "b.txt"), []byte("b\nmine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.expect(1, "stays             b.txt  (it was changed since", "undo", "--yes")
	has("a.txt b.txt")
	p.expect(1, "Nothing can be undone.", "undo", "--yes")
}
