//go:build unix

package workbench_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/editors"
	"atelier.dev/atelier/backend/workbench"
)

// program makes a program that reports its name and its arguments, and returns
// its path and where to read that.
func program(t *testing.T, dir, name string) (path string, reports *bufio.Reader) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // for writing as well, so that the program does not wait for us
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n{ echo \"${0##*/}\"; printf '<%s>\\n' \"$@\"; echo; } >"+pipe+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, bufio.NewReader(f)
}

// told returns the next report of a program.
func told(t *testing.T, reports *bufio.Reader) string {
	t.Helper()
	var report strings.Builder
	for {
		line, err := reports.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\n" {
			return report.String()
		}
		report.WriteString(line)
	}
}

// A file is opened by the user's command, and what is in a name stays a name.
func TestOpenInThePreferredEditor(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	name := "-a $(id) `x` \"{line}\"; 中.txt"
	p.putFile(name, "1\n")
	path, reports := program(t, t.TempDir(), "my editor")
	for command, want := range map[string]string{
		"'" + path + "' --at {line} \"at {file}\"": "<--at>\n<7>\n<at " + filepath.Join(p.folder, name) + ">\n",
		"'" + path + "' ; rm":                      "<;>\n<rm>\n<" + filepath.Join(p.folder, name) + ">\n",
	} {
		prefer(p, func(prefs *backend.Preferences) { prefs.Editor = command })
		must[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: name, Line: 7})
		if got := told(t, reports); got != "my editor\n"+want {
			t.Errorf("%s: %s", command, got)
		}
	}
	must[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: filepath.Join(p.folder, name)})
	told(t, reports)
	for path, want := range map[string]backend.ProblemID{"../x": backend.ProblemChangesOutside, "/etc/passwd": backend.ProblemChangesOutside, "none": backend.ProblemFileMissing} {
		if _, err := call[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: path}); err == nil || err.ID != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	for command, want := range map[string]backend.ProblemID{
		"no-such-program-here {file}": backend.ProblemEditorAbsent, "./x {file}": backend.ProblemEditorAbsent, "/no/such {file}": backend.ProblemEditorAbsent,
	} {
		prefer(p, func(prefs *backend.Preferences) { prefs.Editor = command })
		if _, err := call[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: name}); err == nil || err.ID != want {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// Of the user's own files only that of settings is opened, for which the panels have links.
func TestOpenTheUsersSettings(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := newPage(t, t.TempDir(), t.TempDir(), func(name string) string { return map[string]string{"HOME": home}[name] })
	settings := filepath.Join(home, ".agent", "settings.json")
	path, reports := program(t, t.TempDir(), "edit")
	prefer(p, func(prefs *backend.Preferences) { prefs.Editor = path })
	if _, err := call[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: settings}); err == nil || err.ID != backend.ProblemFileMissing {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"settings.json", "other.json"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o755), os.WriteFile(filepath.Join(filepath.Dir(settings), name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	must[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: settings})
	if got := told(t, reports); got != "edit\n<"+settings+">\n" {
		t.Error(got)
	}
	other := filepath.Join(filepath.Dir(settings), "other.json")
	if _, err := call[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: other}); err == nil || err.ID != backend.ProblemChangesOutside {
		t.Errorf("%v", err)
	}
}

// An editor that cannot work is not silence. One that a busy machine starts late is
// not noticed, so it is asked again.
func TestAnEditorThatFails(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	p.putFile("f", "1\n")
	path := filepath.Join(t.TempDir(), "edit")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	prefer(p, func(prefs *backend.Preferences) { prefs.Editor = path })
	var err *backend.Error
	for err == nil {
		_, err = call[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: "f"})
	}
	if err.ID != backend.ProblemEditorEnded || err.Message != "edit ended at once with an error." {
		t.Errorf("%+v", err)
	}
}

