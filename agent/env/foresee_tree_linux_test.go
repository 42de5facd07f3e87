package env

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program is given the names that another one finds only if each of them
// stands for one file of the project. K-42.
func TestForeseesNamesThatAreHandedOver(t *testing.T) {
	t.Parallel()
	l, write := workplace(t)
	free := func(want map[string]bool) {
		t.Helper()
		for line, want := range want {
			if _, ok := l.Foresee(t.Context(), line, ""); ok != want {
				t.Errorf("%s: foreseen %t", line, ok)
			}
		}
	}
	free(map[string]bool{
		"find . -type f | xargs wc -l": true, "find . -exec head -1 {} +": true, "git ls-files | xargs cat": true, "find . -print0 | xargs -0 grep one": true,
		"timeout 5 find . -exec cat {} +": true, "for f in *.txt sub/*; do cat \"$f\"; done": true, "rg -l one | xargs cat": true,
	})
	write("sub/with space.txt", "x")
	free(map[string]bool{
		"find . -type f | xargs wc -l": false, "find sub | xargs cat": false, "rg -l one | xargs cat": false,
		"find . -name 'c*' | xargs cat": true, "find . -name 'w*' | xargs cat": false, "find . -not -name 'c*' | xargs cat": false, "find . -name 'c*' -o -name 'w*' | xargs cat": false,
		"find . -exec head -1 {} +": true, "find . -print0 | xargs -0 grep one": true, "for f in sub/*; do cat \"$f\"; done": true,
	})
	if err := os.Remove(filepath.Join(l.dir, "sub/with space.txt")); err != nil {
		t.Fatal(err)
	}
	// The name of the folder is a part of the names.
	write("the sub/c.txt", "x")
	write("-n/c.txt", "x")
	free(map[string]bool{
		"find 'the sub' | xargs cat": false, "rg --files 'the sub' | xargs cat": false, "find 'the sub' -print0 | xargs -0 cat": true, "find 'the sub' -exec cat {} +": true,
		"rg --files -- -n | xargs cat": false, "rg --files ./-n | xargs cat": true,
	})
	for _, name := range []string{"the sub", "-n"} {
		if err := os.RemoveAll(filepath.Join(l.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// grep says of such a name that it is binary, and xargs would take that for names.
	write("sub/\xff", "x")
	free(map[string]bool{"find sub | grep c | xargs cat": false, "find sub -name 'c*' | grep c | xargs cat": true, "find sub -print0 | xargs -0 cat": true})
	if err := os.Remove(filepath.Join(l.dir, "sub/\xff")); err != nil {
		t.Fatal(err)
	}
	write("-rf", "x")
	free(map[string]bool{"git ls-files | xargs cat": false, "find . -exec cat {} +": true, "for f in *; do cat \"$f\"; done": false})
	free(map[string]bool{"git ls-files -z | xargs -0 sed -n 1p": false, "rg -l one | xargs sed -n 1p": false, "find . -print0 | xargs -0 sed -n 1p": true})
	write("sub/.env", "x")
	free(map[string]bool{"find . -exec cat {} +": true})
	for line, want := range map[string]bool{
		"find . -name '*.txt' -exec cat {} +": false, "find . -exec head -n 1 {} +": true, "find . -name '*.txt' -exec cat {} + -o -exec cat {} +": true, "find . -exec grep -name '*.txt' {} +": true,
	} {
		if f, _ := l.Foresee(t.Context(), line, ""); want != slices.ContainsFunc(f.Reads, func(path string) bool { return strings.HasSuffix(path, "/.env") }) {
			t.Errorf("%s reads %q", line, f.Reads)
		}
	}
	for _, line := range []string{"find . -exec cat {} +", "find sub -print0 | xargs -0 head"} {
		if f, ok := l.Foresee(t.Context(), line, ""); !ok || !slices.ContainsFunc(f.Reads, func(path string) bool { return strings.HasSuffix(path, "/.env") }) {
			t.Errorf("%s: %t %+v", line, ok, f)
		}
	}
	for target, want := range map[string]bool{"a.txt": true, "none": true, ".env": false, "/etc/hostname": false} {
		link := filepath.Join(l.dir, "sub/link")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		free(map[string]bool{"find sub -exec cat {} +": want})
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// Git lists what is in its index, even names that no file of the project can have,
// or of which there is no file.
func TestForeseesNamesThatOnlyTheIndexHas(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]map[string]bool{
		"gone.txt":              {"git ls-files | xargs cat": true, "git ls-files -z | xargs -0 sed -n 1p": true},
		"-e1e id":               {"git ls-files | xargs cat": false, "git ls-files -z | xargs -0 sed -n 1p": false},
		"sub/a -i":              {"git ls-files | xargs sed -n 1p": false, "git ls-files -z | xargs -0 sed -n 1p": true},
		"../../../../etc/group": {"git ls-files -z | xargs -0 cat": false},
	} {
		l, _ := workplace(t)
		const placeholder = "aaaaaaaaaaaaaaaaaaaaa" // as long as the longest name
		short := placeholder[:len(name)]
		git(t, l.dir, "update-index", "--add", "--cacheinfo", "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,"+short)
		index := filepath.Join(l.dir, ".git/index")
		data, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.Replace(data, []byte(short+"\x00"), []byte(name+"\x00"), 1) // git itself refuses some names
		if err := os.WriteFile(index, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for line, want := range lines {
			if _, ok := l.Foresee(t.Context(), line, ""); ok != want {
				t.Errorf("%q: %s: foreseen %t", name, line, ok)
			}
		}
	}
}
