package memo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/memo"
)

// A note is shown as it will be written, stands at the end of the file, and is what sessions read (OC-05).
func TestANoteIsAddedAsShown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, note, after string }{
		"no file":             {"", "Use tabs.", "- Use tabs.\n"},
		"a file":              {"# Rules\n", " Use tabs. ", "# Rules\n- Use tabs.\n"},
		"no line end":         {"# Rules", "Use tabs.", "# Rules\n- Use tabs.\n"},
		"lines end with CRLF": {"# Rules\r\nOne", "Two:\nmore", "# Rules\r\nOne\r\n- Two:\r\n  more\r\n"},
		"several lines":       {"", "Use tabs:\r\nalways.  ", "- Use tabs:\n  always.\n"},
		"what is in it stays": {"- 一\n- Ünï\n", "Three", "- 一\n- Ünï\n- Three\n"},
	} {
		for _, scope := range []memo.MemoScope{memo.ScopeProject, memo.ScopeUser} {
			t.Run(name+" "+string(scope), func(t *testing.T) {
				t.Parallel()
				folder, home := t.TempDir(), t.TempDir()
				dir := map[memo.MemoScope]string{memo.ScopeProject: folder, memo.ScopeUser: home}[scope]
				path := filepath.Join(dir, "AGENTS.md")
				if tt.before != "" {
					if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				notes := memo.New(memo.Config{Folder: folder, Home: home})
				shown, err := notes.Preview(t.Context(), memo.MemoNote{Scope: scope, Text: tt.note})
				if err != nil || shown.Path != path || shown.IsNew != (tt.before == "") {
					t.Fatalf("%+v %v", shown, err)
				}
				if b, _ := os.ReadFile(path); string(b) != tt.before {
					t.Fatal("a preview wrote")
				}
				if _, err := notes.Add(t.Context(), memo.MemoNote{Scope: scope, Text: tt.note}); err != nil {
					t.Fatal(err)
				}
				b, _ := os.ReadFile(path)
				if string(b) != tt.after || string(b) != tt.before+shown.Added {
					t.Errorf("%q, shown %q", b, shown.Added)
				}
				var read []project.Document
				if scope == memo.ScopeUser {
					read = project.User(home)
				} else {
					read = project.Query{Folder: folder, Names: []string{"AGENTS.md"}}.Documents()
				}
				if len(read) != 1 || strings.TrimSpace(read[0].Text) != strings.TrimSpace(tt.after) {
					t.Errorf("sessions read %+v", read)
				}
			})
		}
	}
}

func TestWhatCannotBeWrittenIsSaid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make     func(path string) error
		readOnly bool
		note     memo.MemoNote
		want     backend.ProblemID
	}{
		"nothing":       {note: memo.MemoNote{Scope: memo.ScopeProject, Text: " \n"}, want: backend.ProblemMemoEmpty},
		"too long":      {note: memo.MemoNote{Scope: memo.ScopeProject, Text: strings.Repeat("x", 4001)}, want: backend.ProblemMemoLong},
		"another scope": {note: memo.MemoNote{Scope: "team", Text: "x"}, want: backend.ProblemArguments},
		"read-only":     {readOnly: true, note: memo.MemoNote{Scope: memo.ScopeProject, Text: "x"}, want: backend.ProblemChangesReadOnly},
		"a folder":      {make: func(path string) error { return os.Mkdir(path, 0o700) }, note: memo.MemoNote{Scope: memo.ScopeProject, Text: "x"}, want: backend.ProblemMemoFailed},
		"a large file":  {make: func(path string) error { return os.WriteFile(path, make([]byte, 1<<20+1), 0o600) }, note: memo.MemoNote{Scope: memo.ScopeProject, Text: "x"}, want: backend.ProblemMemoFailed},
		"UTF-16":        {make: func(path string) error { return os.WriteFile(path, []byte("\xff\xfeR\x00"), 0o600) }, note: memo.MemoNote{Scope: memo.ScopeProject, Text: "x"}, want: backend.ProblemMemoFailed},
		"a link that leads out": {make: func(path string) error { return os.Symlink("../../etc/passwd", path) },
			note: memo.MemoNote{Scope: memo.ScopeProject, Text: "x"}, want: backend.ProblemMemoFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if tt.make != nil {
				if err := tt.make(filepath.Join(folder, "AGENTS.md")); err != nil {
					t.Skip(err)
				}
			}
			_, err := memo.New(memo.Config{Folder: folder, Home: t.TempDir(), ReadOnly: tt.readOnly}).Add(t.Context(), tt.note)
			var problem *backend.Error
			if !errors.As(err, &problem) || problem.ID != tt.want {
				t.Errorf("%v", err)
			}
		})
	}
}
