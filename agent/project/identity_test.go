package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/project"
)

// A project is known again by its first commit and its place in the repository, or
// by its folder on the disk. Nothing is written into it.
func TestIdentify(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git: %v: %s", err, out)
		}
	}
	old, clone, plain := filepath.Join(top, "old"), filepath.Join(top, "clone"), filepath.Join(top, "plain")
	for _, dir := range []string{filepath.Join(old, "web"), plain} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git(old, "init", "-q")
	if id := project.Identify(t.Context(), old); id.Root != "" {
		t.Errorf("without commits: %+v", id)
	}
	git(old, "commit", "-q", "--allow-empty", "-m", "first")
	git(old, "commit", "-q", "--allow-empty", "-m", "second")
	git(top, "clone", "-q", old, clone)
	if err := os.Mkdir(filepath.Join(clone, "web"), 0o700); err != nil {
		t.Fatal(err)
	}
	was, web := project.Identify(t.Context(), old), project.Identify(t.Context(), filepath.Join(old, "web"))
	if !strings.HasSuffix(was.Root, ":.") || !strings.HasSuffix(web.Root, ":web") {
		t.Errorf("%+v, %+v", was, web)
	}
	if by, same := project.Identify(t.Context(), clone).Is(was); !same || by != "root" {
		t.Errorf("clone: %q", by)
	}
	if by, same := project.Identify(t.Context(), filepath.Join(clone, "web")).Is(was); same {
		t.Errorf("another folder of the repository: %q", by)
	}
	if _, same := project.Identify(t.Context(), plain).Is(project.Identity{}); same {
		t.Error("nothing is the same as nothing")
	}
	left, err := os.ReadDir(plain)
	if err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
	before := project.Identify(t.Context(), plain)
	if before.Marker == "" {
		return // the system does not tell
	}
	if err := os.Rename(plain, filepath.Join(top, "renamed")); err != nil {
		t.Fatal(err)
	}
	if by, same := project.Identify(t.Context(), filepath.Join(top, "renamed")).Is(before); !same || by != "marker" {
		t.Errorf("renamed: %q", by)
	}
	if err := os.Mkdir(plain, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, same := project.Identify(t.Context(), plain).Is(before); same {
		t.Error("a new folder in its place is taken for it")
	}
}
