package applypatch_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/applypatch"
	"github.com/google/go-cmp/cmp"
)

// every is a patch with every kind of change; files has the files that it
// changes.
const every = `*** Begin Patch
*** Add File: new/deep/file
+new
*** Add File: over
+written over
*** Update File: updated
@@
-one
+1
*** Update File: moved
*** Move to: elsewhere/moved
@@
-two
+2
*** Update File: replacing
*** Move to: replaced
@@
-three
+3
*** Delete File: deleted
*** End Patch
`

var files = map[string]string{
	"over": "old\n", "updated": "one\n", "moved": "two\n", "replacing": "three\n", "replaced": "four\n", "deleted": "five\n", "other": "six\n",
}

// faulty fails its nth call, or every call from the nth on, and passes on the
// others.
type faulty struct {
	*os.Root
	n       int
	forever bool
	full    bool // instead, a file opened for writing fails at its first write
}

var errFault = errors.New("injected fault")

func (f *faulty) fails() bool {
	f.n--
	return f.n == 0 || f.forever && f.n < 0
}

func (f *faulty) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if !f.fails() {
		return f.Root.OpenFile(name, flag, perm)
	}
	if f.full && flag&os.O_CREATE != 0 {
		return os.OpenFile("/dev/full", os.O_WRONLY, 0)
	}
	return nil, errFault
}

func (f *faulty) Lstat(name string) (fs.FileInfo, error) {
	if f.fails() {
		return nil, errFault
	}
	return f.Root.Lstat(name)
}

func (f *faulty) Mkdir(name string, perm fs.FileMode) error {
	if f.fails() {
		return errFault
	}
	return f.Root.Mkdir(name, perm)
}

func (f *faulty) Rename(from, to string) error {
	if f.fails() {
		return errFault
	}
	return f.Root.Rename(from, to)
}

func (f *faulty) Remove(name string) error {
	if f.fails() {
		return errFault
	}
	return f.Root.Remove(name)
}

