package env

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLines(t *testing.T) { // LOOP-23
	t.Parallel()
	long := strings.Repeat("x", maxLine+5)
	l := newLocal(t, map[string]string{
		"plain": "one\ntwo\nthree\n", "open": "one\ntwo", "crlf": "one\r\ntwo\r\n", "bom": "\uFEFFone\n",
		"empty": "", "unknown": "\xff\xfd\n", "long": long + "\nend\n", "blank": "\n\n",
		"wide": strings.Repeat(strings.Repeat("y", 1000)+"\n", 1000),
	})
	tests := []struct {
		name, path    string
		offset, limit int
		want          Page
	}{
		{"all", "plain", 1, 10, Page{Lines: []string{"one", "two", "three"}, First: 1, Total: 3}},
		{"offset 0 is 1", "plain", 0, 1, Page{Lines: []string{"one"}, First: 1, Total: 3, More: true}},
		{"middle", "plain", 2, 1, Page{Lines: []string{"two"}, First: 2, Total: 3, More: true}},
		{"end", "plain", 3, 5, Page{Lines: []string{"three"}, First: 3, Total: 3}},
		{"past the end", "plain", 9, 5, Page{First: 9, Total: 3}},
		{"no final newline", "open", 1, 10, Page{Lines: []string{"one", "two"}, First: 1, Total: 2}},
		{"CRLF", "crlf", 1, 10, Page{Lines: []string{"one", "two"}, First: 1, Total: 2}},
		{"BOM", "bom", 1, 10, Page{Lines: []string{"one"}, First: 1, Total: 1}},
		{"empty", "empty", 1, 10, Page{First: 1}},
		{"blank lines", "blank", 1, 10, Page{Lines: []string{"", ""}, First: 1, Total: 2}},
		{"not UTF-8", "unknown", 1, 10, Page{Lines: []string{"\uFFFD"}, First: 1, Total: 1, Encoding: UnknownEncoding}},
		{"long line", "long", 1, 10, Page{Lines: []string{long[:maxLine] + " [... 5 more bytes in this line]", "end"}, First: 1, Total: 2}},
	}
	for _, tt := range tests {
		got, err := l.ReadLines(t.Context(), tt.path, tt.offset, tt.limit)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		tt.want.Hash = Hash([]byte(content(t, filepath.Join(l.dir, tt.path))))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if page, err := l.ReadLines(t.Context(), "wide", 1, 1000); err != nil || !page.More || len(page.Lines) > 300 {
		t.Errorf("a wide page has %d lines, more %t, %v: want it cut by size", len(page.Lines), page.More, err)
	}
}

func TestFilesRefusesSpecialFiles(t *testing.T) { // LOOP-23, LOOP-24, K-39
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, "secret")
	l := newLocal(t, map[string]string{"file": "x", "binary.png": "\x89PNG\x00\x00", "twin": "x", "dir/file": "x", "locked": "x"})
	in := func(name string) string { return filepath.Join(l.dir, name) }
	symlink(t, outside, in("escape"))
	symlink(t, filepath.Dir(outside), in("escapedir"))
	symlink(t, "file", in("link"))
	symlink(t, "loop", in("loop"))
	symlink(t, "nowhere", in("dangling"))
	if err := errors.Join(syscall.Mkfifo(in("fifo"), 0o600), os.Link(in("twin"), in("twin2")), os.Chmod(in("locked"), 0o444)); err != nil {
		t.Fatal(err)
	}
	read := func(path string) error { _, err := l.ReadLines(t.Context(), path, 1, 10); return err }
	whole := func(path string) error { _, err := l.ReadFile(t.Context(), path); return err }
	save := func(path string) error { return l.WriteFile(t.Context(), path, []byte("changed")) }
	tests := []struct {
		path, onRead, onWrite string // the file is empty: it succeeds
	}{
		{"", "no path", "no path"},
		{"a\x00b", "NUL", "NUL"},
		{"missing", "does not exist", ""},
		{"file/below", "does not exist", "part of its path is a file"},
		{"dir", "is a directory", "is a directory"},
		{"fifo", "is a named pipe", "is a named pipe"},
		{"/dev/zero", "is a device", "is a device"},
		{"escape", "leads out of the project", "symbolic link"},
		{"escapedir/secret", "leads out of the project", "leads out of the project"},
		{"escapedir/new", "leads out of the project", "leads out of the project"},
		{"loop", "", "symbolic link"},
		{"dangling", "does not exist", "symbolic link"},
		{"link", "", "symbolic link"},
		{"binary.png", "is a binary png file", ""},
		{"twin", "", "hard links"},
		{"locked", "", "is read-only"},
		{outside, "", ""},
	}
	for _, tt := range tests {
		if tt.path == "loop" {
			tt.onRead = "circle"
		}
		checkProblem(t, "ReadLines", tt.path, read(tt.path), tt.onRead)
		if tt.path == "binary.png" {
			checkProblem(t, "CheckText", tt.path, CheckText(tt.path, []byte(content(t, in(tt.path)))), tt.onRead)
			tt.onRead = ""
		}
		checkProblem(t, "ReadFile", tt.path, whole(tt.path), tt.onRead)
		checkProblem(t, "WriteFile", tt.path, save(tt.path), tt.onWrite)
	}
	if got := content(t, in("link")); got != "x" {
		t.Errorf("the link's target holds %q", got)
	}
	if left, _ := filepath.Glob(in(".atelier-*")); len(left) > 0 {
		t.Errorf("temporary files left: %q", left)
	}
}

