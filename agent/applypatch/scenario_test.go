package applypatch_test

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"atelier.dev/atelier/agent/applypatch"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite what the scenarios expect")

// Each scenario is an archive: the files before, a patch, and the result, which
// is the files after and the summary, or an error and the unchanged files. A
// section named "… quoted" is a Go string, for text that an archive cannot
// hold.
func TestScenarios(t *testing.T) { // LOOP-29, LOOP-50, LOOP-51, LOOP-109
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 60 {
		t.Fatalf("%d scenarios, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			given, want := sections(t, archive)
			got := play(t, given)
			if *update {
				rewrite(t, name, archive, got)
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// play applies the given patch to the given files and returns the resulting
// sections.
func play(t *testing.T, given map[string]string) map[string]string {
	t.Helper()
	before := map[string]string{}
	for name, content := range given {
		if path, found := strings.CutPrefix(name, "before/"); found {
			before[path] = content
		}
	}
	root := tree(t, before)
	checkDraft(t, given["patch"])
	plan, err := applypatch.Apply(root, given["patch"])
	after := contents(t, root)
	if err != nil {
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("after an error (-before +after):\n%s", diff)
		}
		if e := (*applypatch.Error)(nil); !errors.As(err, &e) {
			t.Errorf("%T is not an *Error", err)
		}
		return map[string]string{"error": err.Error() + "\n"}
	}
	checkPlan(t, plan, before, after)
	out := map[string]string{"summary": plan.Summary()}
	for path, content := range after {
		out["after/"+path] = content
	}
	return out
}

// checkDraft compares a patch that is read in pieces with the same patch read
// as a whole.
func checkDraft(t *testing.T, text string) {
	t.Helper()
	want, wantErr := applypatch.Parse(text)
	var d applypatch.Draft
	for i := range len(text) {
		d.Append(text[i : i+1])
	}
	drafted := slices.Clone(d.Operations())
	got, err := d.Finish()
	if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) {
		t.Errorf("in pieces: %v, as a whole: %v (-whole +pieces):\n%s", err, wantErr, diff)
	}
	if err == nil && len(drafted) != len(want.Operations) {
		t.Errorf("the draft showed %d operations, want %d", len(drafted), len(want.Operations))
	}
}

// checkPlan compares a plan with what happened.
func checkPlan(t *testing.T, plan *applypatch.Plan, before, after map[string]string) {
	t.Helper()
	want := maps.Clone(before)
	for _, c := range plan.Changes {
		path := filepath.ToSlash(filepath.Clean(c.Path))
		if old, existed := before[path]; old != c.Before || existed != (c.Kind != applypatch.Add || c.Overwrites) {
			t.Errorf("%s was %q (%t) before, not %q", path, old, existed, c.Before)
		}
		if c.MoveTo != "" || c.Kind == applypatch.Delete {
			delete(want, path)
		}
		if c.MoveTo != "" {
			path = filepath.ToSlash(filepath.Clean(c.MoveTo))
		}
		if c.Kind != applypatch.Delete {
			want[path] = c.After
		}
	}
	if diff := cmp.Diff(want, after, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("files (-planned +written):\n%s", diff)
	}
}

// tree makes a directory with files.
func tree(t testing.TB, files map[string]string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	for path, content := range files {
		err := errors.Join(root.MkdirAll(filepath.Dir(path), 0o755), root.WriteFile(path, []byte(content), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// contents returns the files of a directory, including temporary ones.
func contents(t testing.TB, root *os.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := root.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sections divides an archive's files into given and expected ones.
func sections(t *testing.T, archive *txtar.Archive) (given, want map[string]string) {
	t.Helper()
	given, want = map[string]string{}, map[string]string{}
	for _, f := range archive.Files {
		name, quoted := strings.CutSuffix(f.Name, " quoted")
		text := string(f.Data)
		if quoted {
			var err error
			if text, err = strconv.Unquote(strings.TrimSpace(text)); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
		if isGiven(name) {
			given[name] = text
		} else {
			want[name] = text
		}
	}
	return given, want
}

func isGiven(name string) bool { return name == "patch" || strings.HasPrefix(name, "before/") }

// needsQuotes reports whether an archive would lose or hide part of a text.
func needsQuotes(text string) bool {
	hidden := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
	return text != "" && !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") ||
		strings.Contains(text, " \n") || strings.ContainsFunc(text, hidden)
}

// rewrite replaces the expected sections of an archive.
func rewrite(t *testing.T, name string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
		return !isGiven(strings.TrimSuffix(f.Name, " quoted"))
	})
	for _, section := range slices.Sorted(maps.Keys(got)) {
		text := got[section]
		if needsQuotes(text) {
			section, text = section+" quoted", strconv.Quote(text)+"\n"
		}
		archive.Files = append(archive.Files, txtar.File{Name: section, Data: []byte(text)})
	}
	if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