// snapshot returns everything in a directory, with permissions.
func snapshot(t testing.TB, root *os.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if info.Mode().IsRegular() {
			data, err = root.ReadFile(path)
		}
		out[path] = fmt.Sprintf("%s %q", info.Mode(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whichever call fails, the directory is unchanged, or completely patched if
// only the cleanup failed.
func TestAFaultAtAnyStepLeavesNothingOfThePatch(t *testing.T) { // LOOP-51
	t.Parallel()
	const never = 1000
	done := &faulty{Root: tree(t, files), n: never}
	if _, err := applypatch.Apply(done, every); err != nil {
		t.Fatal(err)
	}
	want := snapshot(t, done.Root)
	for n := range never - done.n {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprintf("call=%d,full=%t", n+1, full), func(t *testing.T) {
				t.Parallel()
				root := tree(t, files)
				before := snapshot(t, root)
				_, err := applypatch.Apply(&faulty{Root: root, n: n + 1, full: full}, every)
				after := snapshot(t, root)
				if err != nil && strings.Contains(err.Error(), "was applied, but left files behind") {
					before = maps.Clone(after)
					maps.Copy(before, want)
				} else if err == nil { // a fault without consequence
					before = want
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// If the rollback fails too, no content is lost, and the error says where it
// is.
func TestNoContentIsLostWhenUndoingFails(t *testing.T) { // LOOP-51
	t.Parallel()
	told := 0
	for n := 1; ; n++ {
		root := tree(t, files)
		plan := planned(t, root, every)
		f := &faulty{Root: root, n: n, forever: true}
		err := plan.Commit(f)
		if f.n > 0 {
			break
		}
		after := contents(t, root)
		if err == nil || strings.Contains(err.Error(), "was applied") {
			continue
		}
		for path, content := range files {
			if after[path] == content {
				continue
			}
			told++
			_, kept, _ := strings.Cut(err.Error(), "the old content of "+path+" is in ")
			kept, _, _ = strings.Cut(kept, ":")
			if after[kept] != content {
				t.Errorf("call %d: %s is not in %q: %v", n, path, kept, err)
			}
		}
		for _, path := range []string{"new/deep/file", "elsewhere/moved"} {
			if _, remains := after[path]; remains && !strings.Contains(err.Error(), path+" remains as a new file") {
				t.Errorf("call %d: %s is there: %v", n, path, err)
			}
		}
	}
	if told == 0 {
		t.Error("undoing never failed")
	}
}

func planned(t *testing.T, root *os.Root, text string) *applypatch.Plan {
	t.Helper()
	patch, err := applypatch.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := patch.Plan(root.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestCommitRefusesFilesThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(root *os.Root) error
		want   string
	}{
		{"updated", func(r *os.Root) error { return r.WriteFile("updated", []byte("one\nmore\n"), 0o644) }, "updated has changed meanwhile"},
		{"move target", func(r *os.Root) error { return r.WriteFile("replaced", nil, 0o644) }, "replaced has changed meanwhile"},
		{"gone", func(r *os.Root) error { return r.Remove("deleted") }, "read deleted"},
		{"new file is there", func(r *os.Root) error {
			return errors.Join(r.MkdirAll("new/deep", 0o755), r.WriteFile("new/deep/file", nil, 0o644))
		}, "new/deep/file has come into being meanwhile"},
		{"new place is there", func(r *os.Root) error {
			return errors.Join(r.Mkdir("elsewhere", 0o755), r.WriteFile("elsewhere/moved", nil, 0o644))
		}, "elsewhere/moved has come into being meanwhile"},
	}
	for _, tt := range tests {
		root := tree(t, files)
		plan := planned(t, root, every)
		if err := tt.change(root); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, root)
		if err := plan.Commit(root); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if diff := cmp.Diff(before, snapshot(t, root)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", tt.name, diff)
		}
	}
}

func TestPermissionsAreKept(t *testing.T) {
	t.Parallel()
	root := tree(t, files)
	for path, mode := range map[string]fs.FileMode{"over": 0o600, "updated": 0o755, "moved": 0o750, "replacing": 0o700, "replaced": 0o666} {
		if err := root.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := applypatch.Apply(root, every); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{"over": 0o600, "updated": 0o755, "elsewhere/moved": 0o750, "replaced": 0o700} {
		if info, err := root.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// A plan can be made by a reader that follows links. Committing it neither
// changes a link's target nor replaces the link by a file.
func TestCommitRefusesSpecialFiles(t *testing.T) { // K-39
	t.Parallel()
	tests := []struct {
		name string
		path string
		make func(root *os.Root) error
		want string
	}{
		{"symbolic link", "link", func(r *os.Root) error { return r.Symlink("target", "link") }, "symbolic link"},
		{"hard link", "twin", func(r *os.Root) error { return r.Link("target", "twin") }, "2 names"},
		{"read-only", "target", func(r *os.Root) error { return r.Chmod("target", 0o444) }, "is read-only"},
		{"out of the root", "out/x", func(r *os.Root) error { return r.Symlink(os.TempDir(), "out") }, "escapes"},
	}
	for _, tt := range tests {
		for _, operation := range []string{"*** Update File: %s\n@@\n-x\n+y\n", "*** Add File: %s\n+y\n", "*** Update File: other\n*** Move to: %s\n"} {
			root := tree(t, map[string]string{"target": "x\n", "other": "z\n"})
			if err := tt.make(root); err != nil {
				t.Fatal(err)
			}
			patch, err := applypatch.Parse("*** Begin Patch\n" + fmt.Sprintf(operation, tt.path) + "*** End Patch\n")
			if err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, root)
			plan, err := patch.Plan(func(path string) ([]byte, error) {
				if path == "out/x" {
					return []byte("x\n"), nil
				}
				return root.ReadFile(path)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Commit(root); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %q: %v, want %q", tt.name, operation, err, tt.want)
			}
			if diff := cmp.Diff(before, snapshot(t, root)); diff != "" {
				t.Errorf("%s (-before +after):\n%s", tt.name, diff)
			}
		}
	}
}

func TestOneFileUnderTwoNamesIsRefused(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"dir/f": "x\ny\n"})
	if err := root.Symlink("dir", "same"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"*** Update File: dir/f\n@@\n-x\n+1\n*** Update File: same/f\n@@\n-y\n+2\n",
		"*** Update File: dir/f\n*** Move to: same/f\n@@\n-x\n+1\n",
		"*** Add File: dir/new\n+1\n*** Add File: same/new\n+2\n",
	} {
		before := snapshot(t, root)
		if _, err := applypatch.Apply(root, "*** Begin Patch\n"+text+"*** End Patch\n"); err == nil {
			t.Errorf("applied:\n%s", text)
		}
		if diff := cmp.Diff(before, snapshot(t, root)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", text, diff)
		}
	}
}

// recorder records the changed names in order.
type recorder struct {
	*os.Root
	renamed []string
}

func (r *recorder) Rename(from, to string) error {
	for _, name := range []string{from, to} {
		if !strings.Contains(name, ".atelier-") {
			r.renamed = append(r.renamed, name)
		}
	}
	return r.Root.Rename(from, to)
}

// The content of a moved file exists at any time, under one of its names.
func TestAMovedFileIsWrittenBeforeTheOldOneGoes(t *testing.T) {
	t.Parallel()
	r := &recorder{Root: tree(t, files)}
	if _, err := applypatch.Apply(r, every); err != nil {
		t.Fatal(err)
	}
	want := []string{"new/deep/file", "over", "updated", "elsewhere/moved", "moved", "replaced", "replacing", "deleted"}
	if diff := cmp.Diff(want, r.renamed); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// An updated file exists at any time, complete.
func TestAReaderSeesTheOldFileOrTheNew(t *testing.T) {
	t.Parallel()
	old, new := strings.Repeat("old\n", 5000), strings.Repeat("old\n", 4999)+"new\n"
	root := tree(t, map[string]string{"f": old})
	stop, bad := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(bad)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if data, err := root.ReadFile("f"); err != nil || string(data) != old && string(data) != new {
				bad <- fmt.Errorf("read %d bytes, %v", len(data), err)
				return
			}
		}
	}()
	for range 20 {
		for _, text := range []string{"-old\n+new", "-new\n+old"} {
			if _, err := applypatch.Apply(root, "*** Begin Patch\n*** Update File: f\n@@\n"+text+"\n*** End of File\n*** End Patch"); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	if err := <-bad; err != nil {
		t.Error(err)
	}
	if names := slices.Collect(maps.Keys(contents(t, root))); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}