func checkProblem(t *testing.T, what, path string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s(%q): %v", what, path, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s(%q) = %v, want %q", what, path, err, want)
	}
}

func TestLargeFileIsPagedInConstantMemory(t *testing.T) { // R-OUT
	const size = 100 << 20
	l := newLocal(t, nil)
	f, err := os.Create(filepath.Join(l.dir, "big.log"))
	if err != nil {
		t.Fatal(err)
	}
	lines := []byte(strings.Repeat(strings.Repeat("0", 99)+"\n", 1<<14))
	for at := int64(0); at < size; at += int64(len(lines)) {
		if _, err := f.WriteAt(lines[:min(int64(len(lines)), size-at)], at); err != nil {
			t.Fatal(err)
		}
	}
	_, err = fmt.Fprintf(io.NewOffsetWriter(f, (size/200-1)*100), "%099d\n", size/200)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	page, err := l.ReadLines(t.Context(), "big.log", size/200, 2)
	runtime.ReadMemStats(&after)
	if err != nil || len(page.Lines) != 2 || page.Lines[0] != fmt.Sprintf("%099d", size/200) || !page.More || page.Total != -1 || page.Hash != "" {
		t.Errorf("page %+v, %v", page, err)
	}
	if _, err := l.ReadFile(t.Context(), "big.log"); err == nil || !strings.Contains(err.Error(), "is too large to be read whole: it has 100 MB") {
		t.Errorf("ReadFile: %v", err)
	}
	if live := int64(after.HeapInuse) - int64(before.HeapInuse); live > 32<<20 {
		t.Errorf("the heap grew by %d MB", live>>20)
	}
}

func TestWriteFile(t *testing.T) { // LOOP-24, R-EDIT
	t.Parallel()
	l := newLocal(t, map[string]string{"script.sh": "old"})
	name := filepath.Join(l.dir, "script.sh")
	if err := os.Chmod(name, 0o751); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string]string{"script.sh": "new", "a/b/c.txt": "\xff\r\n", filepath.Join(l.dir, "abs"): ""} {
		if err := l.WriteFile(t.Context(), path, []byte(data)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(l.dir, path)
		}
		if got := content(t, path); got != data {
			t.Errorf("%s holds %q, want %q", path, got, data)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v: want it kept", info.Mode(), err)
	}
}

func TestWriteFileKeepsExtendedAttributes(t *testing.T) { // R-EDIT
	t.Parallel()
	l := newLocal(t, map[string]string{"f": "old"})
	name := filepath.Join(l.dir, "f")
	want := map[string]string{"user.origin": "https://example.org", "user.empty": "", "user.bytes": "\x00\xff"}
	for key, value := range want {
		if err := syscall.Setxattr(name, key, []byte(value), 0); err != nil {
			t.Skip("the file system has no extended attributes: ", err)
		}
	}
	for _, mode := range []fs.FileMode{0o640, 0o200} { // the second cannot be read, only replaced
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		if err := l.WriteFile(t.Context(), "f", []byte("new")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
		}
		if mode == 0o200 && os.Getuid() != 0 {
			break // its attributes cannot be read either
		}
		for key, value := range want {
			buffer := make([]byte, 100)
			n, err := syscall.Getxattr(name, key, buffer)
			if err != nil || string(buffer[:n]) != value {
				t.Errorf("mode %v: %s is %q, %v; want %q", mode, key, buffer[:max(n, 0)], err, value)
			}
		}
	}
}

