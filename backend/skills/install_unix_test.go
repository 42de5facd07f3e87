//go:build unix

package skills

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// entry is something in an archive.
type entry struct {
	name, text string
	mode       os.FileMode
	kind       byte // of a tar; 0 is a file
}

func (f *fixture) zip(name string, entries ...entry) string {
	f.t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode)
		file, err := w.CreateHeader(h)
		if err != nil {
			f.t.Fatal(err)
		}
		if _, err := file.Write([]byte(e.text)); err != nil {
			f.t.Fatal(err)
		}
	}
	return f.archive(name, b, w.Close())
}

func (f *fixture) tar(name string, entries ...entry) string {
	f.t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: int64(e.mode.Perm()), Typeflag: e.kind, Size: int64(len(e.text))}
		if e.kind != 0 && e.kind != tar.TypeReg {
			h.Linkname, h.Size, e.text = e.text, 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			f.t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			f.t.Fatal(err)
		}
	}
	return f.archive(name, b, errors.Join(w.Close(), z.Close()))
}

func (f *fixture) archive(name string, b bytes.Buffer, err error) string {
	f.t.Helper()
	path := f.path("../" + name)
	if err := errors.Join(err, os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// An installation shows first what it would write, and then writes exactly that, with the
// modes that were shown. The replaced files are in the trash, if it may be replaced.
func TestInstall(t *testing.T) {
	t.Parallel()
	one := []entry{
		{"repo/", "", os.ModeDir | 0o755, tar.TypeDir}, {"repo/README.md", "About.", 0o644, 0}, {"repo/.git/config", "x", 0o644, 0},
		{"repo/one/SKILL.md", md("one", "!`date`"), 0o755, 0}, {"repo/one/bin/tool", "x", 0o755, 0}, {"repo/one/notes.md", "x", 0o644, 0},
		{"repo/two/skill.md", md("two", "Two."), 0o644, 0}, {"repo/one/nested/SKILL.md", md("nested", "x"), 0o644, 0},
	}
	for name, pack := range map[string]func(f *fixture) string{
		"a zip": func(f *fixture) string { return f.zip("x.zip", one...) }, "a skill": func(f *fixture) string { return f.zip("x.SKILL", one...) },
		"a tar": func(f *fixture) string { return f.tar("x.tar.gz", one...) },
		"a folder": func(f *fixture) string {
			for _, e := range one {
				if !e.mode.IsDir() {
					f.write("../from/"+e.name, e.text)
					if err := os.Chmod(f.path("../from/"+e.name), e.mode); err != nil {
						t.Fatal(err)
					}
				}
			}
			return f.path("../from")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(".agent/skills/TWO/SKILL.md", md("TWO", "before"))
			in := SkillInstallRequest{Path: pack(f), Scope: agent.ScopeProject}
			found, err := f.Inspect(t.Context(), in)
			if err != nil || len(found.Skills) != 2 {
				t.Fatalf("%+v, %v", found, err)
			}
			x := found.Skills[0]
			files := []SkillFile{{"bin/tool", 1, true, "x"}, {"nested/SKILL.md", int64(len(md("nested", "x"))), false, ""}, {"notes.md", 1, false, ""}}
			if x.Name != "one" || x.Taken || !slices.Equal(x.Lines, []string{"date"}) || !gocmp.Equal(files, x.Files) || x.Text != md("one", "!`date`") || !found.Skills[1].Taken {
				t.Errorf("%+v", found.Skills)
			}
			if _, err := os.Stat(f.path(".agent/skills/one")); err == nil {
				t.Fatal("it was written before it was decided about")
			}
			in.Seal, in.Names = found.Seal, []string{"one", "two"}
			if _, err := f.Install(t.Context(), in); problem(err) != backend.ProblemSkillTaken {
				t.Fatal(err)
			}
			in.Replace = true
			if _, err := f.Install(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			for file, mode := range map[string]os.FileMode{"one/SKILL.md": 0o755, "one/bin/tool": 0o755, "one/notes.md": 0o644, "one/nested/SKILL.md": 0o644, "two/SKILL.md": 0o644} {
				if info, err := os.Stat(f.path(".agent/skills/" + file)); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v, %v", file, info, err)
				}
			}
			if list, err := os.ReadDir(f.path(".agent/skills")); err != nil || len(list) != 2 {
				t.Errorf("%v, %v", list, err)
			}
			if old, err := filepath.Glob(filepath.Join(f.home, "trash/skills/*/TWO/SKILL.md")); err != nil || len(old) != 1 {
				t.Errorf("%q, %v", old, err)
			}
			if row := f.row(".agent/skills/one/SKILL.md"); row.State != SkillUntrusted {
				t.Errorf("%+v", row)
			}
		})
	}
}

// An installation writes what was shown: a change in between is refused, and so is another
// scope.
func TestInstallOfWhatChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := SkillInstallRequest{Path: f.zip("a.zip", entry{"SKILL.md", md("solo", "x"), 0o644, 0}), Scope: agent.ScopeUser}
	found, err := f.Inspect(t.Context(), in)
	if err != nil || found.Skills[0].Name != "solo" {
		t.Fatalf("%+v, %v", found, err)
	}
	in.Seal, in.Names = found.Seal, []string{"solo"}
	for what, change := range map[string]func(in *SkillInstallRequest){
		"a mode":        func(in *SkillInstallRequest) { f.zip("a.zip", entry{"SKILL.md", md("solo", "x"), 0o755, 0}) },
		"a text":        func(in *SkillInstallRequest) { f.zip("a.zip", entry{"SKILL.md", md("solo", "y"), 0o644, 0}) },
		"another scope": func(in *SkillInstallRequest) { in.Scope = agent.ScopeProject },
	} {
		f.zip("a.zip", entry{"SKILL.md", md("solo", "x"), 0o644, 0})
		other := in
		change(&other)
		if _, err := f.Install(t.Context(), other); problem(err) != backend.ProblemParcelChanged {
			t.Errorf("%s: %v", what, err)
		}
	}
	f.zip("a.zip", entry{"SKILL.md", md("solo", "x"), 0o644, 0})
	if _, err := f.Install(t.Context(), in); err != nil || f.read("~/.agent/skills/solo/SKILL.md") != md("solo", "x") {
		t.Error(err)
	}
}

