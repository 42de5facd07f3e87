package env_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withModules is a repository with two submodules, one of which has another one, and one
// with a git folder of its own, as old versions of git made them.
func withModules(t *testing.T) *confinedRepository {
	t.Helper()
	r := newConfinedRepository(t)
	r.user(`cp -r . ../deep && cp -r . ../module && cd ../module && git -c protocol.file.allow=always submodule --quiet add ../deep inner && git commit -qm inner &&
cd ../project && git -c protocol.file.allow=always submodule --quiet add ../module sub && git -c protocol.file.allow=always submodule --quiet update --init --recursive &&
git -c protocol.file.allow=always submodule --quiet add ../deep lib/other && git clone -q ../deep old && git add old 2>/dev/null && git commit -qm modules &&
for m in sub sub/inner lib/other old; do git -C $m switch -qC main; done`)
	return r
}

// K-47: everyday git commands work in submodules as in their project, in one line with it,
// and where the submodule is the project.
func TestConfinedGitWorksInSubmodules(t *testing.T) {
	t.Parallel()
	lines := []string{
		"cd sub && echo n >n.txt && git add n.txt && git commit -qm n", "git -C sub log --oneline | head -1", "git add sub && git commit -qm bump",
		"cd lib/other && echo n >n && git add -A && git commit -qm n && cd ../.. && git add lib/other && git commit -qm both",
		"git -C sub/inner commit -q --allow-empty -m inner && git -C sub add inner && git -C sub commit -qm inner && git add sub && git commit -qm all",
		"cd old && git commit -q --allow-empty -m old && git switch -qc side && git switch -q main && git branch -D side",
		"cd sub; git switch -qc topic; echo t >t; git add t; git stash; git stash pop; git commit -qm t; git switch -q main; git merge -q topic; git branch -d topic",
		"cd sub/src && git rm -q x.go && git commit -qm gone", "git -C sub reset -q --hard HEAD~1 && git -C sub clean -fd && git -C sub tag v2", "git -C lib/other branch -m main trunk",
		"for m in sub lib/other; do git -C $m status --short; done", "git commit -q --allow-empty -m last && git status --short",
	}
	t.Run("from the project", func(t *testing.T) {
		t.Parallel()
		r := withModules(t)
		for _, line := range lines {
			if got := r.agent(line); got.ExitCode != 0 || len(got.Notes) > 0 {
				t.Errorf("%s: exit code %d %q\n%s", line, got.ExitCode, got.Notes, got.Stdout)
			}
		}
		if got := r.user("git -C sub log --oneline | wc -l; git -C lib/other branch --show-current; git fsck 2>&1; git -C sub fsck; git submodule status >/dev/null; ls -a .git/modules/sub | grep -c commondir # may fail"); !strings.HasPrefix(got, "6\ntrunk\n") || !strings.HasSuffix(got, "\n0\n") {
			t.Error(got)
		}
	})
	for _, module := range []string{"sub", "sub/inner", "old"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			r := withModules(t)
			r.at(filepath.Join(r.dir, module))
			for _, line := range []string{"echo n >n.txt; git add n.txt", "git commit -qm n", "git switch -qc topic && git switch -q main && git branch -D topic", "git stash -u || true", "git status --short"} {
				if got := r.agent(line); got.ExitCode != 0 || len(got.Notes) > 0 {
					t.Errorf("%s: exit code %d %q\n%s", line, got.ExitCode, got.Notes, got.Stdout)
				}
			}
		})
	}
}

// K-47: nothing that a confined command leaves in a submodule runs by the user's next git
// command, in it or in the project.
func TestConfinedGitLeavesNothingInSubmodules(t *testing.T) {
	t.Parallel()
	const monitor = `printf '[core]\n\tfsmonitor = touch $PWNED;\n' >>`
	for name, lines := range map[string][]string{
		"by another program":     {monitor + ".git/modules/sub/config; " + monitor + "old/.git/config; printf '#!/bin/sh\ntouch $PWNED\n' >.git/modules/sub/hooks/pre-commit"},
		"by git":                 {"git -C sub config core.fsmonitor 'touch $PWNED;'", "git -C sub diff --output=../.git/modules/sub/commondir", "cd sub && git commit -q --allow-empty -m x && git config core.fsmonitor 'touch $PWNED;'"},
		"another place":          {"cp -r .git/modules/sub evil; " + monitor + "evil/config; echo 'gitdir: ../evil' >sub/.git; git -C sub commit -q --allow-empty -m x"},
		"a repository of others": {"rm -rf sub/.git; echo \"gitdir: $HOME/mine/.git\" >sub/.git", "git -C sub commit -q --allow-empty -m x", "mkdir -p new && echo \"gitdir: $HOME/mine/.git\" >new/.git && cd new", "cd new && git commit -q --allow-empty -m x"},
		"the inner one":          {"cd sub && git commit -q --allow-empty -m x; echo ../../../evil >../.git/modules/sub/modules/inner/commondir", monitor + ".git/modules/sub/modules/inner/config"},
		"a hook": {
			"cd sub && printf '#!/bin/sh\ncd $(git rev-parse --git-dir); (" + strings.ReplaceAll(monitor, "'", `"`) + "config; echo x >commondir; echo x >config.worktree; echo x >../../config) 2>/dev/null; echo y >hooks/post-commit; true\n' >run.sh",
			"cd sub && git add -A && git commit -qm x",
		},
		"renamed": {"mv .git/modules/sub .git/modules/gone; mv sub/.git sub/git; cp -r sub/git sub/.git", "git -C sub commit -q --allow-empty -m x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withModules(t)
			r.user(`git init -q $HOME/mine; printf '#!/bin/sh\nsh ./run.sh\n' >.git/modules/sub/hooks/pre-commit; chmod +x .git/modules/sub/hooks/pre-commit; echo true >sub/run.sh`)
			said := ""
			for _, line := range lines {
				result := r.agent(line)
				said += result.Stdout + strings.Join(result.Notes, "\n")
			}
			_ = os.Remove(filepath.Join(r.home, "pwned")) // what ran inside is confined
			out := r.user("echo >sub/run.sh; git status; git -C sub status; git -C sub/inner status; git -C old status; git commit -q --allow-empty -m x; git -C $HOME/mine log # may fail")
			if _, err := os.Stat(filepath.Join(r.home, "pwned")); err == nil {
				t.Errorf("code ran outside\nagent: %s\nuser: %s", said, out)
			}
			if strings.Contains(out, "Author:") || strings.Contains(out, "not a git repository") {
				t.Errorf("another repository was written, or this one is broken\nagent: %s\nuser: %s", said, out)
			}
		})
	}
}