// A batch file gets no name in which its interpreter would find commands.
func TestOpenInABatchFile(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	path, reports := program(t, t.TempDir(), "code.cmd")
	prefer(p, func(prefs *backend.Preferences) { prefs.Editor = path })
	for _, name := range []string{"a&calc", "a%PATH%", "a|b", "a^b"} {
		p.putFile(name, "1\n")
		if _, err := call[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: name}); err == nil || err.ID != backend.ProblemEditorFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.putFile("a b", "1\n")
	must[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: "a b"})
	if got := told(t, reports); got != "code.cmd\n<"+filepath.Join(p.folder, "a b")+">\n" {
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
	open := editors.OpenFileRequest{Path: "f", Line: 3}
	if _, err := call[backend.Empty](p, "files.open", open); err == nil || err.ID != backend.ProblemEditorMissing || err.Next != "Name one in Settings, such as code -g {file}:{line}." {
		t.Errorf("%+v", err)
	}
	_, kate := program(t, bin, "kate")
	_, gvim := program(t, bin, "gvim")
	_, zed := program(t, bin, "zed")
	file := filepath.Join(p.folder, "f")
	for _, tt := range []struct {
		visual, editor string
		reports        *bufio.Reader
		want           string
	}{
		{"", "vim", zed, "zed\n<" + file + ":3>\n"},
		{"", "gvim -f", gvim, "gvim\n<+3>\n<" + file + ">\n"},
		{"kate -b", "gvim", kate, "kate\n<--line>\n<3>\n<" + file + ">\n"},
	} {
		env["VISUAL"], env["EDITOR"] = tt.visual, tt.editor
		must[backend.Empty](p, "files.open", open)
		if got := told(t, tt.reports); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A command that is not valid is not stored. One that an earlier version stored
// does not stop other choices.
func TestEditorIsCheckedWhenItIsChosen(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	p.putFile("f", "1\n")
	for _, command := range []string{"'unclosed", "{file}", `"" x`, "code\n{file}", "code " + strings.Repeat("x", 4000)} {
		for method, args := range map[string]any{
			"preferences.change": workbench.PreferencesChange{After: backend.Preferences{Editor: command}}, "editors.check": editors.EditorCommand{Command: command}, "editors.try": editors.EditorCommand{Command: command},
		} {
			if _, err := call[json.RawMessage](p, method, args); err == nil || err.ID != backend.ProblemEditorInvalid {
				t.Errorf("%s %q: %v", method, command, err)
			}
		}
	}
	if err := p.store.SetSetting(t.Context(), backend.PreferencesSetting, `{"editor":"'unclosed"}`); err != nil {
		t.Fatal(err)
	}
	prefer(p, func(prefs *backend.Preferences) { prefs.Theme = "dark" })
	if _, err := call[backend.Empty](p, "files.open", editors.OpenFileRequest{Path: "f"}); err == nil || err.ID != backend.ProblemEditorInvalid {
		t.Errorf("open: %v", err)
	}
}

// The installed editors are listed, and a command is tried with a file of the
// project before it is stored.
func TestEditorsAreFoundAndTried(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	if got := must[editors.EditorList](p, "editors.list", backend.Empty{}); got.Found != nil || got.Automatic != "" {
		t.Errorf("without editors: %+v", got)
	}
	if _, err := call[editors.EditorAnswer](p, "editors.check", editors.EditorCommand{}); err == nil || err.ID != backend.ProblemEditorMissing {
		t.Errorf("automatic: %v", err)
	}
	_, kate := program(t, bin, "kate")
	program(t, bin, "zed")
	want := editors.EditorList{
		Found:     []editors.Editor{{Name: "Zed", Command: "zed {file}:{line}"}, {Name: "Kate", Command: "kate --line {line} {file}"}},
		Automatic: "Zed",
	}
	if diff := cmp.Diff(want, must[editors.EditorList](p, "editors.list", backend.Empty{})); diff != "" {
		t.Error(diff)
	}
	command := editors.EditorCommand{Command: "kate --line {line} {file}"}
	if got := must[editors.EditorAnswer](p, "editors.check", command); got.Name != "Kate" {
		t.Errorf("check: %+v", got)
	}
	if _, err := call[editors.EditorAnswer](p, "editors.check", editors.EditorCommand{Command: "absent"}); err == nil || err.ID != backend.ProblemEditorAbsent {
		t.Errorf("absent: %v", err)
	}

	if _, err := call[editors.EditorAnswer](p, "editors.try", command); err == nil || err.ID != backend.ProblemEditorNothing {
		t.Errorf("an empty project: %v", err)
	}
	p.putFile(".hidden", "")
	if err := os.Mkdir(filepath.Join(p.folder, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs/deep.md", "top.txt"} {
		p.putFile(name, "")
		if got := must[editors.EditorAnswer](p, "editors.try", command); got.Path != name {
			t.Errorf("try: %+v, want %s", got, name)
		}
		if got, want := told(t, kate), "kate\n<--line>\n<1>\n<"+filepath.Join(p.folder, name)+">\n"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	if got := must[backend.Preferences](p, "preferences.get", backend.Empty{}).Editor; got != "" {
		t.Errorf("stored by trying: %q", got)
	}
}

// Fonts out of bounds are not stored.
func TestFontsAreCheckedWhenTheyAreChosen(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	fonts := backend.Fonts{Interface: backend.Font{Family: "DejaVu Sans", Size: 15}, Code: backend.Font{Family: backend.SystemFont}}
	prefer(p, func(prefs *backend.Preferences) { prefs.Fonts = fonts })
	for want, wrong := range map[backend.ProblemID]backend.Font{backend.ProblemFontSize: {Size: 40}, backend.ProblemFontName: {Family: `x";}`}} {
		if _, err := call[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: backend.Preferences{Fonts: backend.Fonts{Code: wrong}}}); err == nil || err.ID != want {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if got := must[backend.Preferences](p, "preferences.get", backend.Empty{}).Fonts; got != fonts {
		t.Errorf("stored: %+v", got)
	}
}