// A hostile archive or folder is refused as a whole, and nothing is written anywhere.
func TestHostileParcels(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	main := entry{"x/SKILL.md", md("x", "x"), 0o644, 0}
	with := func(more ...entry) []entry { return append([]entry{main}, more...) }
	var many []entry
	for i := range maxEntries {
		many = append(many, entry{fmt.Sprintf("x/%d", i), "", 0o644, 0})
	}
	big := entry{"x/big", strings.Repeat("\x00", maxSmall+1), 0o644, 0}
	tests := map[string]backend.ProblemID{
		f.zip("slip.zip", with(entry{"../out", "x", 0o644, 0})...): "skill_parcel_entry", f.zip("deep.zip", with(entry{"x/../../out", "x", 0o644, 0})...): "skill_parcel_entry",
		f.zip("abs.zip", with(entry{"/tmp/out", "x", 0o644, 0})...): "skill_parcel_entry", f.zip("drive.zip", with(entry{"C:/out", "x", 0o644, 0})...): "skill_parcel_entry",
		f.zip("back.zip", with(entry{`x\..\..\out`, "x", 0o644, 0})...): "skill_parcel_entry", f.zip("device.zip", with(entry{"x/NUL.txt", "x", 0o644, 0})...): "skill_parcel_entry",
		f.zip("link.zip", with(entry{"x/link", "/etc/passwd", os.ModeSymlink | 0o777, 0})...): "skill_parcel_entry",
		f.zip("case.zip", with(entry{"x/skill.MD", "x", 0o644, 0})...):                        "skill_parcel_entry",
		f.zip("twice.zip", with(main)...):                                                     "skill_parcel_entry", f.zip("both.zip", with(entry{"x/a", "x", 0o644, 0}, entry{"x/a/b", "x", 0o644, 0})...): "skill_parcel_entry",
		f.zip("names.zip", with(entry{"y/X/SKILL.md", md("x", "x"), 0o644, 0})...): "skill_parcel_entry", f.zip("hidden.zip", with(entry{"x/a\u202eb", "x", 0o644, 0})...): "skill_parcel_entry",
		f.zip("many.zip", with(many...)...): "skill_parcel_large", f.zip("bomb.zip", with(big)...): "skill_parcel_large", f.tar("bomb.tgz", with(big)...): "skill_parcel_large",
		f.tar("passed.tgz", with(entry{"x/.git/big", strings.Repeat("\x00", maxSmall+2048*maxEntries), 0o644, 0})...): "skill_parcel_large",
		f.tar("link.tgz", with(entry{"x/link", "/etc/passwd", 0o777, tar.TypeSymlink})...):                            "skill_parcel_entry",
		f.tar("hard.tgz", with(entry{"x/hard", "x/SKILL.md", 0o644, tar.TypeLink})...):                                "skill_parcel_entry",
		f.tar("fifo.tgz", with(entry{"x/fifo", "", 0o644, tar.TypeFifo})...):                                          "skill_parcel_entry", f.tar("char.tgz", with(entry{"x/char", "", 0o644, tar.TypeChar})...): "skill_parcel_entry",
		f.zip("none.zip", entry{"README.md", "x", 0o644, 0}): "skill_parcel_empty", f.archive("junk.zip", *bytes.NewBufferString("junk"), nil): "skill_parcel_unread",
		f.archive("x.txt", *bytes.NewBufferString("x"), nil): "skill_parcel_path", "relative.zip": "skill_parcel_path", f.path("../missing.zip"): "skill_parcel_unread",
	}
	f.write("../links/x/SKILL.md", md("x", "x"))
	if err := os.Symlink("/etc/passwd", f.path("../links/x/link")); err != nil {
		t.Fatal(err)
	}
	tests[f.path("../links")] = "skill_parcel_entry"
	before := f.tree()
	for path, want := range tests {
		_, err := f.Inspect(t.Context(), SkillInstallRequest{Path: path, Scope: agent.ScopeUser})
		if problem(err) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		if _, err := f.Install(t.Context(), SkillInstallRequest{Path: path, Scope: agent.ScopeUser, Names: []string{"x"}}); problem(err) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	if diff := gocmp.Diff(before, f.tree()); diff != "" {
		t.Error(diff)
	}
}

// tree lists everything but the database.
func (f *fixture) tree() (out []string) {
	f.t.Helper()
	err := filepath.WalkDir(filepath.Dir(f.folder), func(path string, d os.DirEntry, err error) error {
		if path == f.home {
			return filepath.SkipDir
		}
		out = append(out, path)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}