func TestWriteFileIsAllOrNothing(t *testing.T) { // R-EDIT: disk full
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	write(t, filepath.Join(dir, "file"), "old")
	l, err := NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = l.WriteFile(t.Context(), "file", make([]byte, 1<<20))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("error %v", err)
	}
	if got := content(t, filepath.Join(dir, "file")); got != "old" {
		t.Errorf("the file holds %d bytes", len(got))
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestSymlinkRaceNeverLeaks(t *testing.T) { // K-39, T12
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "dir")
	write(t, filepath.Join(outside, "file"), "secret")
	l := newLocal(t, map[string]string{"inside/file": "public"})
	in := func(name string) string { return filepath.Join(l.dir, name) }
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() { // flips "place" between a directory and a link to the outside
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Symlink(outside, in("place"))
			_ = os.Remove(in("place"))
			_ = os.Rename(in("inside"), in("place"))
			_ = os.Rename(in("place"), in("inside"))
		}
	})
	reads := 0
	for range 20000 {
		data, err := l.ReadFile(t.Context(), "place/file")
		if string(data) == "secret" {
			t.Fatal("the race leaked the outside file")
		}
		if err == nil {
			reads++
		}
		if err := l.WriteFile(t.Context(), "place/new", []byte("x")); err == nil {
			reads++
		}
		if reads > 100 {
			break
		}
	}
	close(stop)
	swapper.Wait()
	if _, err := os.Stat(filepath.Join(outside, "new")); err == nil {
		t.Error("the race wrote outside")
	}
}

func TestStatAndListDirectory(t *testing.T) { // LOOP-34
	t.Parallel()
	l := newLocal(t, map[string]string{"a.txt": "abc", "sub/b.txt": "", "sub/deep/c.txt": ""})
	info, err := l.Stat(t.Context(), "a.txt")
	if err != nil || info.Size != 3 || !info.Mode.IsRegular() || info.ModTime.IsZero() {
		t.Errorf("Stat = %+v, %v", info, err)
	}
	if _, err := l.Stat(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of a missing file: %v", err)
	}
	for depth, want := range map[int][]Entry{
		1: {{Path: "a.txt", Size: 3}, {Path: "sub", Dir: true}},
		2: {{Path: "a.txt", Size: 3}, {Path: "sub", Dir: true}, {Path: "sub/b.txt"}, {Path: "sub/deep", Dir: true}},
	} {
		got, err := l.ListDirectory(t.Context(), ".", depth)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("depth %d: %v (-want +got):\n%s", depth, err, diff)
		}
	}
	if got, err := l.ListDirectory(t.Context(), "sub", 1); err != nil || len(got) != 2 || got[0].Path != "b.txt" {
		t.Errorf("sub: %+v, %v", got, err)
	}
	if _, err := l.ListDirectory(t.Context(), "none", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

func TestListDirectorySkipsUnreadableEntries(t *testing.T) {
	t.Parallel()
	l := newLocal(t, map[string]string{"a/f": "", "b/f": "", "c/f": ""})
	closed := filepath.Join(l.dir, "b")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	var got []Entry
	var err error
	asNobody(t, l.dir, func() { got, err = l.ListDirectory(t.Context(), ".", 2) })
	want := []Entry{{Path: "a", Dir: true}, {Path: "a/f"}, {Path: "b", Dir: true, Unreadable: true}, {Path: "c", Dir: true}, {Path: "c/f"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// asNobody runs do without root's power over other users' files. The folder is
// one that it may enter nevertheless.
func asNobody(t *testing.T, folder string, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	const nobody = 65534
	if err := os.Chmod(filepath.Dir(folder), 0o755); err != nil { // the test's own, above the folder
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := syscall.Setfsuid(nobody)
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A file has no name while it is written, so that a program that is killed
// during the write leaves nothing behind.
func TestUnfinishedFilesHaveNoName(t *testing.T) {
	t.Parallel()
	l := newLocal(t, map[string]string{"old": "x"})
	p, err := l.locate("old")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	f, err := openUnnamed(p.root, ".")
	if err != nil {
		t.Skipf("this file system cannot: %v", err)
	}
	if err := p.fill(t.Context(), f, nil, []byte("new")); err != nil {
		t.Fatal(err)
	}
	names := func() (names []string) {
		entries, err := os.ReadDir(l.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := names(); !slices.Equal(got, []string{"old"}) {
		t.Errorf("while it is written: %q", got)
	}
	if err := nameUnnamed(p.root, ".", "new", f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(l.dir, "new")); got != "new" {
		t.Errorf("the file holds %q", got)
	}
	if err := l.WriteFile(t.Context(), "old", []byte("newer")); err != nil || content(t, filepath.Join(l.dir, "old")) != "newer" {
		t.Errorf("a file that exists: %v", err)
	}
	if got := names(); !slices.Equal(got, []string{"new", "old"}) {
		t.Errorf("afterwards: %q", got)
	}
}
