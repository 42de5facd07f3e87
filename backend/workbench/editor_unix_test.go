//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
)

// program makes a program that reports its name and its arguments, and returns
// its path and the pipe to read from.
func program(t *testing.T, dir, name string) (path, told string) {
	t.Helper()
	told = filepath.Join(t.TempDir(), "told")
	if err := syscall.Mkfifo(told, 0o600); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n{ echo \"${0##*/}\"; printf '<%s>\\n' \"$@\"; } >"+told+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, told
}

func told(t *testing.T, pipe string) string {
	t.Helper()
	data, err := os.ReadFile(pipe) // returns when the program has written
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A file is opened by the user's command, and what is in a name stays a name.
func TestOpenInThePreferredEditor(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	name := "-a $(id) `x` \"{line}\"; 中.txt"
	p.putFile(name, "1\n")
	path, pipe := program(t, t.TempDir(), "my editor")
	for command, want := range map[string]string{
		"'" + path + "' --at {line} \"at {file}\"": "<--at>\n<7>\n<at " + filepath.Join(p.folder, name) + ">\n",
		"'" + path + "' ; rm":                      "<;>\n<rm>\n<" + filepath.Join(p.folder, name) + ">\n",
	} {
		prefer(p, func(prefs *backend.Preferences) { prefs.Editor = command })
		must[backend.Empty](p, "files.open", workbench.OpenFileRequest{Path: name, Line: 7})
		if got := told(t, pipe); got != "my editor\n"+want {
			t.Errorf("%s: %s", command, got)
		}
	}
	must[backend.Empty](p, "files.open", workbench.OpenFileRequest{Path: filepath.Join(p.folder, name)})
	told(t, pipe)
	for path, want := range map[string]backend.ProblemID{"../x": backend.ProblemChangesOutside, "/etc/passwd": backend.ProblemChangesOutside, "none": backend.ProblemFileMissing} {
		if _, err := call[backend.Empty](p, "files.open", workbench.OpenFileRequest{Path: path}); err == nil || err.ID != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	for command, want := range map[string]backend.ProblemID{
		"'unclosed": backend.ProblemEditorInvalid, "{file}": backend.ProblemEditorInvalid, "\"\" x": backend.ProblemEditorInvalid,
		"no-such-program-here {file}": backend.ProblemEditorFailed, "./x {file}": backend.ProblemEditorFailed, "/no/such {file}": backend.ProblemEditorFailed,
	} {
		prefer(p, func(prefs *backend.Preferences) { prefs.Editor = command })
		if _, err := call[backend.Empty](p, "files.open", workbench.OpenFileRequest{Path: name}); err == nil || err.ID != want {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// A batch file gets no name in which its interpreter would find commands.
func TestOpenInABatchFile(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	path, pipe := program(t, t.TempDir(), "code.cmd")
	prefer(p, func(prefs *backend.Preferences) { prefs.Editor = path })
	for _, name := range []string{"a&calc", "a%PATH%", "a|b", "a^b"} {
		p.putFile(name, "1\n")
		if _, err := call[backend.Empty](p, "files.open", workbench.OpenFileRequest{Path: name}); err == nil || err.ID != backend.ProblemEditorFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.putFile("a b", "1\n")
	must[backend.Empty](p, "files.open", workbench.OpenFileRequest{Path: "a b"})
	if got := told(t, pipe); got != "code.cmd\n<"+filepath.Join(p.folder, "a b")+">\n" {
		t.Error(got)
	}
}

// Without a preference, the environment's editor is used if it has a window,
// else the first known one that is installed.
func TestOpenInAKnownEditor(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	env := map[string]string{"EDITOR": "vim"}
	p := newPage(t, t.TempDir(), t.TempDir(), func(name string) string { return env[name] })
	p.putFile("f", "1\n")
	open := workbench.OpenFileRequest{Path: "f", Line: 3}
	if _, err := call[backend.Empty](p, "files.open", open); err == nil || err.ID != backend.ProblemEditorMissing || err.Next != "Name one in Settings, such as code -g {file}:{line}." {
		t.Errorf("%+v", err)
	}
	_, kate := program(t, bin, "kate")
	_, gvim := program(t, bin, "gvim")
	_, zed := program(t, bin, "zed")
	file := filepath.Join(p.folder, "f")
	for _, tt := range []struct{ visual, editor, pipe, want string }{
		{"", "vim", zed, "zed\n<" + file + ":3>\n"},
		{"", "gvim -f", gvim, "gvim\n<+3>\n<" + file + ">\n"},
		{"kate -b", "gvim", kate, "kate\n<--line>\n<3>\n<" + file + ">\n"},
	} {
		env["VISUAL"], env["EDITOR"] = tt.visual, tt.editor
		must[backend.Empty](p, "files.open", open)
		if got := told(t, tt.pipe); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
